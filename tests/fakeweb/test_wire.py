import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.fakeweb.web import FakeAnswer
from batchcrawl.fakeweb.wire import framed, parse_head


def test_an_absolute_request_target_overrides_the_host_field() -> None:
    request = parse_head(b"GET http://h1.test:80/a?b=c HTTP/1.1\r\nHost: other.test")
    assert request is not None
    assert (request.host, request.path_query) == ("h1.test:80", "/a?b=c")


def test_an_absolute_target_without_path_asks_for_the_front_page() -> None:
    request = parse_head(b"GET http://h1.test HTTP/1.1\r\nHost: h1.test")
    assert request is not None
    assert request.path_query == "/"


def test_a_target_in_origin_form_is_of_the_host_field() -> None:
    request = parse_head(b"GET /a HTTP/1.1\r\nHOST:  h1.test ")
    assert request is not None
    assert (request.host, request.path_query) == ("h1.test", "/a")


@pytest.mark.parametrize(
    ("head", "keep_alive"),
    [
        (b"GET / HTTP/1.1\r\nHost: a", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close", False),
        (b"GET / HTTP/1.0\r\nHost: a", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive", True),
    ],
)
def test_the_connection_is_kept_as_the_client_wants(head: bytes, keep_alive: bool) -> None:
    request = parse_head(head)
    assert request is not None
    assert request.keep_alive == keep_alive


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET /",
        b"GET / HTTP/2",
        b"GET / HTTP/1.1",
        b"GET a HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nHost",
        b"\xff",
    ],
)
def test_what_is_no_request_is_none(head: bytes) -> None:
    assert parse_head(head) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error(head: bytes) -> None:
    parse_head(head)


@given(st.binary(max_size=5000))
def test_chunks_add_up_to_the_body(body: bytes) -> None:
    rest, found = framed(FakeAnswer(status=200, body=body, chunked=True)), b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        found, rest = found + rest[:length], rest[length + 2 :]
        if length == 0:
            break
    assert (found, rest) == (body, b"")
