"""The resolver: its cache on a clock of ours, its limits, its failures."""

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest

from batchcrawl.model.clock import SystemClock
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError
from batchcrawl.net.resolver import CacheLimits, Resolved, Resolver, ResolverCounts, system_lookup


@dataclass
class _HandClock:
    at: float = 0.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


class _Book:
    """A lookup that counts its questions."""

    def __init__(self, ttl_s: float | None = None, **names: list[str]) -> None:
        self.names = names
        self.ttl_s = ttl_s
        self.asked: list[str] = []

    def __call__(self, host: str) -> Resolved:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("no such host")
        return Resolved(tuple(self.names[host]), self.ttl_s)


def test_a_name_is_asked_for_once_within_its_time() -> None:
    clock, book = _HandClock(), _Book(a=["192.0.2.1", "2001:db8::1"])
    resolver = Resolver(clock, lookup=book)
    for clock.at in (0.0, 299.0):
        assert resolver.resolve("a", timeout_s=5) == ("192.0.2.1", "2001:db8::1")
    assert book.asked == ["a"]
    clock.at = 300.0
    resolver.resolve("a", timeout_s=5)
    assert book.asked == ["a", "a"]


@pytest.mark.parametrize(("ttl_s", "kept_s"), [(0, 60), (59, 60), (61, 61), (3600, 3600), (86_400, 3600)])
def test_an_answer_is_kept_for_its_time_to_live_within_limits(ttl_s: float, kept_s: float) -> None:
    clock, book = _HandClock(), _Book(ttl_s, a=["192.0.2.1"])
    resolver = Resolver(clock, lookup=book)
    for clock.at in (0.0, kept_s - 1):
        resolver.resolve("a", timeout_s=5)
    assert book.asked == ["a"]
    clock.at = kept_s
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

    def lookup(host: str) -> Resolved:
        hang.wait(5)
        return Resolved(("192.0.2.1",))

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


def _names_only(host: str) -> Resolved:
    """Ask the system only what never leaves this machine: names that are refused before they are asked for."""
    return Resolved(()) if host in ("", "a..b") else system_lookup(host)


def test_the_system_knows_localhost() -> None:
    assert set(system_lookup("localhost").addresses) <= {"127.0.0.1", "::1"}


def test_the_system_reads_its_hosts_file() -> None:
    path = Path("/etc/hosts")
    lines = [line.partition("#")[0].split() for line in path.read_text().splitlines()] if path.exists() else []
    first: dict[tuple[str, int], str] = {}
    for address, *names in filter(None, lines):
        for name in names:
            first.setdefault((name, ip_address(address).version), str(ip_address(address)))
    for (name, _), address in first.items():
        assert address in system_lookup(name).addresses


class _Hole:
    """A lookup that answers for some names and is silent for the others until it is let go."""

    def __init__(self) -> None:
        self.silent = threading.Event()
        self.asked: list[str] = []

    def __call__(self, host: str) -> Resolved:
        self.asked.append(host)
        if host.startswith("hole"):
            self.silent.wait(30)
        return Resolved(("192.0.2.1",))


@pytest.fixture
def hole() -> Iterator[_Hole]:
    hole = _Hole()
    yield hole
    hole.silent.set()


def test_a_silent_tenth_of_all_names_does_not_slow_the_others(hole: _Hole) -> None:
    resolver = Resolver(SystemClock(), lookup=hole)

    def ask(number: int) -> float:
        started = time.monotonic()
        if number % 10 == 0:
            with pytest.raises(FetchError, match="no reply"):
                resolver.resolve(f"hole{number}", timeout_s=0.5)
            return 0.0
        resolver.resolve(f"name{number}", timeout_s=5)
        return time.monotonic() - started

    with ThreadPoolExecutor(32) as pool:
        slowest_s = max(pool.map(ask, range(600)))
    assert slowest_s < 2.0
    assert resolver.counts == ResolverCounts(asked=600, silent=60)


def test_more_silent_names_than_idle_threads_leave_room_for_others(hole: _Hole) -> None:
    resolver = Resolver(SystemClock(), threads_max=64, lookup=hole)
    with ThreadPoolExecutor(63) as pool:
        for asked in [pool.submit(resolver.resolve, f"hole{number}", timeout_s=0.1) for number in range(63)]:
            assert asked.exception() is not None
    for number in range(100):
        assert resolver.resolve(f"name{number}", timeout_s=5) == ("192.0.2.1",)


def test_at_the_last_thread_a_question_that_nobody_waits_for_is_not_asked(hole: _Hole) -> None:
    resolver = Resolver(SystemClock(), threads_max=2, lookup=hole)
    for name in ("hole1", "hole2", "name1", "name2"):
        with pytest.raises(FetchError, match="no reply"):
            resolver.resolve(name, timeout_s=0.05)
    hole.silent.set()
    assert resolver.resolve("name2", timeout_s=5) == ("192.0.2.1",)
    assert sorted(hole.asked) == ["hole1", "hole2", "name2"]


def test_a_name_that_is_known_to_be_silent_fails_at_once_until_it_answers(hole: _Hole) -> None:
    clock = _HandClock()
    resolver = Resolver(clock, lookup=hole)
    with pytest.raises(FetchError):
        resolver.resolve("hole", timeout_s=0.05)
    clock.at = 5.0
    started = time.monotonic()
    with pytest.raises(FetchError, match=r"no reply for hole in 5\.0 s"):
        resolver.resolve("hole", timeout_s=30)
    assert time.monotonic() - started < 5
    hole.silent.set()
    while True:
        with contextlib.suppress(FetchError):
            assert resolver.resolve("hole", timeout_s=5) == ("192.0.2.1",)
            break
    assert hole.asked == ["hole"]


def test_threads_that_have_nothing_to_do_end() -> None:
    gate = threading.Barrier(40)

    def lookup(host: str) -> Resolved:
        gate.wait(5)
        return Resolved(("192.0.2.1",))

    before = threading.active_count()
    resolver = Resolver(_HandClock(), lookup=lookup)
    with ThreadPoolExecutor(40) as pool:
        list(pool.map(lambda number: resolver.resolve(str(number) + "a", timeout_s=5), range(40)))
    deadline = time.monotonic() + 5
    while threading.active_count() > before + 8 and time.monotonic() < deadline:
        pass
    assert threading.active_count() <= before + 8
    resolver.close()


def test_the_resolver_counts_what_it_was_asked() -> None:
    resolver = Resolver(_HandClock(), lookup=_Book(a=["192.0.2.1"]))
    for _ in range(4):
        resolver.resolve("a", timeout_s=5)
    for _ in range(2):
        with pytest.raises(FetchError):
            resolver.resolve("b", timeout_s=5)
    resolver.resolve("192.0.2.1", timeout_s=5)
    assert resolver.counts == ResolverCounts(asked=6, cached=4, failed=2)
