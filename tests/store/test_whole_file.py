import gzip
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlError, CrawlLocked, Interrupted
from batchcrawl.store.disk import Disk
from batchcrawl.store.whole_file import WholeFile


def test_a_file_has_its_name_only_once_it_is_finished(tmp_path: Path) -> None:
    with WholeFile(Disk(), tmp_path / "a") as file:
        file.write(b"some ")
        file.write(b"bytes")
        assert [path.name for path in tmp_path.iterdir()] == ["a.tmp"]
        file.finish()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"some bytes")]


def test_what_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with WholeFile(Disk(), tmp_path / "a") as file:
        file.write(b"bytes")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_has_left_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.gz.tmp").write_bytes(b"left")
    with WholeFile(Disk(), tmp_path / "a.gz") as file:
        file.write(b"bytes")
        file.finish()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"bytes"


def test_two_writers_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    with WholeFile(Disk(), tmp_path / "a"), pytest.raises(CrawlLocked):
        WholeFile(Disk(), tmp_path / "a")


def interrupted(file: WholeFile, data: bytes) -> None:
    with file:
        file.write(data)
        raise Interrupted("stop")


@pytest.mark.parametrize("name", ["a", "a.gz", "a.zst"])
def test_who_goes_on_behind_what_was_kept_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    def write(path: Path, *, cut: bool) -> bytes:
        file = WholeFile(Disk(), path)
        file.write(b"first " * 1000)
        kept = file.keep()
        if cut:
            with pytest.raises(Interrupted):
                interrupted(file, b"of what is cut " * 100_000)
            file = WholeFile(Disk(), path, kept_bytes=kept)
        file.write(b"second " * 1000)
        file.finish()
        return path.read_bytes()

    for folder in ("cut", "whole"):
        (tmp_path / folder).mkdir()
    assert write(tmp_path / "cut" / name, cut=True) == write(tmp_path / "whole" / name, cut=False)
    assert [path.name for path in (tmp_path / "cut").iterdir()] == [name]


def test_what_was_interrupted_before_anything_was_kept_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        interrupted(WholeFile(Disk(), tmp_path / "a"), b"bytes")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_has_less_than_was_kept_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "a.tmp").write_bytes(b"left")
    with pytest.raises(CrawlError, match=r"has 4 of 9 bytes"):
        WholeFile(Disk(), tmp_path / "a", kept_bytes=9)
