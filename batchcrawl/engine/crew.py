"""Worker threads that take what is due from a frontier, one item a host at a time, until nothing is left.

A host that is slow or silent holds its thread for as long as its time limits let it. So that it does not hold up the
others, a visit that has lasted for half a second counts no longer: a thread of the reserve works in its place.

Of the threads that wait, one sleeps until the next host is due, and all others until they are called.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Generic, Protocol, TypeVar

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.model.clock import Clock
from batchcrawl.policy.frontier import Frontier, Taken

Item = TypeVar("Item")

TICK_S = 0.2
SLOW_S = 0.5
"""A visit that has lasted for so long lets another begin."""


class Turn(Protocol):
    """What the threads wait at: a threading.Condition, or one on a clock of its own."""

    def __enter__(self) -> bool:
        """Take the lock."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the lock go."""

    def wait(self, timeout: float | None = None) -> bool:
        """Let the lock go until somebody notifies or so many seconds have passed."""

    def notify(self) -> None:
        """Wake one that waits."""

    def notify_all(self) -> None:
        """Wake all that wait."""


class After(msgspec.Struct, frozen=True, kw_only=True):
    """What follows the visit of an item."""

    wait_s: float
    """Until the host may be contacted again."""
    again: bool = False
    """The item was not used: it is the host's next."""
    drop_host: bool = False
    """The host is put off: its items leave the frontier."""
    gates: Mapping[str, float] | None = None
    """The gates that the host shares from now on, with their gaps in seconds; None changes nothing."""


class Crew(Generic[Item]):
    """Threads around one frontier. `visit` is called without the lock, `on_dropped` too.

    `threads` visits run at once; of slow ones, see SLOW_S, up to `reserve` more.
    """

    def __init__(
        self,
        frontier: Frontier[Item],
        visit: Callable[[Taken[Item]], After],
        on_dropped: Callable[[list[Item]], None],
        *,
        threads: int,
        reserve: int = 0,
        clock: Clock,
        turn: Turn | None = None,
    ) -> None:
        self._frontier = frontier
        self._visit = visit
        self._on_dropped = on_dropped
        self._threads = threads
        self._reserve = reserve
        self._clock = clock
        self._turn = turn or threading.Condition()
        self._brisk: OrderedDict[str, float] = OrderedDict()
        """Hosts whose visit is not known to be slow, and since when it lasts; oldest first."""
        self._idle = 0
        self._watched_until = math.inf
        """The instant until which one of the idle threads sleeps; none of the others has a time of its own."""
        self._stopped = False
        self._failure: BaseException | None = None

    def run(self, control: Control, *, time_limit_s: float | None, on_tick: Callable[[], None]) -> None:
        """Work until nothing is left, the time is over or somebody asks to stop; `on_tick` runs now and then.

        What is left stays in the frontier. A request to drop leaves the threads behind in the middle of their
        visits. The first error of a visit stops all and is raised.
        """
        end = None if time_limit_s is None else self._clock.monotonic() + time_limit_s
        control.on_stop(self._stop)
        if control.stopping:
            self._stop()
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads + self._reserve)]
        for worker in workers:
            worker.start()
        while (alive := [worker for worker in workers if worker.is_alive()]) and not control.dropping:
            alive[0].join(TICK_S)
            if end is not None and self._clock.monotonic() >= end:
                self._stop()
            on_tick()
        if self._failure is not None:
            raise self._failure

    def active_and_waiting(self) -> tuple[int, int]:
        """Return how many hosts are being visited, and how many wait for their turn."""
        with self._turn:
            leased = self._frontier.leased
            return leased, self._frontier.active_hosts - leased

    def _stop(self) -> None:
        with self._turn:
            self._stopped = True
            self._turn.notify_all()

    def _work(self) -> None:
        try:
            while (taken := self._next()) is not None:
                dropped = self._settle(taken, self._visit(taken))
                if dropped:
                    self._on_dropped(dropped)
        except BaseException as error:  # noqa: BLE001 - raised again by run, in the thread that can tell of it
            self._failure = self._failure or error
            self._stop()

    def _next(self) -> Taken[Item] | None:
        """Wait for an item that is due; None when there will be none."""
        with self._turn:
            while not self._stopped and self._frontier.left:
                now = self._clock.monotonic()
                taken = self._frontier.take(now) if self._has_room(now) else None
                if taken is None:
                    self._wait(now)
                    continue
                self._brisk[taken.host] = now
                if self._idle and self._next_chance(now) < self._watched_until:
                    self._turn.notify()
                return taken
            return None

    def _has_room(self, now: float) -> bool:
        while self._brisk and next(iter(self._brisk.values())) + SLOW_S <= now:
            self._brisk.popitem(last=False)
        return len(self._brisk) < self._threads

    def _next_chance(self, now: float) -> float:
        """Return the instant at which an item may be taken unless a visit ends before."""
        if not self._has_room(now):
            return next(iter(self._brisk.values())) + SLOW_S
        due = self._frontier.next_due()
        return math.inf if due is None else due

    def _wait(self, now: float) -> None:
        until = self._next_chance(now)
        watches = until < self._watched_until
        if watches:
            self._watched_until = until
        self._idle += 1
        self._turn.wait(max(0.0, until - now) if watches else None)
        self._idle -= 1
        if watches and self._watched_until == until:
            self._watched_until = math.inf

    def _settle(self, taken: Taken[Item], after: After) -> list[Item]:
        """End a visit and return the items that are dropped. The thread looks for its next itself."""
        with self._turn:
            self._brisk.pop(taken.host, None)
            at = self._clock.monotonic() + after.wait_s
            if after.gates is not None:
                self._frontier.set_gates(taken.host, after.gates)
            if after.again:
                self._frontier.put_back(taken, next_contact=at)
            else:
                self._frontier.done(taken, next_contact=at)
            dropped = self._frontier.drop_host(taken.host) if after.drop_host else []
            if not self._frontier.left:
                self._turn.notify_all()
            return dropped
