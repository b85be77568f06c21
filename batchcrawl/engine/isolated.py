"""A step over partitions whose items may crash, hang or bloat the process that works on them.

A worker says in a shared cell which item it is at, and is held to limits there: the kernel's timers kill it
(setitimer(2)), and where an allocation fails (setrlimit(2)) it ends itself. The parent replaces a worker that died at
an item. The item is given up at once if it used up its CPU time, which was its own doing; else when a second worker
dies at it, since a kill, a pause of the whole machine or what earlier items left may have ended the first. A worker
that dies between items is an error, as everywhere.
"""

import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from batchcrawl.engine.child import CONTEXT, Keeper
from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CrawlError

Task = TypeVar("Task")
Part = TypeVar("Part")
Argument = TypeVar("Argument")
Value = TypeVar("Value")

DEATHS_MAX = 2
"""So many workers die at an item before it is given up."""
CAUSE_CHARACTERS_MAX = 200
_NOWHERE = -1
_OUT_OF_MEMORY = 86
"""Exit code of a worker that found no memory."""
_MEMORY_IS_LIMITED = sys.platform == "linux"
"""Elsewhere the system does not tell how much address space a process has, or does not limit it."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a worker may take."""

    cpu_s: float
    """CPU time for one item."""
    wall_s: float
    """Time for one item, waiting included."""
    memory_bytes: int
    """Address space, while it is at an item, beyond what it began with. Linux only."""


@dataclass(frozen=True)
class GivenUp:
    """Stands for what an item would have given."""

    cause: str
    """At most CAUSE_CHARACTERS_MAX characters, one line."""


class Items(Generic[Part]):
    """A worker's word with its parent about the items of its task, which have numbers from 0."""

    def __init__(
        self, limits: Limits, cell: MutableSequence[int], failed: Mapping[int, str], parts: Sequence[Part]
    ) -> None:
        """Made when the worker begins. `cell` is shared with the parent."""
        self.parts = parts
        """What earlier workers of the task have yielded."""
        self._limits = limits
        self._cell = cell
        self._failed = failed
        self._memory = _address_space(limits.memory_bytes)
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)

    def attempt(self, item: int, function: Callable[[Argument], Value], argument: Argument) -> Value | GivenUp:
        """Return `function(argument)`, called under the limits, or why the item is given up.

        A CrawlError or OSError is no fault of the item and is raised. Any other exception is the item's end; out of
        memory, it is the end of the process.
        """
        if item in self._failed:
            return GivenUp(self._failed[item])
        self._begin(item)
        try:
            return function(argument)
        except (CrawlError, OSError):
            raise
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        except Exception as error:  # noqa: BLE001  # the item is told with its cause
            return GivenUp(" ".join(f"{type(error).__name__}: {error}".split())[:CAUSE_CHARACTERS_MAX])
        finally:
            self._end()

    def _begin(self, item: int) -> None:
        self._cell[0] = item
        signal.setitimer(signal.ITIMER_PROF, self._limits.cpu_s)
        signal.setitimer(signal.ITIMER_REAL, self._limits.wall_s)
        if self._memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, self._memory.inside)

    def _end(self) -> None:
        if self._memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, self._memory.outside)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._cell[0] = _NOWHERE


Work = Callable[[Task, Control, Items[Part]], Iterator[Part]]
"""What a worker does: it yields the parts of its result, and begins behind those that earlier workers have yielded."""


def run_isolated(
    work: Work[Task, Part], tasks: Sequence[Task], *, parallel: int, limits: Limits, control: Control
) -> list[list[Part]]:
    """Run `work(task, control, items)` for each task in a process of its own, at most `parallel` at once.

    Returns what each has yielded, in the order of the tasks. Errors and requests to stop are as in `run_partitions`.
    """
    assignments: list[_Assignment[Task, Part]] = [_Assignment(work, task, limits) for task in tasks]
    run_partitions(_work, assignments, parallel=parallel, control=control, keeper=_Supervisor())
    return [assignment.parts for assignment in assignments]


class _Assignment(Generic[Task, Part]):
    """A task, and what is known of it from one worker to the next: each gets a copy, and shares the cell."""

    def __init__(self, work: Work[Task, Part], task: Task, limits: Limits) -> None:
        self.work = work
        self.task = task
        self.limits = limits
        self.cell: MutableSequence[int] = CONTEXT.RawArray("q", [_NOWHERE])
        self.failed: dict[int, str] = {}
        self.parts: list[Part] = []
        self.deaths: Counter[int] = Counter()


class _Supervisor(Keeper[_Assignment[Any, Any]]):
    """Keeps the parts, and replaces workers that died at an item."""

    def take(self, task: _Assignment[Any, Any], part: object) -> None:
        task.parts.append(part)

    def replaces(self, task: _Assignment[Any, Any], exit_code: int | None) -> bool:
        item = task.cell[0]
        if item == _NOWHERE:
            return False
        task.cell[0] = _NOWHERE
        task.deaths[item] += 1
        if exit_code == -signal.SIGPROF or task.deaths[item] == DEATHS_MAX:
            task.failed[item] = _cause(task.limits, exit_code)
        return True


def _work(assignment: _Assignment[Task, Part], control: Control) -> None:
    items = Items(assignment.limits, assignment.cell, assignment.failed, assignment.parts)
    for part in assignment.work(assignment.task, control, items):
        control.hand_over(part)


def _cause(limits: Limits, exit_code: int | None) -> str:
    """Say what became of a worker, as the end of a sentence about the item."""
    if exit_code == -signal.SIGPROF:
        return f"took more than {limits.cpu_s:g} s of CPU time"
    if exit_code == -signal.SIGALRM:
        return f"took longer than {limits.wall_s:g} s"
    if exit_code == _OUT_OF_MEMORY:
        return f"needed more than {limits.memory_bytes / 1e6:,.0f} MB of memory"
    if exit_code is not None and exit_code < 0:
        return f"its process was killed by {signal.Signals(-exit_code).name}"
    return f"its process ended with exit code {exit_code}"


@dataclass(frozen=True)
class _AddressSpace:
    """The limits of a process, soft and hard, at an item and between items."""

    inside: tuple[int, int]
    outside: tuple[int, int]


def _address_space(more_bytes: int) -> _AddressSpace | None:
    """Return the limits that leave this process so much more than it has; None where that cannot be limited."""
    if not _MEMORY_IS_LIMITED:
        return None
    soft, hard = outside = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    wanted = pages * resource.getpagesize() + more_bytes
    limits = [limit for limit in (soft, wanted) if limit != resource.RLIM_INFINITY]
    return _AddressSpace((min(limits), hard), outside)
