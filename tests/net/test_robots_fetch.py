"""robots.txt over the network: which answer means what."""

from collections.abc import Sequence
from contextlib import closing

import pytest

from batchcrawl.model.clock import SystemClock
from batchcrawl.model.exchange import Answer
from batchcrawl.model.host import RobotsCopy, RobotsHop
from batchcrawl.net.client import Client
from batchcrawl.net.robots import (
    BODY_BYTES_MAX,
    TTL_MIN_S,
    UNREACHABLE_TTL_S,
    ask_for_robots,
    first_hop,
)
from batchcrawl.net.settings import ClientSettings
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, Drip, RawServer, Step

TEXT = "User-agent: *\nDisallow: /x\n"
TTL_S = 86400.0


def _page(status: str, body: str = "", *fields: str) -> bytes:
    head = "".join(f"{field}\r\n" for field in fields)
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


def _fetch(
    *scripts: Sequence[Step], previous: RobotsCopy | None = None, hasty: bool = False, ttl_s: float = TTL_S
) -> tuple[RobotsCopy, list[Answer], list[bytes]]:
    with RawServer(*scripts) as server:
        client = (hasty_client if hasty else local_client)(names={"*": f"127.0.0.1:{server.port}"})
        copy, answers = _all_requests(client, "http://a.example", previous=previous, ttl_s=ttl_s)
        return copy, answers, server.requests


def _all_requests(
    client: Client, host: str, *, previous: RobotsCopy | None = None, ttl_s: float = TTL_S
) -> tuple[RobotsCopy, list[Answer]]:
    found: RobotsCopy | RobotsHop = first_hop(host, ttl_s=ttl_s)
    answers, cookie = [], None
    while isinstance(found, RobotsHop):
        got = ask_for_robots(client, found, SystemClock(), previous=previous, cookie=cookie)
        found, cookie = got.found, got.cookie
        if isinstance(got.answer, Answer):
            answers.append(got.answer)
    return found, answers


def test_a_file_is_kept_for_its_time() -> None:
    copy, answers, requests = _fetch([_page("200 OK", TEXT)])
    assert (copy.status, copy.text, copy.unreachable_since, copy.url) == (200, TEXT, None, None)
    assert copy.expires_at == copy.fetched_at + TTL_S
    assert [answer.url for answer in answers] == ["http://a.example/robots.txt"]
    assert requests[0].startswith(b"GET /robots.txt HTTP/1.1\r\nHost: a.example\r\n")


@pytest.mark.parametrize(
    ("fields", "kept_s"),
    [
        (["Cache-Control: max-age=3600"], 3600),
        (["Cache-Control: public, MAX-AGE=3600, must-revalidate"], 3600),
        (["Cache-Control: max-age=3600", "Age: 600"], 3000),
        (["Cache-Control: max-age=3600", "Cache-Control: max-age=600"], 600),
        (["Cache-Control: max-age=31536000"], TTL_S),
        (["Cache-Control: public"], TTL_S),
        (["Cache-Control: max-age=0"], TTL_MIN_S),
        (["Cache-Control: no-store"], TTL_MIN_S),
        (["Cache-Control: no-cache, max-age=3600"], TTL_MIN_S),
    ],
)
def test_a_file_is_kept_for_as_long_as_its_cache_control_allows_but_no_longer_than_a_day(
    fields: list[str], kept_s: float
) -> None:
    copy, _, _ = _fetch([_page("200 OK", TEXT, *fields)])
    assert copy.expires_at == pytest.approx(copy.fetched_at + kept_s)


def test_the_job_may_keep_a_file_for_less_than_its_cache_control_allows() -> None:
    copy, _, _ = _fetch([_page("200 OK", TEXT, "Cache-Control: max-age=3600")], ttl_s=30.0)
    assert copy.expires_at == pytest.approx(copy.fetched_at + 30.0)


def test_that_there_is_no_file_is_kept_for_as_long_as_its_cache_control_allows() -> None:
    copy, _, _ = _fetch([_page("404 No", "", "Cache-Control: max-age=600")])
    assert copy.text is None
    assert copy.expires_at == pytest.approx(copy.fetched_at + 600)


def test_a_redirect_that_may_not_be_kept_for_long_bounds_the_copy() -> None:
    moved = _page("301 Moved", "", "Location: http://b.example/r.txt", "Cache-Control: max-age=120")
    copy, _, _ = _fetch([moved], [_page("200 OK", TEXT, "Cache-Control: max-age=3600")])
    assert copy.expires_at == pytest.approx(copy.fetched_at + 120)


def test_half_a_mebibyte_is_read_however_small_the_pages_of_the_job_may_be() -> None:
    long = TEXT + "#" * 500 * 1024
    with RawServer([_page("200 OK", long)]) as server:
        client = local_client(names={"*": f"127.0.0.1:{server.port}"}, body_bytes_max=10)
        copy, answers = _all_requests(client, "http://a.example")
    assert copy.text == TEXT
    assert answers[0].truncated is None


def test_a_file_without_end_is_read_to_the_limit() -> None:
    copy, answers, _ = _fetch([b"HTTP/1.1 200 OK\r\n\r\n" + TEXT.encode() + b"Disallow: /y\n" * 200_000])
    assert (len(answers[0].body), answers[0].truncated) == (BODY_BYTES_MAX, "length")
    assert copy.text is not None
    assert copy.text.startswith(TEXT)


def test_no_file_allows_everything() -> None:
    for status in ("404 No", "401 No", "403 No", "410 No"):
        copy, _, _ = _fetch([_page(status, "page")])
        assert (copy.text, copy.unreachable_since) == (None, None)
        assert copy.status == int(status[:3])


def test_a_redirect_is_followed_to_another_host() -> None:
    copy, answers, requests = _fetch(
        [_page("301 Moved", "", "Location: http://b.example/r.txt")], [_page("200 OK", TEXT)]
    )
    assert (copy.text, copy.url) == (TEXT, "http://b.example/r.txt")
    assert [answer.status for answer in answers] == [301, 200]
    assert requests[1].startswith(b"GET /r.txt HTTP/1.1\r\nHost: b.example\r\n")


def test_a_redirect_is_read_as_utf_8() -> None:
    _, answers, requests = _fetch([_page("301 Moved", "", "Location: /ü.txt")], [_page("200 OK", TEXT)])
    assert [answer.url for answer in answers] == ["http://a.example/robots.txt", "http://a.example/%C3%BC.txt"]
    assert requests[1].startswith(b"GET /%C3%BC.txt HTTP/1.1\r\n")


def test_five_redirects_are_followed_and_no_more() -> None:
    hop: Sequence[Step] = [_page("302 Found", "", "Location: /robots.txt")]
    copy, answers, _ = _fetch(*[hop] * 5, [_page("200 OK", TEXT)])
    assert copy.text == TEXT
    copy, answers, _ = _fetch(hop)
    assert (copy.status, copy.text, copy.unreachable_since, len(answers)) == (302, None, None, 6)


def test_a_redirect_to_itself_is_asked_past_with_the_cookie_that_it_sets() -> None:
    loop = _page("302 Found", "", "Location: /robots.txt", "Set-Cookie: seen=1")
    copy, answers, requests = _fetch([loop], [_page("200 OK", TEXT)])
    assert (copy.text, len(answers)) == (TEXT, 2)
    assert [b"\r\nCookie: seen=1\r\n" in head for head in requests] == [False, True]


def test_a_redirect_to_nowhere_means_no_file() -> None:
    for location in ("ftp://b.example/", "http://["):
        copy, _, _ = _fetch([_page("302 Found", "", f"Location: {location}")])
        assert (copy.status, copy.text, copy.unreachable_since) == (302, None, None)


def test_a_failing_server_is_unreachable_since_the_first_time() -> None:
    scripts: list[Sequence[Step]] = [[_page("500 No")], [_page("503 No")], [_page("429 No")], [Act.RESET]]
    for script in scripts:
        copy, _, _ = _fetch(script)
        assert copy.text is None
        assert copy.unreachable_since == copy.fetched_at
        assert copy.expires_at == copy.fetched_at + UNREACHABLE_TTL_S
        again, _, _ = _fetch(script, previous=copy)
        assert again.unreachable_since == copy.unreachable_since


def test_no_answer_has_no_status() -> None:
    copy, answers, _ = _fetch([])
    assert (copy.status, answers) == (None, [])


def test_a_file_that_comes_too_slowly_is_unreachable() -> None:
    copy, _, _ = _fetch([b"HTTP/1.1 200 OK\r\n\r\n", Drip(b"Disallow: /\n")], hasty=True)
    assert copy.text is None
    assert copy.unreachable_since is not None


def test_a_usable_answer_ends_the_outage() -> None:
    before = RobotsCopy(fetched_at=1.0, expires_at=2.0, unreachable_since=1.0)
    copy, _, _ = _fetch([_page("404 No")], previous=before)
    assert copy.unreachable_since is None


def test_a_good_copy_is_used_for_a_day_when_no_newer_one_can_be_had() -> None:
    now = SystemClock().now()
    young = RobotsCopy(fetched_at=now - 3600, expires_at=now - 1, status=200, text=TEXT)
    copy, _, _ = _fetch([_page("500 No")], previous=young)
    assert (copy.text, copy.fetched_at, copy.unreachable_since) == (TEXT, young.fetched_at, None)
    assert now < copy.expires_at <= young.fetched_at + 86_400
    old = RobotsCopy(fetched_at=now - 90_000, expires_at=now - 1, status=200, text=TEXT)
    copy, _, _ = _fetch([_page("500 No")], previous=old)
    assert copy.is_unreachable(copy.fetched_at)
    assert copy.detail == "it answered 500"


def test_a_host_that_may_not_be_connected_to_has_no_file_so_that_its_pages_say_why() -> None:
    with closing(Client(ClientSettings(user_agent="t/1"), SystemClock())) as client:
        copy, answers = _all_requests(client, "http://127.0.0.1:1")
    assert (copy.text, copy.unreachable_since, answers) == (None, None, [])
    assert copy.detail is not None
