"""Worker threads that take what is due from a frontier, one item a host at a time, until nothing is left."""

import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.model.clock import Clock
from batchcrawl.policy.frontier import Frontier, Taken

Item = TypeVar("Item")

TICK_S = 0.2


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
    """Threads around one frontier. `visit` is called without the lock, `on_dropped` too."""

    def __init__(
        self,
        frontier: Frontier[Item],
        visit: Callable[[Taken[Item]], After],
        on_dropped: Callable[[list[Item]], None],
        *,
        threads: int,
        clock: Clock,
    ) -> None:
        self._frontier = frontier
        self._visit = visit
        self._on_dropped = on_dropped
        self._threads = threads
        self._clock = clock
        self._turn = threading.Condition()
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
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads)]
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
                self._settle(taken, self._visit(taken))
        except BaseException as error:  # noqa: BLE001 - raised again by run, in the thread that can tell of it
            self._failure = self._failure or error
            self._stop()

    def _next(self) -> Taken[Item] | None:
        """Wait for an item that is due; None when there will be none."""
        with self._turn:
            while not self._stopped and self._frontier.left:
                taken = self._frontier.take(self._clock.monotonic())
                if taken is not None:
                    return taken
                due = self._frontier.next_due()
                self._turn.wait(None if due is None else max(0.0, due - self._clock.monotonic()))
            return None

    def _settle(self, taken: Taken[Item], after: After) -> None:
        dropped: list[Item] = []
        with self._turn:
            at = self._clock.monotonic() + after.wait_s
            if after.gates is not None:
                self._frontier.set_gates(taken.host, after.gates)
            if after.again:
                self._frontier.put_back(taken, next_contact=at)
            else:
                self._frontier.done(taken, next_contact=at)
            if after.drop_host:
                dropped = self._frontier.drop_host(taken.host)
            if self._frontier.left:
                self._turn.notify()
            else:
                self._turn.notify_all()
        if dropped:
            self._on_dropped(dropped)
