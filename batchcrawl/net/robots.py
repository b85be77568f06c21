"""The fetch of a host's robots.txt, by RFC 9309, section 2.3.1, one request after the other."""

import threading
from dataclasses import dataclass

from msgspec import structs

from batchcrawl.model.clock import Clock
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.host import RobotsCopy, RobotsHop
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.policy.outcomes import judge
from batchcrawl.web.cache_control import fresh_s
from batchcrawl.web.codings import decode_body
from batchcrawl.web.robots.rules import ROBOTS_BYTES_MAX, decode_robots

REDIRECTS_MAX = 5
TTL_MIN_S = 60.0
"""A copy is good for so long whatever its Cache-Control says: who forbids to keep it is not asked before every page."""
UNREACHABLE_TTL_S = 3600.0
"""How soon a robots.txt that could not be had is asked for again, at the latest."""
GOOD_COPY_S = 86_400.0
"""How long a copy may be used when no newer one can be had (RFC 9309, section 2.4)."""
BODY_BYTES_MAX = 2 * ROBOTS_BYTES_MAX
"""How much is read of an answer, content codings included: enough for what is parsed of it."""

DETAIL_CHARS_MAX = 200
_ERROR_PAGE_BYTES_MAX = 65536
_one_large = threading.Lock()
"""Files that are too large to be held in memory are read into it one at a time."""


@dataclass(frozen=True, kw_only=True)
class RobotsAnswer:
    """What came of one request for a robots.txt."""

    found: RobotsCopy | RobotsHop
    """What the file says, or where it is to be asked for next."""
    answer: Answer | NoAnswer
    cookie: str | None = None
    """What the hop wants to be asked with."""


def first_hop(host_key: str, *, ttl_s: float) -> RobotsHop:
    """Return where the fetch of a host's robots.txt begins; its copy is used for `ttl_s` seconds at most."""
    return RobotsHop(url=f"{host_key}/robots.txt", redirects=0, ttl_s=ttl_s)


def ask_for_robots(
    client: Client, hop: RobotsHop, clock: Clock, *, previous: RobotsCopy | None, cookie: str | None = None
) -> RobotsAnswer:
    """Send one request for a robots.txt and return what it says, or where a redirect leads.

    At most five redirects are followed, to other hosts too. A 4xx but 429, or a redirect to nowhere, means that
    there is no file: no text, everything allowed. After 429, 5xx, a cut body or no answer at all, the previous copy is
    used up to a day; then nothing is known, `unreachable_since` says since when, and nothing may be fetched. A host
    that may not be connected to has no file: its pages then meet the same refusal, and say so.

    A copy is used for as long as the Cache-Control of every answer on the way allows (RFC 9309, section 2.4), a minute
    at least and the `ttl_s` of the first hop at most. `cookie` is what the redirect to this hop wants to be sent.
    """
    answer = client.get(
        hop.url,
        headers=[("Accept", "text/plain,*/*;q=0.5")],
        wants=_wants,
        cookie=cookie,
        body_bytes_max=BODY_BYTES_MAX,
    )
    now = clock.now()
    if isinstance(answer, NoAnswer):
        return RobotsAnswer(found=_without_answer(answer, now, hop, previous), answer=answer)
    hop = _bounded(hop, answer)
    target = judge(answer).redirect
    if target is None or hop.redirects >= REDIRECTS_MAX:
        return RobotsAnswer(found=_copy(answer, now, hop, previous), answer=answer)
    return RobotsAnswer(
        found=structs.replace(hop, url=target, redirects=hop.redirects + 1),
        answer=answer,
        cookie=client.cookie_past(answer) if cookie is None else None,
    )


def _wants(status: int, content_type: str | None, content_length: int | None) -> bool:
    # A short error page is read so that the connection can carry the pages of the host.
    return 200 <= status < 300 or (content_length is not None and content_length <= _ERROR_PAGE_BYTES_MAX)


def _bounded(hop: RobotsHop, answer: Answer) -> RobotsHop:
    """Return a hop with no more time for its copy than an answer allows."""
    fields = (value for name, value in answer.headers if name.lower() == "cache-control")
    allowed_s = fresh_s(fields, answer.header("age"))
    return hop if allowed_s is None else structs.replace(hop, ttl_s=min(hop.ttl_s, max(allowed_s, TTL_MIN_S)))


def _without_answer(answer: NoAnswer, now: float, hop: RobotsHop, previous: RobotsCopy | None) -> RobotsCopy:
    if answer.outcome is FetchOutcome.ADDRESS_REFUSED and hop.redirects == 0:
        return RobotsCopy(fetched_at=now, expires_at=now + hop.ttl_s, detail=answer.detail)
    return _unreachable(None, f"{answer.outcome.value}: {answer.detail}"[:DETAIL_CHARS_MAX], now, previous)


def _copy(answer: Answer, now: float, hop: RobotsHop, previous: RobotsCopy | None) -> RobotsCopy:
    if answer.status == 429 or answer.status >= 500 or answer.truncated == "time":
        cut = " and was cut" if answer.truncated == "time" else ""
        return _unreachable(answer.status, f"it answered {answer.status}{cut}", now, previous)
    text = None
    if 200 <= answer.status < 300:
        text = _text(answer)
    url = hop.url if hop.redirects else None
    return RobotsCopy(fetched_at=now, expires_at=now + hop.ttl_s, status=answer.status, text=text, url=url)


def _text(answer: Answer) -> str:
    if not isinstance(answer.body, bytes):
        with _one_large:
            return _decoded(answer.whole_body(), answer)
    return _decoded(answer.body, answer)


def _decoded(body: bytes, answer: Answer) -> str:
    decoded = decode_body(body, answer.header("content-encoding"), bytes_max=ROBOTS_BYTES_MAX + 1)
    return decode_robots(body if decoded is None else decoded)


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
