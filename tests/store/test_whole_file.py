import gzip
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlLocked
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
