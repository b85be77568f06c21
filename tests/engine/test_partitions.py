"""Real processes. They tell by their progress where they are, so nobody has to sleep."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import batchcrawl
from batchcrawl.engine.child import CONTEXT
from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData, CrawlError, DiskFull, ExitCode, InternalError, Interrupted
from tests.support.in_process import FORKING
from tests.support.waiting import PATIENCE_S, wait_for_stop


def when(reached: Callable[[Progress], bool], then: Callable[[Control, Progress], None]) -> Control:
    """Return a control that does something once, when the progress has come so far."""
    done = False

    def on_progress(progress: Progress) -> None:
        nonlocal done
        if not done and reached(progress):
            done = True
            then(control, progress)

    control = Control(on_progress)
    return control


def double(number: int, control: Control) -> int:
    return 2 * number


@pytest.mark.parametrize("parallel", [1, 2, 9])
def test_results_come_in_the_order_of_the_tasks(parallel: int) -> None:
    assert run_partitions(double, [3, 1, 2], parallel=parallel, control=Control()) == [6, 2, 4]


def test_a_later_task_that_ends_first_keeps_its_place() -> None:
    def first_waits(number: int, control: Control) -> int:
        if number == 0:
            wait_for_stop(control)
        else:
            control.report(Progress(done=10))
        return number

    control = when(lambda progress: progress.done == 11, lambda control, _: control.stop())
    assert run_partitions(first_waits, [0, 1], parallel=2, control=control) == [0, 1]


def test_no_tasks_give_no_results() -> None:
    assert run_partitions(double, [], parallel=2, control=Control()) == []


def test_each_task_has_a_process_of_its_own() -> None:
    def pid(_: int, control: Control) -> int:
        return os.getpid()

    assert len({*run_partitions(pid, [1, 2, 3], parallel=1, control=Control()), os.getpid()}) == 4


def test_no_more_run_at_once_than_asked_for() -> None:
    def show(_: int, control: Control) -> None:
        control.report(Progress(active_hosts=1))
        control.report(Progress(active_hosts=0))

    seen: list[int] = []
    control = Control(lambda progress: seen.append(progress.active_hosts))
    run_partitions(show, range(6), parallel=2, control=control)
    assert max(seen) <= 2


def test_progress_is_summed_over_all_tasks() -> None:
    def report(number: int, control: Control) -> None:
        control.report(Progress(done=number, total=10, body_bytes=100))

    told: list[Progress] = []
    run_partitions(report, [1, 2, 4], parallel=2, control=Control(told.append))
    assert told[-1] == Progress(done=7, total=30, body_bytes=300)


def test_an_error_comes_back_with_its_kind_and_words() -> None:
    def fail(_: int, control: Control) -> None:
        raise CorruptData("/x: damaged at byte 7")

    with pytest.raises(CorruptData, match=r"^/x: damaged at byte 7$") as raised:
        run_partitions(fail, [0], parallel=1, control=Control())
    assert raised.value.exit_code is ExitCode.CORRUPT


def stop_or_fail(number: int, control: Control) -> None:
    if number == 1:
        raise DiskFull("no space left")
    wait_for_stop(control)
    raise Interrupted("interrupted")


def test_the_error_of_one_stops_the_others_and_is_the_one_that_is_raised() -> None:
    with pytest.raises(DiskFull):
        run_partitions(stop_or_fail, [0, 1, 2], parallel=3, control=Control())


def test_the_error_of_one_makes_none_drop_what_is_in_flight_that_winds_down_already() -> None:
    seen = CONTEXT.SimpleQueue()

    def wind_down_or_fail(number: int, control: Control) -> None:
        if number == 1:
            raise DiskFull("no space left")
        control.wind_down()
        wait_for_stop(control, times=2)
        seen.put(control.dropping)

    with pytest.raises(DiskFull):
        run_partitions(wind_down_or_fail, [0, 1], parallel=2, control=Control())
    assert not seen.get()


def test_after_an_error_no_task_is_begun(tmp_path: Path) -> None:
    def note(number: int, control: Control) -> None:
        (tmp_path / str(number)).touch()
        if number == 1:
            raise CrawlError("enough")

    with pytest.raises(CrawlError, match="enough"):
        run_partitions(note, range(5), parallel=1, control=Control())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_a_request_to_stop_is_passed_on_to_all() -> None:
    def wait(number: int, control: Control) -> str:
        wait_for_stop(control)
        return f"{number} {control.stopping} {control.dropping}"

    control = when(lambda progress: progress.done == 2, lambda control, _: control.stop())
    assert run_partitions(wait, [0, 1], parallel=2, control=control) == ["0 True False", "1 True False"]


def test_a_second_request_is_passed_on_as_one_to_drop() -> None:
    def wait(_: int, control: Control) -> bool:
        wait_for_stop(control, times=2)
        return control.dropping

    def stop_twice(control: Control, _: Progress) -> None:
        control.stop()
        control.stop()

    control = when(lambda progress: progress.done == 2, stop_twice)
    assert run_partitions(wait, [0, 1], parallel=2, control=control) == [True, True]


def test_a_task_that_begins_after_the_request_hears_of_it() -> None:
    def wait(_: int, control: Control) -> bool:
        wait_for_stop(control)
        return control.stopping

    control = Control()
    control.stop()
    assert run_partitions(wait, [0, 1, 2], parallel=1, control=control) == [True, True, True]


def test_a_process_that_is_killed_is_an_error_that_says_so_and_stops_the_others() -> None:
    def tell_pid(number: int, control: Control) -> None:
        control.report(Progress(done=1, body_bytes=os.getpid() if number == 0 else 0))
        stopped = threading.Event()
        control.on_stop(stopped.set)
        assert control.stopping or stopped.wait(PATIENCE_S)

    control = when(
        lambda progress: progress.done == 2, lambda _, progress: os.kill(progress.body_bytes, signal.SIGKILL)
    )
    with pytest.raises(CrawlError, match="a worker process was killed by SIGKILL; run the same command again"):
        run_partitions(tell_pid, [0, 1], parallel=2, control=control)


def test_a_process_that_exits_by_itself_is_an_error_that_names_its_code() -> None:
    def leave(_: int, control: Control) -> None:
        os._exit(7)

    with pytest.raises(CrawlError, match=r"a worker process died \(exit code 7\)"):
        run_partitions(leave, [0], parallel=1, control=Control())


def test_a_bug_in_a_step_comes_back_as_one_line_with_its_traceback_beside_it(capfd: pytest.CaptureFixture[str]) -> None:
    def blunder(_: int, control: Control) -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    with pytest.raises(InternalError) as caught:
        run_partitions(blunder, [0], parallel=1, control=Control())
    assert str(caught.value) == "internal error: ZeroDivisionError: a bug of two lines; please report it"
    assert "in blunder" in caught.value.trace
    assert capfd.readouterr() == ("", "")


def test_a_result_that_cannot_be_sent_is_an_internal_error() -> None:
    with pytest.raises(InternalError):
        run_partitions(lambda _, control: threading.Lock(), [0], parallel=1, control=Control())


def test_an_error_of_the_system_comes_back_with_the_file_it_names(tmp_path: Path) -> None:
    def open_it(path: Path, control: Control) -> bytes:
        return path.read_bytes()

    with pytest.raises(FileNotFoundError) as caught:
        run_partitions(open_it, [tmp_path / "none"], parallel=1, control=Control())
    assert os.fspath(caught.value.filename) == str(tmp_path / "none")


def test_an_error_of_a_library_that_has_no_number_is_an_internal_error() -> None:
    class TheirError(OSError):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(f"{one} and {two}")

    def fail(_: int, control: Control) -> None:
        raise TheirError(1, 2)

    with pytest.raises(InternalError, match="internal error: TheirError: 1 and 2; please report it"):
        run_partitions(fail, [0], parallel=1, control=Control())


def test_signals_from_the_terminal_are_left_to_the_parent() -> None:
    def survive(_: int, control: Control) -> str:
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return "alive"

    assert run_partitions(survive, [0], parallel=1, control=Control()) == ["alive"]


@pytest.mark.parametrize("function", [double, stop_or_fail])
def test_no_process_is_left_behind(function: Callable[[int, Control], object]) -> None:
    with suppress(DiskFull):
        run_partitions(function, [0, 1, 2], parallel=3, control=Control())
    assert multiprocessing.active_children() == []


_PARENT = """
import os, sys, threading
from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions

def work_for_ever(number, control):
    os.write(1, f"{os.getpid()}\\n".encode())
    control.report(Progress(done=1))
    threading.Event().wait()

def on_progress(progress):
    if progress.done == 3 and sys.argv[1] == "fails":
        raise RuntimeError("the parent's own")

run_partitions(work_for_ever, [0, 1, 2], parallel=3, control=Control(on_progress))
"""


@contextmanager
def parent(how: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a parent of three children that never end; all four hold stdout open."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command, pipe = [sys.executable, "-c", _PARENT, how], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, start_new_session=True) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # whoever is left, after a test that failed
                os.killpg(process.pid, signal.SIGKILL)


def test_the_children_of_a_killed_parent_leave() -> None:
    with parent("is killed") as process:
        assert process.stdout is not None
        pids = [int(process.stdout.readline()) for _ in range(3)]
        process.kill()
        rest, _ = process.communicate(timeout=PATIENCE_S)  # ends with the last process that holds stdout
    assert len(set(pids)) == 3
    assert rest == b""


def test_the_children_of_a_parent_that_fails_leave() -> None:
    with parent("fails") as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert len(out.split()) == 3
    assert b"the parent's own" in err


def test_tests_know_every_module_that_runs_partitions() -> None:
    package = Path(batchcrawl.__file__).parent
    modules = {".".join(path.relative_to(package).with_suffix("").parts): path for path in package.rglob("*.py")}
    forking = {
        name
        for name, path in modules.items()
        if re.search(r"^from .* import .*\brun_partitions\b", path.read_text(), re.M)
    }
    assert forking == {*FORKING, "engine.isolated"}
