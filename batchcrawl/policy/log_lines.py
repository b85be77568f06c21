"""The fetch log's line of a URL, made of what happened to it."""

from batchcrawl.model.entries import FetchEntry, FetchLogLine
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.outcomes import judge

RETRY_AFTER_CHARS_MAX = 100
"""Longer than any date; the rest of a header field is not kept."""
TYPE_CHARS_MAX = 300
"""Longer than any media type with its charset; the rest is not kept."""
CODING_CHARS_MAX = 100
"""Longer than the name of any content coding; the rest is not kept."""
VALIDATOR_CHARS_MAX = 1000
"""A longer ETag or Last-Modified is not kept at all: it could not be sent back as it came."""


def answered(entry: FetchEntry, answer: Answer, *, conditional: bool) -> FetchLogLine:
    """Return the line of a URL that was answered; where the answer is stored is for the caller to add.

    `conditional` says that the request had validators.
    """
    verdict = judge(answer, conditional=conditional)
    return FetchLogLine(
        fp=entry.fp,
        url=entry.url,
        host=entry.host,
        depth=entry.depth,
        hops=entry.hops,
        kind=entry.kind,
        sites=entry.sites,
        outcome=verdict.outcome,
        status=answer.status,
        started_at=answer.started_at,
        first_byte_at=answer.first_byte_at,
        ended_at=answer.ended_at,
        body_bytes=len(answer.body),
        address=answer.address,
        redirect=verdict.redirect,
        content_type=_begin(answer.header("content-type"), TYPE_CHARS_MAX),
        content_encoding=_begin(answer.header("content-encoding"), CODING_CHARS_MAX),
        truncated=answer.truncated,
        etag=_validator(answer.header("etag")),
        last_modified=_validator(answer.header("last-modified")),
        retry_after=_begin(answer.header("retry-after"), RETRY_AFTER_CHARS_MAX),
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
        kind=entry.kind,
        sites=entry.sites,
        outcome=outcome,
        ended_at=at,
        detail=detail,
    )


def _begin(value: str | None, chars_max: int) -> str | None:
    return None if value is None else value[:chars_max]


def _validator(value: str | None) -> str | None:
    """Return a validator that can be sent back; a request with a control character in it would fail for ever."""
    return value if value and len(value) <= VALIDATOR_CHARS_MAX and value.isprintable() else None
