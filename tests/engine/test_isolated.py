"""Real processes that are killed, hang and run out of memory."""

import ctypes
import faulthandler
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from batchcrawl.engine.control import Control
from batchcrawl.engine.isolated import CAUSE_CHARACTERS_MAX, DEATHS_MAX, GivenUp, Items, Limits, run_isolated
from batchcrawl.errors import CorruptData, CrawlError, Interrupted

MB = 1_000_000
PATIENCE_S = 30
LIMITS = Limits(cpu_s=PATIENCE_S, wall_s=10 * PATIENCE_S, memory_bytes=200 * MB)
ITEMS = 10
PART_ITEMS = 3
Visit = Callable[[int], None]


def visiting(visit: Visit) -> Callable[[object, Control, Items[list[str]]], Iterator[list[str]]]:
    """Return the work of visiting ITEMS items in parts of PART_ITEMS, which says of each what became of it."""

    def work(_: object, control: Control, items: Items[list[str]]) -> Iterator[list[str]]:
        faulthandler.disable()  # pytest's, which tells of every one that is killed
        for begin in range(len(items.parts) * PART_ITEMS, ITEMS, PART_ITEMS):
            control.raise_if_stopping()
            yield [one(item, items) for item in range(begin, min(begin + PART_ITEMS, ITEMS))]

    def one(item: int, items: Items[list[str]]) -> str:
        given = items.attempt(item, visit, item)
        return given.cause if isinstance(given, GivenUp) else "fine"

    return work


def told(visit: Visit, limits: Limits = LIMITS, control: Control | None = None) -> dict[int, str]:
    """Visit the items and return what became of those that are not fine."""
    (parts,) = run_isolated(visiting(visit), [None], parallel=1, limits=limits, control=control or Control())
    words = [word for part in parts for word in part]
    assert len(words) == ITEMS
    return {item: word for item, word in enumerate(words) if word != "fine"}


def hang_in_c() -> None:
    re.match(r"(a+)+b", "a" * 100)  # which would take years, and lets no other thread run


def visitor(deeds: dict[int, Callable[[], object]], notes: Path | None = None) -> Visit:
    """Return a visit that does something at some items, and notes before that it was there."""

    def visit(item: int) -> None:
        if notes is not None:
            with notes.open("a") as file:
                file.write(f"{item}\n")
        deeds.get(item, lambda: None)()

    return visit


def test_parts_come_in_the_order_of_the_tasks() -> None:
    def work(task: int, control: Control, items: Items[int]) -> Iterator[int]:
        yield task
        yield -task

    assert run_isolated(work, [3, 1], parallel=2, limits=LIMITS, control=Control()) == [[3, -3], [1, -1]]


@pytest.mark.parametrize(
    ("deed", "cause"),
    [
        (lambda: ctypes.string_at(0), "its process was killed by SIGSEGV"),
        (os.abort, "its process was killed by SIGABRT"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "its process was killed by SIGKILL"),
        (lambda: os._exit(0), "its process ended with exit code 0"),
        (lambda: bytearray(500 * MB), "needed more than 200 MB of memory"),
    ],
)
@pytest.mark.parametrize("item", [0, 4, ITEMS - 1])
def test_an_item_that_ends_its_worker_is_given_up_and_no_other(
    item: int, deed: Callable[[], object], cause: str
) -> None:
    assert told(visitor({item: deed})) == {item: cause}


def test_an_item_that_hangs_in_c_code_is_given_up_at_its_cpu_time(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    limits = replace(LIMITS, cpu_s=0.5)
    assert told(visitor({4: hang_in_c}, notes), limits) == {4: "took more than 0.5 s of CPU time"}
    assert notes.read_text().split().count("4") == 1


def test_an_item_that_waits_for_ever_is_given_up(tmp_path: Path) -> None:
    limits = replace(LIMITS, wall_s=1)
    assert told(visitor({4: signal.pause}), limits) == {4: "took longer than 1 s"}


def test_many_small_objects_are_too_much_memory_as_well() -> None:
    assert told(visitor({4: lambda: list(range(10**8))})) == {4: "needed more than 200 MB of memory"}


def test_an_item_that_ended_one_worker_only_is_not_to_blame(tmp_path: Path) -> None:
    def once() -> None:
        with suppress(FileExistsError):
            (tmp_path / "killed").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)

    assert told(visitor({5: once})) == {}
    assert (tmp_path / "killed").exists()


def test_every_item_may_end_its_worker() -> None:
    visits = visitor(dict.fromkeys(range(ITEMS), os.abort))
    assert told(visits) == dict.fromkeys(range(ITEMS), "its process was killed by SIGABRT")


def test_a_part_that_was_handed_over_is_not_made_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    told(visitor({5: os.abort}, notes))
    seen = [int(item) for item in notes.read_text().split()]
    first, second, rest = [0, 1, 2], [3, 4], list(range(6, ITEMS))
    assert seen == [*first, *([*second, 5] * DEATHS_MAX), *second, *rest]


def test_limits_hold_only_at_items() -> None:
    def work(_: object, control: Control, items: Items[int]) -> Iterator[int]:
        items.attempt(0, abs, 0)
        yield len(bytearray(250 * MB))
        yield int(signal.getitimer(signal.ITIMER_REAL)[0] + signal.getitimer(signal.ITIMER_PROF)[0])

    assert run_isolated(work, [None], parallel=1, limits=LIMITS, control=Control()) == [[250 * MB, 0]]


def test_a_worker_that_dies_between_items_is_an_error() -> None:
    def work(_: object, control: Control, items: Items[int]) -> Iterator[int]:
        items.attempt(0, abs, 0)
        os.kill(os.getpid(), signal.SIGKILL)
        yield 0

    with pytest.raises(CrawlError, match="a worker process was killed by SIGKILL; run the same command again"):
        run_isolated(work, [None], parallel=1, limits=LIMITS, control=Control())


@pytest.mark.parametrize("error", [CorruptData("/x: damaged at byte 7"), FileNotFoundError(2, "No such file", "/x")])
def test_an_error_of_the_machine_at_an_item_is_one_of_the_step(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error), match="/x"):
        told(visitor({4: fail}))


def test_an_exception_of_an_item_is_its_own_end_and_needs_no_new_worker(tmp_path: Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError("two\nlines " + "and more" * 100)

    (cause,) = told(visitor({4: fail}, tmp_path / "notes")).values()
    assert (tmp_path / "notes").read_text().split() == [str(item) for item in range(ITEMS)]
    assert cause.startswith("ZeroDivisionError: two lines and more")
    assert len(cause) == CAUSE_CHARACTERS_MAX


def test_a_request_to_stop_reaches_the_worker_that_replaces_another() -> None:
    control = Control()

    def work(_: object, own: Control, items: Items[int]) -> Iterator[int]:
        yield int(isinstance(items.attempt(0, os._exit, 1), GivenUp))
        stopped = threading.Event()
        own.on_stop(stopped.set)
        assert own.stopping or stopped.wait(PATIENCE_S)
        own.raise_if_stopping()

    control.stop()
    with pytest.raises(Interrupted):
        run_isolated(work, [None], parallel=1, limits=LIMITS, control=control)


def test_tasks_share_nothing() -> None:
    def leave(code: int) -> int:
        os._exit(code)

    def work(task: int, control: Control, items: Items[object]) -> Iterator[object]:
        yield items.attempt(0, leave if task % 2 else abs, task)

    given = [[0], [GivenUp("its process ended with exit code 1")], [2], [GivenUp("its process ended with exit code 3")]]
    assert run_isolated(work, [0, 1, 2, 3], parallel=2, limits=LIMITS, control=Control()) == given
    assert multiprocessing.active_children() == []


_PARENT = """
import os, re
from batchcrawl.engine.control import Control
from batchcrawl.engine.isolated import Limits, run_isolated

def hang(number, control, items):
    os.write(1, f"{os.getpid()}\\n".encode())
    yield items.attempt(0, re.compile("(a+)+b").match, "a" * 100)

limits = Limits(cpu_s=3600, wall_s=3600, memory_bytes=10**9)
run_isolated(hang, [0, 1, 2], parallel=3, limits=limits, control=Control())
"""


def test_workers_that_hang_in_c_code_do_not_outlive_a_killed_parent() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command, pipe = [sys.executable, "-c", _PARENT], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, env=environment, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            pids = [int(process.stdout.readline()) for _ in range(3)]
            process.kill()
            rest, _ = process.communicate(timeout=PATIENCE_S)  # ends with the last process that holds stdout
        finally:
            with suppress(ProcessLookupError):  # whoever is left, after a test that failed
                os.killpg(process.pid, signal.SIGKILL)
    assert (len(set(pids)), rest) == (3, b"")
