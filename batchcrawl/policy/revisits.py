"""When a page is asked for by the validators of its stored copy, and when what came is that copy again.

A copy counts only if the crawldb knows the exchange that has its body, a whole one with status 200: then the fetch
list says so by `body_at`. In all doubt the body is asked for, and stored.
"""

from batchcrawl.model.entries import FetchEntry
from batchcrawl.model.exchange import Answer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.revisit import Revisit, RevisitProfile

VALIDATORS_FAILED = 412
"""No answer to a GET with these validators (RFC 9110, section 13.2.2), but some servers give it: the page is asked for
again without them."""


def validators(entry: FetchEntry, *, full_every: int) -> list[tuple[str, str]]:
    """Return the header fields that ask whether the copy is still right, as sent (RFC 9110, section 13.1).

    There are none without a copy, and none at every `full_every`-th visit, lest a server says "not modified" for ever.
    """
    if entry.body_at is None or entry.not_modified + 1 >= full_every:
        return []
    both = (("If-None-Match", entry.etag), ("If-Modified-Since", entry.last_modified))
    return [(name, value) for name, value in both if value is not None]


def find_revisit(entry: FetchEntry, answer: Answer, outcome: FetchOutcome) -> Revisit | None:
    """Return what an answer refers to instead of being stored with its body; None where it is to be stored whole.

    The outcome NOT_MODIFIED stands for a 304 that was asked for.
    """
    if entry.body_at is None or entry.digest is None:
        return None
    if outcome is FetchOutcome.NOT_MODIFIED:
        profile = RevisitProfile.NOT_MODIFIED
    elif outcome is FetchOutcome.FETCHED and _is_the_copy(entry, answer):
        profile = RevisitProfile.IDENTICAL_PAYLOAD
    else:
        return None
    return Revisit(profile=profile, refers_to_uri=entry.url, refers_to_at=entry.body_at, payload_digest=entry.digest)


def _is_the_copy(entry: FetchEntry, answer: Answer) -> bool:
    """Tell whether a page is the copy in all that its text and links depend on. An empty body is not worth it."""
    return (
        answer.status == 200
        and answer.truncated is None
        and len(answer.body) > 0
        and answer.header("content-type") == entry.content_type
        and answer.header("content-encoding") == entry.content_encoding
        and answer.payload_digest == entry.digest
    )
