"""The fetch of a host's robots.txt, by RFC 9309, section 2.3.1."""

from msgspec import structs

from batchcrawl.model.clock import Clock
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.host import RobotsCopy
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.policy.outcomes import judge
from batchcrawl.web.codings import decode_body
from batchcrawl.web.robots import ROBOTS_BYTES_MAX, decode_robots

REDIRECTS_MAX = 5
UNREACHABLE_TTL_S = 3600.0
"""How soon a robots.txt that could not be had is asked for again, at the latest."""
GOOD_COPY_S = 86_400.0
"""How long a copy may be used when no newer one can be had (RFC 9309, section 2.4)."""

DETAIL_CHARS_MAX = 200
_ERROR_PAGE_BYTES_MAX = 65536


def fetch_robots(
    client: Client, host_key: str, clock: Clock, *, previous: RobotsCopy | None, ttl_s: float
) -> tuple[RobotsCopy, list[Answer]]:
    """Fetch a host's robots.txt; return what it says for `ttl_s` seconds, and every answer on the way.

    At most five redirects are followed, to other hosts too. A 4xx but 429, or a redirect to nowhere, means that
    there is no file: no text, everything allowed. After 429, 5xx, a cut body or no answer at all, the previous copy is
    used up to a day; then nothing is known, `unreachable_since` says since when, and nothing may be fetched. A host
    that may not be connected to has no file: its pages then meet the same refusal, and say so.
    """
    answers: list[Answer] = []
    url = f"{host_key}/robots.txt"
    while True:
        answer = client.get(url, headers=[("Accept", "text/plain,*/*;q=0.5")], wants=_wants)
        if isinstance(answer, NoAnswer):
            return _without_answer(answer, clock.now(), previous, ttl_s, first=not answers), answers
        answers.append(answer)
        target = judge(answer).redirect
        if target is None or len(answers) > REDIRECTS_MAX:
            return _copy(answer, clock.now(), previous, ttl_s), answers
        url = target


def _without_answer(
    answer: NoAnswer, now: float, previous: RobotsCopy | None, ttl_s: float, *, first: bool
) -> RobotsCopy:
    if first and answer.outcome is FetchOutcome.ADDRESS_REFUSED:
        return RobotsCopy(fetched_at=now, expires_at=now + ttl_s, detail=answer.detail)
    return _unreachable(None, f"{answer.outcome.value}: {answer.detail}"[:DETAIL_CHARS_MAX], now, previous)


def _wants(status: int, content_type: str | None, content_length: int | None) -> bool:
    # A short error page is read so that the connection can carry the pages of the host.
    return 200 <= status < 300 or (content_length is not None and content_length <= _ERROR_PAGE_BYTES_MAX)


def _copy(answer: Answer, now: float, previous: RobotsCopy | None, ttl_s: float) -> RobotsCopy:
    if answer.status == 429 or answer.status >= 500 or answer.truncated == "time":
        cut = " and was cut" if answer.truncated == "time" else ""
        return _unreachable(answer.status, f"it answered {answer.status}{cut}", now, previous)
    text = None
    if 200 <= answer.status < 300:
        body = decode_body(answer.body, answer.header("content-encoding"), bytes_max=ROBOTS_BYTES_MAX + 1)
        text = decode_robots(answer.body if body is None else body)
    return RobotsCopy(fetched_at=now, expires_at=now + ttl_s, status=answer.status, text=text)


def _unreachable(status: int | None, detail: str, now: float, previous: RobotsCopy | None) -> RobotsCopy:
    if previous is not None and previous.unreachable_since is None:
        good_until = previous.fetched_at + GOOD_COPY_S
        if now < good_until:
            return structs.replace(previous, expires_at=min(now + UNREACHABLE_TTL_S, good_until))
    since = None if previous is None else previous.unreachable_since
    return RobotsCopy(
        fetched_at=now,
        expires_at=now + UNREACHABLE_TTL_S,
        status=status,
        unreachable_since=now if since is None else since,
        detail=detail,
    )
