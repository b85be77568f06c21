"""The least speed of an answer: what drips in is not waited for."""

from typing import Any

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from tests.support.clients import local_client
from tests.support.rawserver import Drip, RawServer, Step

OK = b"HTTP/1.1 200 OK\r\n"


def _client(**changes: Any) -> Client:
    """Return a client that waits ten seconds for anything, but for nothing slower than 10 kB a second."""
    return local_client(**({"bytes_per_second_min": 10_000, "speed_window_s": 0.15} | changes))


def _get(*script: Step, **changes: Any) -> tuple[Answer | NoAnswer, float]:
    with RawServer(script) as server:
        answer = _client(**changes).get(server.url)
    return answer, answer.ended_at - answer.started_at


def test_a_body_that_drips_is_kept_as_far_as_it_came() -> None:
    answer, took_s = _get(OK + b"\r\n", Drip(b"x"))
    assert isinstance(answer, Answer)
    assert (answer.truncated, set(answer.whole_body())) == ("time", {ord("x")})
    assert took_s < 5


def test_a_body_that_begins_fast_and_then_drips_is_cut_too() -> None:
    answer, took_s = _get(OK + b"\r\n" + b"x" * 100_000, Drip(b"y"))
    assert isinstance(answer, Answer)
    assert answer.truncated == "time"
    assert answer.whole_body().startswith(b"x" * 100_000 + b"y")
    assert took_s < 5


def test_a_head_that_drips_is_no_answer() -> None:
    answer, took_s = _get(OK, Drip(b"A: b\r\n"))
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT
    assert answer.detail.endswith("slower than 10000 a second")
    assert took_s < 5


def test_the_time_before_the_first_byte_does_not_count() -> None:
    # The first byte comes after two windows.
    answer, _ = _get(Drip(OK[:1], interval_s=0.4, times=1), OK[1:] + b"Content-Length: 5\r\n\r\nhello")
    assert isinstance(answer, Answer)
    assert (answer.body, answer.truncated) == (b"hello", None)


def test_without_a_least_speed_a_slow_body_is_taken_whole() -> None:
    answer, _ = _get(OK + b"Content-Length: 30\r\n\r\n", Drip(b"x"), bytes_per_second_min=0)
    assert isinstance(answer, Answer)
    assert (answer.body, answer.truncated) == (b"x" * 30, None)
