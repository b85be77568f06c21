"""An engine that runs the partitions of a step in the test's own process, where the test can watch its disk."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from batchcrawl.engine.control import Control

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_in_process(
    function: Callable[[Task, Control], Result], tasks: Sequence[Task], *, parallel: int, control: Control
) -> list[Result]:
    """Do what `engine.partitions.run_partitions` does, without processes."""
    return [function(task, control) for task in tasks]
