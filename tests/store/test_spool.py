import errno
import os
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlError, DiskFull
from batchcrawl.store.disk import Disk, SystemCalls
from batchcrawl.store.spool import Spool


class FullDisk(SystemCalls):
    """Takes so many bytes in all."""

    def __init__(self, room: int) -> None:
        self._room = room

    def write(self, fd: int, data: bytes | memoryview) -> int:
        taken = super().write(fd, data[: self._room])
        self._room -= taken
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return taken


def test_what_was_written_is_read_again_and_again_in_small_pieces(tmp_path: Path) -> None:
    data = os.urandom(300_000)
    file = Spool(Disk(), tmp_path, "0").new()
    for start in range(0, len(data), 70_000):
        file.write(data[start : start + 70_000])
    assert len(file) == len(data)
    for _ in range(2):
        pieces = list(file.pieces())
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) <= 65_536
    file.close()
    file.close()


def test_a_file_has_no_name_so_that_it_goes_with_its_process(tmp_path: Path) -> None:
    spool = Spool(Disk(), tmp_path, "0")
    files = [spool.new(), spool.new()]
    for number, file in enumerate(files):
        file.write(b"%d" % number)
    assert list(tmp_path.iterdir()) == []
    assert [b"".join(file.pieces()) for file in files] == [b"0", b"1"]
    for file in files:
        file.close()


def test_a_file_whose_process_was_killed_before_its_name_was_taken_away_is_removed_by_the_next(tmp_path: Path) -> None:
    for name in ("0-7.spool.tmp", "10-7.spool.tmp", "0-00000.warc.gz.open"):
        (tmp_path / name).write_bytes(b"")
    Spool(Disk(), tmp_path, "0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0-00000.warc.gz.open", "10-7.spool.tmp"]


def test_a_full_disk_is_told_at_the_write(tmp_path: Path) -> None:
    file = Spool(Disk(FullDisk(5)), tmp_path, "0").new()
    with pytest.raises(DiskFull):
        file.write(b"123456")
    file.close()


def test_where_the_name_cannot_be_taken_away_nothing_stays_open(tmp_path: Path) -> None:
    class Sticky(SystemCalls):
        def unlink(self, path: Path) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(CrawlError, match="Operation not permitted"):
        Spool(Disk(Sticky()), tmp_path, "0").new()
    assert len(os.listdir("/proc/self/fd")) == before
