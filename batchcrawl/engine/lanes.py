"""Steps side by side: each runs in a process of its own, which forks its partitions as the only process would.

Threads will not do: a child that one of them forks would inherit the other's pipes, and keep them open.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from batchcrawl.engine.child import Children, Failure, Keeper, Success
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
        self._children: Children[str, Task, Result] = Children(function, Keeper(), forks=True)

    def __enter__(self) -> "Lanes[Task, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        self._children.leave()

    @property
    def busy(self) -> list[str]:
        """The names of the lanes that have a task."""
        return list(self._children.running)

    def task(self, lane: str) -> Task | None:
        """Return what runs in a lane."""
        child = self._children.running.get(lane)
        return None if child is None else child.task

    def progress(self, lane: str) -> Progress:
        """Return how far the task of a lane is."""
        child = self._children.running.get(lane)
        return Progress() if child is None else child.progress

    def start(self, lane: str, task: Task) -> None:
        """Begin a task in a lane that has none; it hears how often the others have been asked to stop."""
        self._children.start(lane, task)

    def ask_to_stop(self, times: int) -> None:
        """Ask all tasks to stop, these and those that follow, until they were asked so often in all."""
        self._children.ask_to_stop(times)

    def listen(self) -> list[Ended[Task, Result]]:
        """Wait a moment for messages and return the tasks that have ended."""
        ended = self._children.listen()
        return [_ended(child.task, child.outcome) for _, child in ended if child.outcome is not None]


def _ended(task: Task, outcome: Success[Result] | Failure) -> Ended[Task, Result]:
    return Ended(task, error=outcome.error) if isinstance(outcome, Failure) else Ended(task, outcome.result)
