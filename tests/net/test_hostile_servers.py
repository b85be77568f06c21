"""Servers that break the rules: each fetch ends in a named outcome and in bounded time."""

import time
import zlib
from collections.abc import Sequence
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.web.codings import decode_body
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, Drip, RawServer, Step

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

BROKEN: dict[str, tuple[Sequence[Step], FetchOutcome]] = {
    "no status line": ([b"hello\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "binary rubbish": ([bytes(range(256)) * 20], FetchOutcome.PROTOCOL_ERROR),
    "a status line of TLS": ([b"\x15\x03\x01\x00\x02\x02\x28"], FetchOutcome.PROTOCOL_ERROR),
    "status of four digits": ([b"HTTP/1.1 2000 OK\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "nothing": ([], FetchOutcome.CONNECT_FAILED),
    "a reset": ([Act.RESET], FetchOutcome.CONNECT_FAILED),
    "half a head": ([OK + b"Content-Le"], FetchOutcome.PROTOCOL_ERROR),
    "NUL in the head": ([OK + b"A: \0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "a head of 1 MB": ([OK, *[b"A: " + b"x" * 1000 + b"\r\n"] * 1000, b"\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "a header line of 1 MB": ([OK + b"A: " + b"x" * 1_000_000], FetchOutcome.PROTOCOL_ERROR),
    "a head of 20,000 short lines": ([OK + b"A:\r\n" * 20_000 + b"\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "a head of short lines without end": ([OK, *[b"A:\r\n" * 100] * 100], FetchOutcome.PROTOCOL_ERROR),
    "interim answers without end": ([b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000], FetchOutcome.PROTOCOL_ERROR),
    "folded first field": ([OK + b" A: b\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "two lengths, the last too long": (
        [OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc"],
        FetchOutcome.CONNECT_FAILED,
    ),
    "negative length": ([OK + b"Content-Length: -3\r\n\r\nabc"], FetchOutcome.PROTOCOL_ERROR),
    "length in words": ([OK + b"Content-Length: three\r\n\r\nabc"], FetchOutcome.PROTOCOL_ERROR),
    "body shorter than said": ([OK + b"Content-Length: 9\r\n\r\nabc"], FetchOutcome.CONNECT_FAILED),
    "reset within the body": ([OK + b"Content-Length: 9\r\n\r\nabc", Act.RESET], FetchOutcome.CONNECT_FAILED),
    "broken gzip coding": ([OK + b"Transfer-Encoding: gzip\r\n\r\nabc"], FetchOutcome.PROTOCOL_ERROR),
    "unknown coding": ([OK + b"Transfer-Encoding: chunked, br\r\n\r\n0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "chunk size in words": ([CHUNKED + b"three\r\nabc\r\n0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "negative chunk size": ([CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "chunk size beyond 64 bits": ([CHUNKED + b"f" * 40 + b"\r\nabc\r\n0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "chunk longer than said": ([CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n"], FetchOutcome.PROTOCOL_ERROR),
    "chunk extension of 1 MB": ([CHUNKED + b"3;" + b"x" * 1_000_000], FetchOutcome.PROTOCOL_ERROR),
    "end between chunks": ([CHUNKED + b"3\r\nabc\r\n"], FetchOutcome.CONNECT_FAILED),
    "end within a chunk": ([CHUNKED + b"9\r\nabc"], FetchOutcome.CONNECT_FAILED),
    "trailers without end": ([CHUNKED + b"0\r\n", *[b"A: b\r\n" * 1000] * 20], FetchOutcome.PROTOCOL_ERROR),
    "tiny chunks without end": ([CHUNKED, *[b"1\r\nx\r\n" * 1000] * 30], FetchOutcome.PROTOCOL_ERROR),
    "silence": ([Act.HANG], FetchOutcome.TIMEOUT),
    "silence after the head": ([OK + b"Content-Length: 9\r\n\r\n", Act.HANG], FetchOutcome.TIMEOUT),
    "a dripping status line": ([Drip(b"H")], FetchOutcome.TIMEOUT),
    "a dripping head": ([OK, Drip(b"A: b\r\n")], FetchOutcome.TIMEOUT),
    "dripping trailers": ([CHUNKED + b"0\r\n", Drip(b"A: b\r\n")], FetchOutcome.TIMEOUT),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_ends_in_a_named_outcome(name: str) -> None:
    script, outcome = BROKEN[name]
    client = hasty_client() if outcome is FetchOutcome.TIMEOUT else local_client()
    started = time.monotonic()
    with RawServer(script) as server:
        answer = client.get(server.url)
        assert time.monotonic() - started < 5
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is outcome, answer.detail
    assert answer.detail.isprintable()
    assert 0 < len(answer.detail) <= 200


LENGTH_5 = b"Content-Length: 5\r\n"
DEFLATED = zlib.compress(b"hello") + b"\r\n\r\ntrailing"
KEPT: dict[str, tuple[bytes, bytes]] = {
    "a header without a colon": (OK + b"no colon\r\n" + LENGTH_5 + b"\r\nhello", b"hello"),
    "a hundred headers": (OK + b"A: b\r\n" * 100 + LENGTH_5 + b"\r\nhello", b"hello"),
    "nine hundred headers": (OK + b"A: b\r\n" * 900 + LENGTH_5 + b"\r\nhello", b"hello"),
    "a header of 50 KB": (OK + b"A: " + b"b" * 50_000 + b"\r\n" + LENGTH_5 + b"\r\nhello", b"hello"),
    "a raw newline in Set-Cookie": (OK + b"Set-Cookie: a=b\nc\r\n" + LENGTH_5 + b"\r\nhello", b"hello"),
    "two equal lengths": (OK + LENGTH_5 * 2 + b"\r\nhello", b"hello"),
    "two lengths, the last right": (OK + b"Content-Length: 99\r\n" + LENGTH_5 + b"\r\nhello", b"hello"),
    "a body on 204": (b"HTTP/1.1 204 No\r\n" + LENGTH_5 + b"\r\nhello", b""),
    "a length beyond 64 bits": (OK + b"Content-Length: 99999999999999999999\r\n\r\nhello", b"hello"),
    "length and chunks": (OK + LENGTH_5 + CHUNKED.removeprefix(OK) + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello"),
    "a content coding that is none": (OK + b"Content-Encoding: utf-8\r\n\r\nhello", b"hello"),
    "deflate with trailing bytes": (OK + b"Content-Encoding: deflate\r\n\r\n" + DEFLATED, b"hello"),
    "more bytes than said": (OK + LENGTH_5 + b"\r\nhello world", b"hello"),
    "no reason and bare newlines": (b"HTTP/1.0 200\nContent-Length: 5\n\nhello", b"hello"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_browser_would_show_is_kept(name: str) -> None:
    reply, decoded = KEPT[name]
    with RawServer([reply], [OK + LENGTH_5 + b"\r\nafter"]) as server, closing(local_client()) as client:
        answer, after = client.get(server.url), client.get(server.url)
    assert isinstance(answer, Answer), answer
    assert answer.truncated is None
    assert decode_body(answer.whole_body(), answer.header("content-encoding"), bytes_max=99) == decoded
    assert isinstance(after, Answer)
    assert after.body == b"after"


def test_a_dripping_body_is_kept_as_far_as_it_came() -> None:
    with RawServer([OK + b"\r\n", Drip(b"x")]) as server:
        answer = hasty_client().get(server.url)
    assert isinstance(answer, Answer)
    assert answer.truncated == "time"
    assert set(answer.whole_body()) == {ord("x")}


def test_a_body_that_falls_silent_is_kept_as_far_as_it_came() -> None:
    with RawServer([OK + b"Content-Length: 9\r\n\r\nabc", Act.HANG]) as server:
        answer = hasty_client().get(server.url)
    assert isinstance(answer, Answer)
    assert (answer.body, answer.truncated) == (b"abc", "time")


def test_a_body_without_end_is_cut_at_the_limit() -> None:
    with RawServer([OK + b"\r\n", *[b"x" * 1000] * 100]) as server:
        answer = local_client(body_bytes_max=2500).get(server.url)
    assert isinstance(answer, Answer)
    assert (len(answer.body), answer.truncated) == (2500, "length")


def test_chunks_of_one_byte_are_cut_at_the_limit() -> None:
    with RawServer([CHUNKED, b"1\r\nx\r\n" * 5000]) as server:
        answer = local_client(body_bytes_max=2500).get(server.url)
    assert isinstance(answer, Answer)
    assert (len(answer.body), answer.truncated) == (2500, "length")


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    with RawServer([OK + b"Content-Length: 2500\r\n\r\n" + b"x" * 2500]) as server:
        answer = local_client(body_bytes_max=2500).get(server.url)
    assert isinstance(answer, Answer)
    assert (len(answer.body), answer.truncated) == (2500, None)


REPLIES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html\r\n\r\nhello",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\n\r\nno",
    CHUNKED + b"3\r\nabc\r\n0a;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
]
EDITS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 9), st.binary(max_size=6)), max_size=4)


@pytest.fixture(scope="module")
def client() -> Client:
    return local_client()


@settings(deadline=None, max_examples=60)
@given(reply=st.one_of(st.binary(), st.sampled_from(REPLIES)), edits=EDITS)
def test_no_bytes_raise(client: Client, reply: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    for start, length, data in edits:
        reply = reply[:start] + data + reply[start + length :]
    with RawServer([reply]) as server:
        answer = client.get(server.url)
    assert answer.url == server.url


def test_the_detail_of_a_failure_is_one_printable_line() -> None:
    with RawServer([b"\x1b[31mred\x07\r\n\r\n"]) as server:
        answer = local_client().get(server.url)
    assert isinstance(answer, NoAnswer)
    assert answer.detail.isprintable()
