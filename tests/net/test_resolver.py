"""The resolver: its cache on a clock of ours, its limits, its failures."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError
from batchcrawl.net.resolver import CacheLimits, Resolver, system_lookup


@dataclass
class _HandClock:
    at: float = 0.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class _Book:
    """A lookup that counts its questions."""

    def __init__(self, **names: list[str]) -> None:
        self.names = names
        self.asked: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("no such host")
        return self.names[host]


def test_a_name_is_asked_for_once_within_its_time() -> None:
    clock, book = _HandClock(), _Book(a=["192.0.2.1", "2001:db8::1"])
    resolver = Resolver(clock, lookup=book)
    for clock.at in (0.0, 299.0):
        assert resolver.resolve("a", timeout_s=5) == ("192.0.2.1", "2001:db8::1")
    assert book.asked == ["a"]
    clock.at = 300.0
    resolver.resolve("a", timeout_s=5)
    assert book.asked == ["a", "a"]


def test_a_failure_is_kept_for_a_shorter_time() -> None:
    clock, book = _HandClock(), _Book()
    resolver = Resolver(clock, lookup=book)
    for clock.at in (0.0, 29.0, 30.0):
        with pytest.raises(FetchError, match="no such host") as failure:
            resolver.resolve("a", timeout_s=5)
        assert failure.value.outcome is FetchOutcome.DNS_FAILED
    assert book.asked == ["a", "a"]


def test_the_cache_forgets_the_name_that_was_used_longest_ago() -> None:
    book = _Book(a=["192.0.2.1"], b=["192.0.2.2"], c=["192.0.2.3"])
    resolver = Resolver(_HandClock(), lookup=book, limits=CacheLimits(names_max=2))
    for name in "abacab":
        resolver.resolve(name, timeout_s=5)
    assert book.asked == ["a", "b", "c", "b"]


def test_an_address_needs_no_question() -> None:
    book = _Book()
    assert Resolver(_HandClock(), lookup=book).resolve("2001:DB8::0:1", timeout_s=5) == ("2001:db8::1",)
    assert book.asked == []


def test_no_address_is_a_failure() -> None:
    with pytest.raises(FetchError, match="no address"):
        Resolver(_HandClock(), lookup=_Book(a=[])).resolve("a", timeout_s=5)


def test_a_name_server_that_hangs_is_not_waited_for() -> None:
    hang = threading.Event()

    def lookup(host: str) -> list[str]:
        hang.wait(5)
        return ["192.0.2.1"]

    resolver = Resolver(_HandClock(), lookup=lookup)
    with pytest.raises(FetchError, match="no reply") as failure:
        resolver.resolve("a", timeout_s=0.05)
    assert failure.value.outcome is FetchOutcome.DNS_FAILED
    hang.set()
    assert resolver.resolve("a", timeout_s=5) == ("192.0.2.1",)


def test_many_threads_ask_one_question() -> None:
    book = _Book(a=["192.0.2.1"])
    resolver = Resolver(_HandClock(), lookup=book)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: resolver.resolve("a", timeout_s=5), range(200)))
    assert set(answers) == {("192.0.2.1",)}
    assert book.asked == ["a"]


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..b", "\0", "", "x" * 5000])
def test_a_name_that_cannot_be_asked_for_is_a_failure(host: str) -> None:
    with pytest.raises(FetchError):
        Resolver(_HandClock(), lookup=_names_only).resolve(host, timeout_s=5)


def _names_only(host: str) -> list[str]:
    """Ask the system only what never leaves this machine: names that are refused before they are asked for."""
    return [] if host in ("", "a..b") else system_lookup(host)


def test_the_system_knows_localhost() -> None:
    assert set(system_lookup("localhost")) <= {"127.0.0.1", "::1"}
