"""Engines that run the partitions of a step in the test's own process, where the test can watch its disk.

A test process must not fork steps: LevelDB may have started its thread there, which a fork does not take along; then a
child that closes a database waits for ever.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from batchcrawl.engine.control import Control
from batchcrawl.engine.isolated import Items, Limits, Work

FORKING = (
    *("compact", "drop", "enter", "fetch", "gc", "generate", "job.budgeting"),
    *("parse", "peek", "purge", "repair", "settle", "update"),
)
"""Modules that run partitions; a test holds them to be all."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Part = TypeVar("Part")
Argument = TypeVar("Argument")
Value = TypeVar("Value")


def run_all_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every step run in the test's own process until the test ends."""
    for module in ("parse", "peek"):
        monkeypatch.setattr(f"batchcrawl.{module}.run_isolated", run_isolated_in_process)
    for module in FORKING:
        monkeypatch.setattr(f"batchcrawl.{module}.run_partitions", run_in_process)


def run_in_process(
    function: Callable[[Task, Control], Result], tasks: Sequence[Task], *, parallel: int, control: Control
) -> list[Result]:
    """Do what `engine.partitions.run_partitions` does, without processes."""
    return [function(task, control) for task in tasks]


def run_isolated_in_process(
    work: Work[Task, Part], tasks: Sequence[Task], *, parallel: int, limits: Limits, control: Control
) -> list[list[Part]]:
    """Do what `engine.isolated.run_isolated` does, without processes and limits."""
    return [list(work(task, control, _Unguarded())) for task in tasks]


class _Unguarded(Items[Part]):
    def __init__(self) -> None:
        self.parts = []

    def attempt(self, item: int, function: Callable[[Argument], Value], argument: Argument) -> Value:
        return function(argument)
