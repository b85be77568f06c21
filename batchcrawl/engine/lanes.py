"""Steps side by side: each runs in a process of its own, which forks its partitions as the only process would.

Threads will not do: a child that one of them forks would inherit the other's pipes, and keep them open.
"""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from batchcrawl.engine.child import POLL_S, Child, Failure, Keeper, Success
from batchcrawl.engine.control import Control, Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Ended(Generic[Task, Result]):
    """A task that has ended, with its result or its error."""

    task: Task
    result: Result | None = None
    error: Exception | None = None


class Lanes(Generic[Task, Result]):
    """The lanes by name; each has one task at a time. Leave it as a context manager: what still runs ends with it."""

    def __init__(self, function: Callable[[Task, Control], Result]) -> None:
        """`function(task, control)` runs a task; it may call `run_partitions`, and starts no thread."""
        self._function = function
        self._running: dict[str, Child[Task, Result]] = {}
        self._stops_sent = 0

    def __enter__(self) -> "Lanes[Task, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._running.values():
            child.leave()

    @property
    def busy(self) -> list[str]:
        """The names of the lanes that have a task."""
        return list(self._running)

    def task(self, lane: str) -> Task | None:
        """Return what runs in a lane."""
        child = self._running.get(lane)
        return None if child is None else child.task

    def progress(self, lane: str) -> Progress:
        """Return how far the task of a lane is."""
        child = self._running.get(lane)
        return Progress() if child is None else child.progress

    def start(self, lane: str, task: Task) -> None:
        """Begin a task in a lane that has none; it hears how often the others have been asked to stop."""
        child = Child(self._function, task, Keeper(), beside=self._running.values(), forks=True)
        self._running[lane] = child
        for _ in range(self._stops_sent):
            child.send_stop()

    def ask_to_stop(self, times: int) -> None:
        """Ask all tasks to stop, these and those that follow, until they were asked so often in all."""
        while self._stops_sent < times:
            self._stops_sent += 1
            for child in self._running.values():
                child.send_stop()

    def listen(self) -> list[Ended[Task, Result]]:
        """Wait a moment for messages and return the tasks that have ended."""
        heard = set(wait([child.pipe for child in self._running.values()], timeout=POLL_S))
        ended: list[Ended[Task, Result]] = []
        for lane, child in list(self._running.items()):
            if child.pipe in heard:
                child.hear()
            if child.outcome is not None:
                child.leave()
                del self._running[lane]
                ended.append(_ended(child.task, child.outcome))
        return ended


def _ended(task: Task, outcome: Success[Result] | Failure) -> Ended[Task, Result]:
    return Ended(task, error=outcome.error) if isinstance(outcome, Failure) else Ended(task, outcome.result)
