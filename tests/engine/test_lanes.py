"""Real processes, which meet at barriers: nobody has to sleep."""

import os
import subprocess
import sys
from typing import Any

import pytest

from batchcrawl.engine.child import CONTEXT
from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.lanes import Ended, Lanes
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CrawlError, NothingDue
from tests.support.waiting import PATIENCE_S, wait_for_stop


def all_ended(lanes: "Lanes[Any, Any]") -> list[Ended[Any, Any]]:
    """Listen until no lane is busy."""
    ended: list[Ended[Any, Any]] = []
    while lanes.busy:
        ended += lanes.listen()
    return ended


def test_two_tasks_run_at_once() -> None:
    barrier = CONTEXT.Barrier(2)

    def meet(number: int, _: Control) -> int:
        barrier.wait(PATIENCE_S)
        return number * 2

    with Lanes[int, int](meet) as lanes:
        lanes.start("a", 1)
        lanes.start("b", 2)
        assert lanes.busy == ["a", "b"]
        assert (lanes.task("a"), lanes.task("c")) == (1, None)
        assert sorted((ended.task, ended.result) for ended in all_ended(lanes)) == [(1, 2), (2, 4)]


def test_tasks_run_partitions_of_their_own_which_meet_across_the_lanes() -> None:
    barrier = CONTEXT.Barrier(4)

    def meet(number: int, _: Control) -> int:
        barrier.wait(PATIENCE_S)
        return number

    def double(number: int, control: Control) -> list[int]:
        return run_partitions(meet, [number, number + 1], parallel=2, control=control)

    with Lanes[int, list[int]](double) as lanes:
        lanes.start("a", 1)
        lanes.start("b", 10)
        assert sorted(ended.result or [] for ended in all_ended(lanes)) == [[1, 2], [10, 11]]


def test_an_error_comes_back_with_all_that_it_tells_and_the_other_lane_goes_on() -> None:
    barrier = CONTEXT.Barrier(2)

    def fail(number: int, _: Control) -> str:
        barrier.wait(PATIENCE_S)
        if number == 1:
            raise NothingDue("nothing is due", due_at=7.0)
        return "done"

    with Lanes[int, str](fail) as lanes:
        lanes.start("a", 1)
        lanes.start("b", 2)
        ended = {one.task: one for one in all_ended(lanes)}
    error = ended[1].error
    assert isinstance(error, NothingDue)
    assert (str(error), error.due_at, ended[2].result) == ("nothing is due", 7.0, "done")


def test_a_process_that_dies_is_an_error_that_says_so() -> None:
    with Lanes[int, None](lambda _, control: os._exit(9)) as lanes:
        lanes.start("a", 1)
        (ended,) = all_ended(lanes)
    assert isinstance(ended.error, CrawlError)
    assert str(ended.error) == "a worker process died (exit code 9); please report it"


def wait_in_partitions(times: int, control: Control) -> list[tuple[bool, bool]]:
    """Return what two partitions find once they were asked to stop so often."""

    def wait(_: int, control: Control) -> tuple[bool, bool]:
        wait_for_stop(control, times=times)
        return control.stopping, control.dropping

    return run_partitions(wait, [0, 1], parallel=2, control=control)


@pytest.mark.parametrize(("times", "found"), [(1, (True, False)), (2, (True, True))])
def test_a_request_to_stop_reaches_the_partitions_of_every_lane(times: int, found: tuple[bool, bool]) -> None:
    with Lanes[int, list[tuple[bool, bool]]](wait_in_partitions) as lanes:
        lanes.start("a", times)
        while lanes.progress("a") != Progress(done=2):
            assert lanes.listen() == []
        lanes.ask_to_stop(times)
        lanes.start("b", times)
        assert [ended.result for ended in all_ended(lanes)] == [[found, found]] * 2


_PARENT = """
import os, threading
from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.lanes import Lanes
from batchcrawl.engine.partitions import run_partitions

def work_for_ever(number, control):
    os.write(1, f"{os.getpid()}\\n".encode())
    threading.Event().wait()

def run(number, control):
    run_partitions(work_for_ever, [0, 1], parallel=2, control=control)

with Lanes(run) as lanes:
    lanes.start("a", 1)
    lanes.start("b", 2)
    while True:
        lanes.listen()
"""


def test_all_processes_leave_when_the_first_one_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command, pipe = [sys.executable, "-c", _PARENT], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, start_new_session=True) as process:
        assert process.stdout is not None
        pids = {int(process.stdout.readline()) for _ in range(4)}
        process.kill()
        rest, said = process.communicate(timeout=PATIENCE_S)  # ends with the last process that holds stdout
    assert (len(pids), rest, said) == (4, b"", b"")
