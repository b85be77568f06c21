from pathlib import Path

import pytest

from batchcrawl.store.disk import Disk
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut


def test_unsynced_bytes_are_forgotten(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    file = disk.open_append(tmp_path / "a")
    file.write(b"safe")
    file.sync()
    file.write(b"lost")
    disk.crash()
    assert (tmp_path / "a").read_bytes() == b"safe"


def test_a_name_is_forgotten_when_its_directory_was_not_synced(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    file = disk.open_new(tmp_path / "a")
    file.write(b"x")
    file.sync()
    disk.crash()
    assert not (tmp_path / "a").exists()


def test_a_rename_is_forgotten_when_its_directory_was_not_synced(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"content")
    disk = ForgetfulDisk(tmp_path)
    disk.calls.rename(tmp_path / "old", tmp_path / "new")
    disk.crash()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_writer_that_forgets_to_sync_before_the_rename_is_caught(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    file = disk.open_new(tmp_path / "a.tmp")
    file.write(b"content")
    disk.rename(tmp_path / "a.tmp", tmp_path / "a")
    disk.crash()
    assert (tmp_path / "a").read_bytes() == b""


def test_a_replaced_file_comes_back_when_the_rename_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").write_bytes(b"new")
    disk = ForgetfulDisk(tmp_path)
    disk.calls.rename(tmp_path / "b", tmp_path / "a")
    disk.crash(Keep.SOME, seed=1)
    assert (tmp_path / "a").read_bytes() in {b"old", b"new"}


def test_a_removed_tree_comes_back_when_its_removal_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(b"x")
    disk = ForgetfulDisk(tmp_path)
    disk.calls.unlink(tmp_path / "folder" / "a")
    disk.calls.rmdir(tmp_path / "folder")
    disk.crash()
    assert (tmp_path / "folder" / "a").read_bytes() == b"x"


@pytest.mark.parametrize("seed", range(20))
def test_some_of_the_unsynced_bytes_are_a_prefix_or_zeros(tmp_path: Path, seed: int) -> None:
    disk = ForgetfulDisk(tmp_path)
    file = disk.open_append(tmp_path / "a")
    file.write(b"safe")
    file.sync()
    file.write(b"lost")
    disk.crash(Keep.SOME, seed=seed)
    assert b"safelost".startswith((tmp_path / "a").read_bytes().rstrip(b"\0"))
    assert (tmp_path / "a").read_bytes().startswith(b"safe")


def test_the_power_can_be_cut_before_any_operation(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path, fail_at=3)
    with pytest.raises(PowerCut):
        disk.write_file(tmp_path / "a", b"x")
    assert disk.transcript == ["create a.tmp", "write a.tmp", "sync a.tmp"]


def test_nothing_happens_after_the_power_was_cut(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path, fail_at=1)
    with pytest.raises(PowerCut):
        disk.write_file(tmp_path / "a", b"x")
    with pytest.raises(PowerCut):
        disk.make_dir(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_everything_written_survives_a_kill(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.open_append(tmp_path / "a").write(b"unsynced")
    disk.crash(Keep.EVERYTHING)
    assert (tmp_path / "a").read_bytes() == b"unsynced"


def test_it_leaves_the_same_files_as_the_real_disk(tmp_path: Path) -> None:
    for name, disk in (("real", Disk()), ("forgetful", None)):
        (tmp_path / name).mkdir()
        used = disk or ForgetfulDisk(tmp_path / name)
        used.make_dir(tmp_path / name / "a" / "b")
        used.write_file(tmp_path / name / "a" / "b" / "file", b"x")
        used.rename(tmp_path / name / "a", tmp_path / name / "c")
    paths = [{str(p.relative_to(tmp_path / n)) for p in (tmp_path / n).rglob("*")} for n in ("real", "forgetful")]
    assert paths[0] == paths[1] == {"c", "c/b", "c/b/file"}
