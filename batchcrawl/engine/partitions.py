"""A step's function runs for each partition in a process of its own."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from batchcrawl.engine.child import Child, Children, Failure, Keeper
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
        while run.children.running or (waiting and not run.failed):
            while waiting and len(run.children.running) < parallel and not run.failed:
                run.children.start(*waiting.pop(0))
            run.pass_on_stops()
            run.listen()
            control.report(run.progress())
    finally:
        run.children.leave()
    return run.results()


class _Run(Generic[Task, Result]):
    """The children of a step, by the number of their task."""

    def __init__(self, function: Callable[[Task, Control], Result], control: Control, keeper: Keeper[Task]) -> None:
        self.children: Children[int, Task, Result] = Children(function, keeper)
        self._control = control
        self._keeper = keeper
        self._ended: dict[int, Child[Task, Result]] = {}
        self.failed = False

    def pass_on_stops(self) -> None:
        """Ask the children to stop as often as somebody asked the step, or once when one of them failed."""
        control = self._control
        self.children.ask_to_stop(2 if control.dropping else 1 if control.stopping or self.failed else 0)

    def listen(self) -> None:
        """Wait a moment for messages, and take them."""
        for number, child in self.children.listen():
            self._end(number, child)

    def _end(self, number: int, child: Child[Task, Result]) -> None:
        if child.died and self._keeper.replaces(child.task, child.process.exitcode):
            self.children.start(number, child.task)
            return
        self._ended[number] = child
        self.failed = self.failed or isinstance(child.outcome, Failure)

    def progress(self) -> Progress:
        """Return the progress of all children together."""
        return sum((c.progress for c in (*self._ended.values(), *self.children.running.values())), Progress())

    def results(self) -> list[Result]:
        """Return the results in the order of the tasks, or raise the first error: others may follow from it."""
        results: dict[int, Result] = {}
        for number, child in self._ended.items():
            if isinstance(child.outcome, Failure):
                raise child.outcome.error
            if child.outcome is not None:
                results[number] = child.outcome.result
        return [result for _, result in sorted(results.items())]
