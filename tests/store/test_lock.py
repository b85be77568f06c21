import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlLocked, ExitCode
from batchcrawl.store.lock import CrawlLock

_HOLDER = """
import sys
from pathlib import Path
from batchcrawl.store.lock import CrawlLock
lock = CrawlLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_process_is_told_the_pid_of_the_first(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        with pytest.raises(CrawlLocked, match=rf"in use by process {process.pid};") as caught:
            CrawlLock(tmp_path / "lock").acquire()
        assert caught.value.exit_code is ExitCode.LOCKED


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with CrawlLock(tmp_path / "lock"):
            assert (tmp_path / "lock").read_text().split()[0] == str(os.getpid())


def test_a_stale_file_does_not_hinder(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("1 12345\n")
    with CrawlLock(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text().split()[0] == str(os.getpid())


def test_a_refused_process_leaves_the_name_of_the_holder(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        for _ in range(2):
            with pytest.raises(CrawlLocked, match=str(process.pid)):
                CrawlLock(tmp_path / "lock").acquire()


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    lock = CrawlLock(tmp_path / "lock")
    lock.acquire()
    lock.release()
    lock.release()
    with CrawlLock(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").read_text() == ""


def test_a_holder_whose_pid_now_belongs_to_another_process_is_said_to_have_ended(tmp_path: Path) -> None:
    with CrawlLock(tmp_path / "lock"):
        (tmp_path / "lock").write_text(f"{os.getpid()} 1\n")
        with pytest.raises(CrawlLocked, match=rf"process {os.getpid()}, now ended, left behind"):
            CrawlLock(tmp_path / "lock").acquire()


def test_a_holder_that_has_not_written_its_pid_yet_is_another_process(tmp_path: Path) -> None:
    with CrawlLock(tmp_path / "lock"):
        (tmp_path / "lock").write_text("")
        with pytest.raises(CrawlLocked, match="in use by another process"):
            CrawlLock(tmp_path / "lock").acquire()
