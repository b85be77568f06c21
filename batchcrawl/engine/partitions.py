"""A step's function runs for each partition in a process of its own."""

from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Generic, TypeVar

from batchcrawl.engine.child import POLL_S, Child, Failure, Keeper
from batchcrawl.engine.control import Control, Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_partitions(
    function: Callable[[Task, Control], Result],
    tasks: Sequence[Task],
    *,
    parallel: int,
    control: Control,
    keeper: Keeper[Task] | None = None,
) -> list[Result]:
    """Run `function(task, control)` for each task in its own process, at most `parallel` at once.

    Returns the results in the order of the tasks. When one fails, the others are asked to stop, and the
    first error is raised once all have ended: a CrawlError or OSError as it was, any other as InternalError.
    Requests to stop that reach `control` are passed on. `keeper` gets the parts that are handed over to a control.
    """
    run = _Run(function, control, keeper or Keeper())
    waiting = list(enumerate(tasks))
    try:
        while run.running or (waiting and not run.failed):
            while waiting and len(run.running) < parallel and not run.failed:
                run.start(*waiting.pop(0))
            run.pass_on_stops()
            run.listen()
            control.report(run.progress())
    finally:
        for child in run.running.values():  # only where the loop was left by an error of the parent's own
            child.leave()
    return run.results()


class _Run(Generic[Task, Result]):
    """The children of a step, by the number of their task."""

    def __init__(self, function: Callable[[Task, Control], Result], control: Control, keeper: Keeper[Task]) -> None:
        self._function = function
        self._control = control
        self._keeper = keeper
        self._stops_sent = 0
        self._ended: dict[int, Child[Task, Result]] = {}
        self.running: dict[int, Child[Task, Result]] = {}
        self.failed = False

    def start(self, number: int, task: Task) -> None:
        """Begin a task, or begin it again; it is told how often the others have been asked to stop."""
        child = self.running[number] = Child(self._function, task, self._keeper, beside=self.running.values())
        for _ in range(self._stops_sent):
            child.send_stop()

    def pass_on_stops(self) -> None:
        """Ask the children to stop as often as somebody asked the step, or once when one of them failed."""
        control = self._control
        wanted = 2 if control.dropping else 1 if control.stopping or self.failed else 0
        while self._stops_sent < wanted:
            self._stops_sent += 1
            for child in self.running.values():
                child.send_stop()

    def listen(self) -> None:
        """Wait a moment for messages, and take them."""
        heard = set(wait([child.pipe for child in self.running.values()], timeout=POLL_S))
        for number, child in list(self.running.items()):
            if child.pipe in heard:
                child.hear()
            if child.outcome is not None:
                child.leave()
                self._end(number, self.running.pop(number))

    def _end(self, number: int, child: Child[Task, Result]) -> None:
        if child.died and self._keeper.replaces(child.task, child.process.exitcode):
            self.start(number, child.task)
            return
        self._ended[number] = child
        self.failed = self.failed or isinstance(child.outcome, Failure)

    def progress(self) -> Progress:
        """Return the progress of all children together."""
        return sum((c.progress for c in (*self._ended.values(), *self.running.values())), Progress())

    def results(self) -> list[Result]:
        """Return the results in the order of the tasks, or raise the first error: others may follow from it."""
        results: dict[int, Result] = {}
        for number, child in self._ended.items():
            if isinstance(child.outcome, Failure):
                raise child.outcome.error
            if child.outcome is not None:
                results[number] = child.outcome.result
        return [result for _, result in sorted(results.items())]
