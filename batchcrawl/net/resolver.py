"""Host names to addresses: in threads of its own, with a time limit and a bounded cache.

A lookup cannot be told to stop: a name whose servers are silent holds its thread for as long as the lookup tries, of
getaddrinfo(3) often half a minute. So threads are added while none is free, each name is asked for once at a time, a
name that is known to be silent is failed at once, and a question that nobody waits for any longer is not asked.
"""

import socket
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from batchcrawl.model.clock import Clock
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError


class Resolved(NamedTuple):
    """What a host name leads to."""

    addresses: tuple[str, ...]
    """Best first."""
    ttl_s: float | None = None
    """How long they are good, where that is told."""


Lookup = Callable[[str], Resolved]
"""Returns the addresses of a host name; raises OSError or ValueError for none."""

_IDLE_MAX = 8


def system_lookup(host: str) -> Resolved:
    """Return the IPv4 and IPv6 addresses that the operating system finds, in its order of preference.

    It asks whatever it is set up to ask (hosts file, name servers, mDNS, ...), and tells no TTL.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return Resolved(tuple(dict.fromkeys(str(address[0]) for _, _, _, _, address in found)))


@dataclass(frozen=True, kw_only=True)
class CacheLimits:
    """How long and how many answers are kept."""

    found_s: float = 300.0
    """Where no TTL is told; otherwise that, within the next two."""
    ttl_min_s: float = 60.0
    ttl_max_s: float = 3600.0
    failed_s: float = 30.0
    silent_s: float = 5.0
    """A name that is being looked up for longer is failed at once, until there is an answer."""
    names_max: int = 10_000


@dataclass(frozen=True, kw_only=True)
class ResolverCounts:
    """How names were found up to now; the hit rate is cached / asked."""

    asked: int = 0
    cached: int = 0
    """Of these, found in the cache or being looked up already."""
    failed: int = 0
    """Of these, without an address."""
    silent: int = 0
    """Of these, without a reply in time."""


class Resolver:
    """Resolves host names; thread-safe. Concurrent questions for one name are asked once."""

    def __init__(
        self,
        clock: Clock,
        *,
        threads_max: int = 256,
        limits: CacheLimits | None = None,
        lookup: Lookup = system_lookup,
    ) -> None:
        self._clock = clock
        self._threads_max = threads_max
        self._limits = limits or CacheLimits()
        self._lookup = lookup
        self._changed = threading.Condition()
        self._cache: OrderedDict[str, _Question] = OrderedDict()
        self._waiting: deque[_Question] = deque()
        self._threads = 0
        self._idle = 0
        self._closed = False
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> ResolverCounts:
        """Return how names were found up to now."""
        with self._changed:
            return ResolverCounts(**self._counts)

    def resolve(self, host: str, *, timeout_s: float) -> tuple[str, ...]:
        """Return the addresses of a host, best first; an IP address is its own.

        Raises FetchError with DNS_FAILED when there is none or no reply in time.
        """
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        question = self._ask(host)
        try:
            found = question.answer.result(timeout=max(timeout_s, 0.0))
        except TimeoutError:
            self._count("silent")
            raise FetchError(FetchOutcome.DNS_FAILED, f"no reply for {host} in {timeout_s:.1f} s") from None
        finally:
            self._leave(question)
        if isinstance(found, str):
            self._count("failed")
            raise FetchError(FetchOutcome.DNS_FAILED, f"{host}: {found}")
        return found.addresses

    def close(self) -> None:
        """Let the threads end; a lookup under way is not waited for."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _ask(self, host: str) -> "_Question":
        now = self._clock.monotonic()
        with self._changed:
            self._counts["asked"] += 1
            question = self._cache.get(host)
            if question is not None and not self._is_old(question, now):
                self._counts["cached"] += 1
                self._refuse_silent(question, now)
            else:
                question = self._cache[host] = _Question(host)
                self._put(question)
            self._cache.move_to_end(host)
            question.askers += 1
            while len(self._cache) > self._limits.names_max:
                self._cache.popitem(last=False)
            return question

    def _is_old(self, question: "_Question", now: float) -> bool:
        if not question.answer.done():
            return False
        return now >= question.answered_at + self._good_s(question.answer.result())

    def _good_s(self, found: "_Found") -> float:
        if isinstance(found, str):
            return self._limits.failed_s
        if found.ttl_s is None:
            return self._limits.found_s
        return min(max(found.ttl_s, self._limits.ttl_min_s), self._limits.ttl_max_s)

    def _refuse_silent(self, question: "_Question", now: float) -> None:
        begun_at = question.begun_at
        if begun_at is not None and not question.answer.done() and now >= begun_at + self._limits.silent_s:
            self._counts["silent"] += 1
            raise FetchError(FetchOutcome.DNS_FAILED, f"no reply for {question.host} in {now - begun_at:.1f} s")

    def _put(self, question: "_Question") -> None:
        self._waiting.append(question)
        if len(self._waiting) <= self._idle:
            self._changed.notify()
        elif self._threads < self._threads_max:
            self._threads += 1
            # Daemons: a name server that hangs must not hold up the end of the step.
            threading.Thread(target=self._work, name="resolver", daemon=True).start()

    def _leave(self, question: "_Question") -> None:
        with self._changed:
            question.askers -= 1
            if question.askers == 0 and question.begun_at is None:
                # No thread was free all the time; the next who asks begins anew.
                if self._cache.get(question.host) is question:
                    del self._cache[question.host]
                self._waiting.remove(question)

    def _work(self) -> None:
        while (question := self._next()) is not None:
            found = self._look_up(question.host)
            question.answered_at = self._clock.monotonic()
            question.answer.set_result(found)

    def _next(self) -> "_Question | None":
        """Return the next question, or None where the thread is to end."""
        with self._changed:
            while not self._waiting:
                if self._closed or self._idle >= _IDLE_MAX:
                    self._threads -= 1
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            question = self._waiting.popleft()
            question.begun_at = self._clock.monotonic()
            return question

    def _look_up(self, host: str) -> "_Found":
        try:
            found = self._lookup(host)
            return found if found.addresses else "no address"
        except (OSError, ValueError) as error:
            return str(error)

    def _count(self, what: str) -> None:
        with self._changed:
            self._counts[what] += 1


_Found = Resolved | str
"""Addresses, or why there are none."""


@dataclass(eq=False, slots=True)
class _Question:
    host: str
    answer: Future[_Found] = field(default_factory=Future)
    askers: int = 0
    """How many wait for the answer."""
    begun_at: float | None = None
    answered_at: float = 0.0
