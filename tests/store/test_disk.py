import errno
import os
import resource
import signal
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlError, CrawlLocked, DiskFull
from batchcrawl.store.disk import Disk, SystemCalls
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut


class FailingCalls(SystemCalls):
    """Fails every write or sync with the error number that is set, and takes few bytes at once."""

    def __init__(self) -> None:
        self.fails: int | None = None
        self.taken_max = 1 << 30

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.fails is not None:
            raise OSError(self.fails, os.strerror(self.fails))
        return super().write(fd, data[: self.taken_max])

    def fsync(self, fd: int) -> None:
        if self.fails is not None:
            raise OSError(self.fails, os.strerror(self.fails))
        super().fsync(fd)


def test_a_file_is_replaced_in_the_order_that_survives_a_power_failure(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.write_file(tmp_path / "a", b"content")
    assert disk.transcript == ["create a.tmp", "write a.tmp", "sync a.tmp", "rename a.tmp -> a", "sync_dir ."]


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("fail_at", range(1, 7))
def test_a_replaced_file_is_old_or_new_wherever_the_power_fails(tmp_path: Path, fail_at: int, keep: Keep) -> None:
    (tmp_path / "a").write_bytes(b"old")
    disk = ForgetfulDisk(tmp_path, fail_at=fail_at)
    done = False
    try:
        disk.write_file(tmp_path / "a", b"new")
        done = True
    except PowerCut:
        pass
    disk.crash(keep, seed=fail_at)
    assert (tmp_path / "a").read_bytes() in ({b"new"} if done else {b"old", b"new"})


def test_what_an_earlier_process_left_of_a_replacement_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.tmp").write_bytes(b"a long leftover")
    Disk().write_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_file_opened_to_append_has_a_durable_name(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.open_append(tmp_path / "a")
    disk.crash()
    assert (tmp_path / "a").exists()


def test_appending_goes_on_behind_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    file = Disk().open_append(tmp_path / "a")
    file.write(b"two")
    assert file.tell() == 6
    file.close()
    assert (tmp_path / "a").read_bytes() == b"onetwo"


def test_a_new_file_must_not_exist(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    with pytest.raises(CrawlError, match=r"a: File exists"):
        Disk().open_new(tmp_path / "a")


def test_a_write_that_the_system_takes_in_parts_is_completed(tmp_path: Path) -> None:
    calls = FailingCalls()
    calls.taken_max = 3
    file = Disk(calls).open_new(tmp_path / "a")
    file.write(b"0123456789")
    file.close()
    assert (tmp_path / "a").read_bytes() == b"0123456789"
    assert file.tell() == 10


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_names_path_free_and_needed_bytes(tmp_path: Path, number: int) -> None:
    calls = FailingCalls()
    file = Disk(calls).open_new(tmp_path / "a")
    calls.fails = number
    with pytest.raises(DiskFull, match=rf"{tmp_path}/a \([\d,]+ bytes free, 3 needed\)"):
        file.write(b"xyz")


def test_a_full_device_gives_disk_full(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(DiskFull):
        Disk().open_append(tmp_path / "full").write(b"x")


def test_any_other_failure_names_path_and_reason(tmp_path: Path) -> None:
    calls = FailingCalls()
    file = Disk(calls).open_new(tmp_path / "a")
    calls.fails = errno.EIO
    with pytest.raises(CrawlError, match=r"a: Input/output error"):
        file.sync()


def test_a_file_takes_nothing_after_a_failure(tmp_path: Path) -> None:
    calls = FailingCalls()
    file = Disk(calls).open_new(tmp_path / "a")
    calls.fails = errno.EIO
    with pytest.raises(CrawlError):
        file.sync()
    calls.fails = None
    with pytest.raises(CrawlError, match="Input/output error"):
        file.write(b"x")


def test_a_file_that_grows_too_big_is_an_error_and_no_signal(tmp_path: Path) -> None:
    file = Disk().open_new(tmp_path / "a")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(CrawlError, match="File too large"):
            file.write(b"x" * 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_truncated_file_is_durable(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    disk = ForgetfulDisk(tmp_path)
    disk.truncate(tmp_path / "a", 4)
    disk.crash()
    assert (tmp_path / "a").read_bytes() == b"0123"


def test_truncating_never_lengthens(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123")
    Disk().truncate(tmp_path / "a", 10)
    assert (tmp_path / "a").read_bytes() == b"0123"


def test_a_rename_between_directories_syncs_both(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.make_dir(tmp_path / "x")
    disk.make_dir(tmp_path / "y")
    disk.write_file(tmp_path / "x" / "a", b"1")
    disk.rename(tmp_path / "x" / "a", tmp_path / "y" / "a")
    disk.crash()
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == ["x", "y", "y/a"]


def test_a_directory_is_made_with_its_parents_and_durable(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.make_dir(tmp_path / "a" / "b" / "c")
    disk.crash()
    assert (tmp_path / "a" / "b" / "c").is_dir()


def test_a_directory_that_a_killed_process_made_becomes_durable(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.calls.mkdir(tmp_path / "a")
    disk.make_dir(tmp_path / "a")
    disk.crash()
    assert (tmp_path / "a").is_dir()


def test_removing_is_durable_and_may_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    disk = ForgetfulDisk(tmp_path)
    disk.remove(tmp_path / "a")
    disk.remove(tmp_path / "a")
    disk.crash()
    assert not (tmp_path / "a").exists()


def test_a_tree_is_removed_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_bytes(b"x")
    (tmp_path / "tree" / "a" / "b").mkdir(parents=True)
    (tmp_path / "tree" / "a" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "a" / "file").write_bytes(b"x")
    disk = Disk()
    disk.remove_tree(tmp_path / "tree")
    disk.remove_tree(tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (tmp_path / "outside" / "kept").exists()


def test_a_locked_file_cannot_be_locked_again(tmp_path: Path) -> None:
    one, two = Disk().open_append(tmp_path / "a"), Disk().open_append(tmp_path / "a")
    one.lock()
    with pytest.raises(CrawlLocked, match="a is being written"):
        two.lock()
    one.close()
    two.lock()
    two.close()


def test_a_closed_file_may_be_closed_again_and_not_written(tmp_path: Path) -> None:
    file = Disk().open_append(tmp_path / "a")
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.write(b"x")
