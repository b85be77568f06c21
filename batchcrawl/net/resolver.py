"""Host names to addresses: in threads of its own, with a time limit and a bounded cache."""

import queue
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from ipaddress import ip_address

from batchcrawl.model.clock import Clock
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError

Lookup = Callable[[str], list[str]]
"""Returns the addresses of a host name, best first; raises OSError or ValueError for none."""


def system_lookup(host: str) -> list[str]:
    """Return the IPv4 and IPv6 addresses that the operating system finds, in its order of preference."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for _, _, _, _, address in found))


@dataclass(frozen=True, kw_only=True)
class CacheLimits:
    """How long and how many answers are kept."""

    found_s: float = 300.0
    failed_s: float = 30.0
    names_max: int = 10_000


class Resolver:
    """Resolves host names; thread-safe. Concurrent questions for one name are asked once."""

    def __init__(
        self, clock: Clock, *, threads: int = 8, limits: CacheLimits | None = None, lookup: Lookup = system_lookup
    ) -> None:
        self._clock = clock
        self._threads = threads
        self._limits = limits or CacheLimits()
        self._lookup = lookup
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, _Cached] = OrderedDict()
        self._questions: queue.SimpleQueue[tuple[str, Future[_Found]] | None] = queue.SimpleQueue()
        self._started = 0

    def resolve(self, host: str, *, timeout_s: float) -> tuple[str, ...]:
        """Return the addresses of a host, best first; an IP address is its own.

        Raises FetchError with DNS_FAILED when there is none or no reply in time.
        """
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        try:
            found = self._ask(host).result(timeout=max(timeout_s, 0.0))
        except TimeoutError:
            raise FetchError(FetchOutcome.DNS_FAILED, f"no reply for {host} in {timeout_s:.1f} s") from None
        if isinstance(found, str):
            raise FetchError(FetchOutcome.DNS_FAILED, f"{host}: {found}")
        return found

    def close(self) -> None:
        """Let the threads end; a lookup under way is not waited for."""
        for _ in range(self._started):
            self._questions.put(None)

    def _ask(self, host: str) -> "Future[_Found]":
        now = self._clock.monotonic()
        with self._lock:
            cached = self._cache.get(host)
            if cached is not None and not self._expired(cached, now):
                self._cache.move_to_end(host)
                return cached.future
            future: Future[_Found] = Future()
            self._cache[host] = _Cached(now, future)
            self._cache.move_to_end(host)
            while len(self._cache) > self._limits.names_max:
                self._cache.popitem(last=False)
            self._start_thread()
        self._questions.put((host, future))
        return future

    def _expired(self, cached: "_Cached", now: float) -> bool:
        if not cached.future.done():
            return False
        failed = isinstance(cached.future.result(), str)
        return now >= cached.asked_at + (self._limits.failed_s if failed else self._limits.found_s)

    def _start_thread(self) -> None:
        if self._started < self._threads:
            self._started += 1
            # Daemons: a name server that hangs must not hold up the end of the step.
            threading.Thread(target=self._work, name=f"resolver-{self._started}", daemon=True).start()

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            host, future = question
            future.set_result(self._look_up(host))

    def _look_up(self, host: str) -> "_Found":
        try:
            return tuple(self._lookup(host)) or "no address"
        except (OSError, ValueError) as error:
            return str(error)


_Found = tuple[str, ...] | str
"""Addresses, or why there are none."""


@dataclass(frozen=True, slots=True)
class _Cached:
    asked_at: float
    future: Future[_Found]
