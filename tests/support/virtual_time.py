"""Real threads on a clock of their own: one runs at a time, and when all wait, the clock goes on to the next instant.

So a crew's whole scheduling runs as it would, to the same end each time, and an hour of waiting takes no time.
"""

import heapq
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType

PATIENCE_S = 60.0


class NobodyWakesError(Exception):
    """Every thread waits for another one."""


@dataclass(eq=False)
class _Thread:
    may_run: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    runs: bool = False
    serial: int = 0
    """Of its last wait; earlier entries among the sleepers are stale."""


class VirtualTime:
    """A clock, and what the threads of one crew wait at. `finished` tells that no thread will wait again.

    The clock stands until all `threads` have come.
    """

    def __init__(self, *, threads: int, finished: Callable[[], bool]) -> None:
        self._now = 0.0
        self._threads = threads
        self._finished = finished
        self._mine = threading.local()
        self._mutex = threading.Lock()
        self._come = 0
        self._running: _Thread | None = None
        self._ready: deque[_Thread] = deque()
        self._waiting: deque[_Thread] = deque()
        self._sleeping: list[tuple[float, int, _Thread]] = []
        self._serials = count(1)
        self._stuck = False

    def now(self) -> float:
        """Return seconds since the beginning."""
        return self._now

    def monotonic(self) -> float:
        """Return seconds since the beginning."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let the calling thread do something that takes so long."""
        thread: _Thread = self._mine.thread
        with self._mutex:
            self._put_to_sleep(thread, seconds)
            self._pass_on(thread)
        self._until_it_runs(thread)

    def __enter__(self) -> bool:
        thread = self._thread()
        if not thread.runs:
            with self._mutex:
                self._ready.append(thread)
                if self._running is None and self._come == self._threads:
                    self._run_next()
            self._until_it_runs(thread)
        return True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._finished():
            with self._mutex:
                self._pass_on(self._mine.thread)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a notification, or so many seconds."""
        thread: _Thread = self._mine.thread
        with self._mutex:
            self._waiting.append(thread)
            thread.serial = next(self._serials)
            if timeout is not None:
                self._put_to_sleep(thread, timeout)
            self._pass_on(thread)
        self._until_it_runs(thread)
        return True

    def notify(self) -> None:
        """Wake the one that has waited for longest."""
        if self._waiting:
            self._wake(self._waiting.popleft())

    def notify_all(self) -> None:
        """Wake all that wait."""
        while self._waiting:
            self.notify()

    def _thread(self) -> _Thread:
        if not hasattr(self._mine, "thread"):
            self._mine.thread = _Thread()
            with self._mutex:
                self._come += 1
        thread: _Thread = self._mine.thread
        return thread

    def _put_to_sleep(self, thread: _Thread, seconds: float) -> None:
        thread.serial = next(self._serials)
        heapq.heappush(self._sleeping, (self._now + seconds, thread.serial, thread))

    def _wake(self, thread: _Thread) -> None:
        thread.serial = 0
        self._ready.append(thread)

    def _pass_on(self, thread: _Thread) -> None:
        thread.runs = False
        self._running = None
        self._run_next()

    def _run_next(self) -> None:
        while not self._ready and self._sleeping:
            at, serial, sleeper = heapq.heappop(self._sleeping)
            if sleeper.serial == serial:
                self._now = max(self._now, at)
                if sleeper in self._waiting:
                    self._waiting.remove(sleeper)
                self._wake(sleeper)
        if self._ready:
            self._running = self._ready.popleft()
            self._running.runs = True
            self._running.may_run.release()
        elif self._waiting:
            self._stuck = True
            for waiting in self._waiting:
                waiting.may_run.release()

    def _until_it_runs(self, thread: _Thread) -> None:
        if not thread.may_run.acquire(timeout=PATIENCE_S) or self._stuck:
            raise NobodyWakesError
