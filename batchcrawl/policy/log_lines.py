"""The fetch log's line of a URL, made of what happened to it."""

from batchcrawl.model.entries import FetchEntry, FetchLogLine
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.outcomes import judge

RETRY_AFTER_CHARS_MAX = 100
"""Longer than any date; the rest of a header field is not kept."""


def answered(entry: FetchEntry, answer: Answer) -> FetchLogLine:
    """Return the line of a URL that was answered; where the answer is stored is for the caller to add."""
    verdict = judge(answer)
    retry_after = answer.header("retry-after")
    return FetchLogLine(
        fp=entry.fp,
        url=entry.url,
        host=entry.host,
        depth=entry.depth,
        hops=entry.hops,
        outcome=verdict.outcome,
        status=answer.status,
        started_at=answer.started_at,
        first_byte_at=answer.first_byte_at,
        ended_at=answer.ended_at,
        body_bytes=len(answer.body),
        address=answer.address,
        redirect=verdict.redirect,
        content_type=answer.header("content-type"),
        truncated=answer.truncated,
        etag=answer.header("etag"),
        last_modified=answer.header("last-modified"),
        retry_after=None if retry_after is None else retry_after[:RETRY_AFTER_CHARS_MAX],
        detail=verdict.detail,
    )


def failed(entry: FetchEntry, result: NoAnswer) -> FetchLogLine:
    """Return the line of a URL to which no usable answer came."""
    line = unasked(entry, result.outcome, result.detail, at=result.ended_at)
    line.started_at, line.address = result.started_at, result.address
    return line


def unasked(entry: FetchEntry, outcome: FetchOutcome, detail: str | None, *, at: float) -> FetchLogLine:
    """Return the line of a URL that was not asked for, or has nothing to tell but its outcome."""
    return FetchLogLine(
        fp=entry.fp,
        url=entry.url,
        host=entry.host,
        depth=entry.depth,
        hops=entry.hops,
        outcome=outcome,
        ended_at=at,
        detail=detail,
    )
