"""Cookies: what is kept for whom, and the redirect that only wants one."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.net.cookies import COOKIE_BYTES_MAX, HOST_BYTES_MAX, HOST_COOKIES_MAX, CookieJar
from batchcrawl.net.request import parse_request
from tests.support.clients import local_client
from tests.support.rawserver import Act, RawServer, Step

NOW = 1_800_000_000.0
URL = "https://www.example.org/a/b?c"


@dataclass
class _HandClock:
    at: float = NOW

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


def _sent_back(*fields: str, to: str = URL, url: str = URL) -> str | None:
    jar = CookieJar(_HandClock())
    jar.take(parse_request(url), fields)
    return jar.header(parse_request(to))


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("a=b", "a=b"),
        (" a = b c ; Secure; HttpOnly; SameSite=Lax; Strange", "a=b c"),
        ('a="b=c"', 'a="b=c"'),
        ("a=", "a="),
        ("=b", "b"),
        ("b", "b"),
        ("a=\u00e9", "a=\u00e9"),
        ("", None),
        (";a=b", None),
        ("a=b\0c", None),
        ("a\x7f=b", None),
        ("a=" + "x" * COOKIE_BYTES_MAX, None),
        ("a=b; Max-Age=0", None),
        ("a=b; Max-Age=-1", None),
        ("a=b; Max-Age=60", "a=b"),
        ("a=b; Max-Age=soon", "a=b"),
        ("a=b; Max-Age=60; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "a=b"),
        ("a=b; Expires=Thu, 01-Jan-1970 00:00:00 GMT", None),
        ("a=b; expires=Fri, 31 Dec 2049 23:59:59 GMT", "a=b"),
        ("a=b; Expires=tomorrow", "a=b"),
        ("a=b; Domain=example.org", "a=b"),
        ("a=b; Domain=.WWW.example.org", "a=b"),
        ("a=b; Domain=other.org", None),
        ("a=b; Domain=ample.org", None),
        ("a=b; Path=/", "a=b"),
        ("a=b; Path=/a/b", "a=b"),
        ("a=b; Path=/a/b/", None),
        ("a=b; Path=/a/bc", None),
        ("a=b; Path=a", "a=b"),
    ],
)
def test_a_cookie_is_read_by_rfc_6265(field: str, sent: str | None) -> None:
    assert _sent_back(field) == sent


@pytest.mark.parametrize(
    "to",
    [
        "http://www.example.org/a/b",
        "https://www.example.org:8443/a/b",
        "https://example.org/a/b",
        "https://x.example.org/",
    ],
)
def test_a_cookie_goes_to_the_host_key_that_set_it_and_to_no_other(to: str) -> None:
    assert _sent_back("a=b; Domain=example.org; Path=/", to=to) is None


def test_a_secure_cookie_is_not_taken_over_http() -> None:
    url = "http://www.example.org/"
    assert _sent_back("a=b; Secure", "c=d", url=url, to=url) == "c=d"


def test_a_cookie_without_a_path_is_for_the_directory_that_set_it() -> None:
    jar = CookieJar(_HandClock())
    jar.take(parse_request("http://a.test/x/y"), ["a=b"])
    asked = ["http://a.test/x", "http://a.test/x/", "http://a.test/x/z?q", "http://a.test/", "http://a.test/xy"]
    assert [jar.header(parse_request(url)) for url in asked] == ["a=b", "a=b", "a=b", None, None]


def test_a_later_cookie_of_the_same_name_and_path_replaces_the_first() -> None:
    assert _sent_back("a=1", "a=2; Path=/", "a=3") == "a=3; a=2"
    assert _sent_back("a=1", "b=2", "a=x; Max-Age=0") == "b=2"


def test_a_cookie_ends_at_its_time() -> None:
    clock, request = _HandClock(), parse_request(URL)
    jar = CookieJar(clock)
    jar.take(request, ["a=b; Max-Age=60"])
    clock.at += 59
    assert jar.header(request) == "a=b"
    clock.at += 1
    assert jar.header(request) is None


def test_the_cookies_of_a_host_have_a_limit_and_the_newest_are_kept() -> None:
    sent = _sent_back(*(f"c{number}=x" for number in range(1000)))
    assert sent is not None
    assert sent.split("; ") == [f"c{number}=x" for number in range(1000 - HOST_COOKIES_MAX, 1000)]
    long = _sent_back(*(f"c{number}={'x' * 4000}" for number in range(10)))
    assert long is not None
    assert len(long) <= HOST_BYTES_MAX
    assert long.startswith("c8=")


def test_the_host_that_was_asked_longest_ago_is_forgotten() -> None:
    jar = CookieJar(_HandClock(), hosts_max=2)
    requests = [parse_request(f"http://{name}.test/") for name in "abc"]
    for request in (*requests[:2], requests[0], requests[2]):
        jar.take(request, ["a=b"])
    assert [jar.header(request) for request in requests] == ["a=b", None, "a=b"]


@given(
    st.text(st.characters(max_codepoint=255), max_size=60)
    | st.from_regex(r"a=b; (expires|max-age|path|domain)=.{0,40}")
)
def test_no_field_raises_and_none_breaks_the_request(field: str) -> None:
    sent = _sent_back(field)
    assert sent is None or not any(character in sent for character in "\r\n\0")


def _page(*fields: str, status: str = "200 OK", body: str = "") -> bytes:
    head = "".join(f"{field}\r\n" for field in fields)
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode("latin-1")


def _cookie_lines(requests: Sequence[bytes]) -> list[bytes | None]:
    return [next((line for line in head.split(b"\r\n") if line.startswith(b"Cookie:")), None) for head in requests]


def test_a_client_sends_cookies_back_only_where_the_job_wants_that() -> None:
    for cookies, line in ((True, b"Cookie: a=b"), (False, None)):
        script: list[Step] = [_page("Set-Cookie: a=b"), Act.READ, _page()]
        with RawServer(script) as server, closing(local_client(cookies=cookies)) as client:
            client.get(server.url)
            client.get(server.url)
            assert _cookie_lines(server.requests) == [None, line]


def test_cookies_of_the_job_stand_before_those_of_the_host() -> None:
    script: list[Step] = [_page("Set-Cookie: a=b"), Act.READ, _page()]
    with RawServer(script) as server, closing(local_client(cookies=True)) as client:
        client.get(server.url)
        client.get(server.url, headers=[("Cookie", "x=y")])
        assert _cookie_lines(server.requests) == [None, b"Cookie: x=y; a=b"]


def test_a_raw_newline_in_set_cookie_does_no_harm() -> None:
    broken = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\nc\rd\r\nContent-Length: 2\r\n\r\nok"
    with RawServer([broken, Act.READ, _page()]) as server, closing(local_client(cookies=True)) as client:
        first, second = client.get(server.url), client.get(server.url)
        assert _cookie_lines(server.requests) == [None, b"Cookie: a=b"]
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert first.body == b"ok"


def _loop(location: str, *fields: str) -> bytes:
    return _page(f"Location: {location}", *fields, status="302 Found", body="wait")


def _get_past(*script: Step, cookies: bool = False) -> tuple[list[Answer | NoAnswer], list[bytes]]:
    """Return what came for http://a.test/x?y, and for the same with a cookie where that is wanted, and the requests."""
    with RawServer(script) as server:
        client = local_client(cookies=cookies, names={"*": f"127.0.0.1:{server.port}"})
        with closing(client):
            answers = [client.get("http://a.test/x?y")]
            cookie = client.cookie_past(answers[0]) if isinstance(answers[0], Answer) else None
            if cookie is not None:
                answers.append(client.get("http://a.test/x?y", cookie=cookie))
        return answers, server.requests


@pytest.mark.parametrize("cookies", [False, True])
@pytest.mark.parametrize("location", ["", "/x?y", "?y#part", "//a.test/x?y", "http://A.test:80/x?y"])
def test_a_redirect_to_itself_that_sets_a_cookie_is_asked_past_with_it(cookies: bool, location: str) -> None:
    loop = _loop(location, "Set-Cookie: seen=1")
    answers, requests = _get_past(loop, Act.READ, _page(body="page"), cookies=cookies)
    assert _cookie_lines(requests) == [None, b"Cookie: seen=1"]
    assert [(answer.status, answer.body) for answer in answers if isinstance(answer, Answer)] == [
        (302, b"wait"),
        (200, b"page"),
    ]


def test_a_cookie_that_was_sent_already_is_no_reason_to_ask_again() -> None:
    loop = _loop("/x", "Set-Cookie: seen=1")
    with RawServer([loop, Act.READ, loop]) as server:
        client = local_client(cookies=True, names={"*": f"127.0.0.1:{server.port}"})
        with closing(client):
            answers = [client.get("http://a.test/x", headers=[("Cookie", "own=1")]) for _ in range(2)]
            past = [client.cookie_past(answer) for answer in answers if isinstance(answer, Answer)]
    assert past == ["seen=1", None]
    assert _cookie_lines(server.requests) == [b"Cookie: own=1", b"Cookie: own=1; seen=1"]


@pytest.mark.parametrize(
    "reply",
    [
        _loop("/other", "Set-Cookie: seen=1"),
        _loop("//b.test/x?y", "Set-Cookie: seen=1"),
        _loop("https://a.test/x?y", "Set-Cookie: seen=1"),
        _loop(""),
        _loop("", "Set-Cookie: seen=1; Domain=b.test"),
        _loop("", "Set-Cookie: seen=1; Max-Age=0"),
        _page("Location: ", "Set-Cookie: seen=1"),
        _page("Set-Cookie: seen=1", status="302 Found"),
    ],
)
def test_no_other_answer_is_asked_past(reply: bytes) -> None:
    answers, requests = _get_past(reply, Act.READ, _page())
    assert (len(answers), len(requests)) == (1, 1)
    assert isinstance(answers[0], Answer)


def test_a_cookie_of_one_such_redirect_is_forgotten_where_the_job_wants_no_cookies() -> None:
    script: list[Step] = [_loop("", "Set-Cookie: seen=1"), Act.READ, _page()]
    with RawServer(script) as server, closing(local_client()) as client:
        first = client.get(server.url)
        assert isinstance(first, Answer)
        assert client.cookie_past(first) == "seen=1"
        client.get(server.url)
        assert _cookie_lines(server.requests) == [None, None]
