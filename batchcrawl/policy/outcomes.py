"""What an answer means for its URL."""

from dataclasses import dataclass

from batchcrawl.model.exchange import Answer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.web.header_text import as_utf8
from batchcrawl.web.urls import parse_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REFUSED = 503
PUT_OFF = frozenset({429, REFUSED})
_NAMED = {304: FetchOutcome.NOT_MODIFIED, 404: FetchOutcome.NOT_FOUND, 410: FetchOutcome.GONE}
_CLASSES = {2: FetchOutcome.FETCHED, 4: FetchOutcome.DENIED, 5: FetchOutcome.SERVER_ERROR}


@dataclass(frozen=True)
class Verdict:
    """The outcome of an answer that came."""

    outcome: FetchOutcome
    redirect: str | None = None
    """The Location, resolved, for REDIRECT."""
    detail: str | None = None


def judge(answer: Answer, *, conditional: bool = False) -> Verdict:
    """Return the outcome of an answer by its status (RFC 9110, section 15) and headers.

    `conditional` says that the request had validators: else a 304 answers a question that was not asked.
    """
    status = answer.status
    if status == 304 and not conditional:
        return Verdict(FetchOutcome.PROTOCOL_ERROR, detail="304 in answer to a request without validators")
    if status in PUT_OFF:
        return Verdict(FetchOutcome.DEFERRED, detail=f"the host answered {status}")
    if 300 <= status < 400 and status != 304:
        return _redirect(answer)
    named = _NAMED.get(status) or _CLASSES.get(status // 100)
    if named is None:
        return Verdict(FetchOutcome.PROTOCOL_ERROR, detail=f"status {status} is no final answer to a GET")
    if named is FetchOutcome.FETCHED and answer.unwanted:
        return Verdict(FetchOutcome.SKIPPED_TYPE)
    return Verdict(named)


def _redirect(answer: Answer) -> Verdict:
    location = answer.header("location")
    if answer.status not in REDIRECTS or location is None:
        return Verdict(FetchOutcome.REDIRECT_INVALID, detail=f"status {answer.status} without a usable Location")
    if any(name.lower() == "location" and value != location for name, value in answer.headers):
        return Verdict(FetchOutcome.REDIRECT_INVALID, detail="there is more than one Location")
    target = parse_url(as_utf8(location), answer.url)
    if target is None:
        return Verdict(FetchOutcome.REDIRECT_INVALID, detail="the Location is not a URL")
    if not target.startswith(("http://", "https://")):
        return Verdict(FetchOutcome.REDIRECT_INVALID, detail="the Location is neither http nor https")
    return Verdict(FetchOutcome.REDIRECT, redirect=target)
