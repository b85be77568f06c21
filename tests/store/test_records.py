import hashlib
import subprocess
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import FRAME_BYTES, FileInfo, LineWriter, check_file, read_lines
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut


class Word(msgspec.Struct, omit_defaults=True):
    text: str
    number: int | None = None


def write(path: Path, words: list[Word]) -> FileInfo:
    with LineWriter(Disk(), path, Word) as writer:
        for word in words:
            writer.write(word)
        return writer.finish()


@settings(deadline=None)  # it waits for the device
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.jsonl.zst"
    words = [Word(text, number) for number, text in enumerate(texts)]
    assert write(path, words).lines == len(words)
    assert list(read_lines(path, Word)) == words


@settings(deadline=None)  # it waits for the device
@given(sizes=st.lists(st.sampled_from([1, 100, 5000, FRAME_BYTES]), max_size=6), times=st.sampled_from([1, 300]))
def test_lines_written_at_once_are_read_like_any(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], times: int
) -> None:
    directory = tmp_path_factory.mktemp("lines")
    words = [Word("x" * size, size) for size in sizes if size < FRAME_BYTES or times == 1] * times
    with LineWriter(Disk(), directory / "at-once", Word) as writer:
        writer.write_all(words)
        info = writer.finish()
    assert list(read_lines(directory / "at-once", Word)) == words
    assert info.lines == len(words)


def test_another_kind_of_line_is_refused_also_among_many(tmp_path: Path) -> None:
    with LineWriter(Disk(), tmp_path / "a", Word) as writer, pytest.raises(TypeError):
        writer.write_all([Word("a"), FileInfo(name="a", bytes=1, checksum="", lines=1)])


def test_zstdcat_shows_one_json_object_a_line(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl.zst", [Word("é\n"), Word("b", 2)])
    shown = subprocess.run(["zstdcat", tmp_path / "a.jsonl.zst"], capture_output=True, check=True).stdout
    assert shown.decode() == '{"text":"é\\n"}\n{"text":"b","number":2}\n'


def test_a_file_without_lines_is_a_valid_empty_one(tmp_path: Path) -> None:
    info = write(tmp_path / "a.jsonl.zst", [])
    assert subprocess.run(["zstdcat", tmp_path / "a.jsonl.zst"], capture_output=True, check=True).stdout == b""
    assert list(read_lines(tmp_path / "a.jsonl.zst", Word)) == []
    assert info.lines == 0


def test_the_info_tells_size_and_checksum_of_the_bytes_on_disk(tmp_path: Path) -> None:
    info = write(tmp_path / "a.jsonl.zst", [Word("a"), Word("b")])
    data = (tmp_path / "a.jsonl.zst").read_bytes()
    assert info == FileInfo(name="a.jsonl.zst", bytes=len(data), checksum=hashlib.sha256(data).hexdigest(), lines=2)


def test_a_large_file_has_frames_of_bounded_size_with_checksums(tmp_path: Path) -> None:
    line = Word("x" * 100_000)
    write(tmp_path / "a.jsonl.zst", [line] * 50)
    first = zstandard.get_frame_parameters((tmp_path / "a.jsonl.zst").read_bytes()[:18])
    assert FRAME_BYTES <= first.content_size < FRAME_BYTES + 100_020
    assert first.has_checksum
    assert list(read_lines(tmp_path / "a.jsonl.zst", Word)) == [line] * 50


def test_a_line_longer_than_a_frame_is_kept_whole(tmp_path: Path) -> None:
    words = [Word("a"), Word("x" * (3 * FRAME_BYTES)), Word("b")]
    write(tmp_path / "a.jsonl.zst", words)
    assert list(read_lines(tmp_path / "a.jsonl.zst", Word)) == words


def test_a_line_of_another_type_is_refused(tmp_path: Path) -> None:
    with (
        LineWriter(Disk(), tmp_path / "a", Word) as writer,
        pytest.raises(TypeError, match="FileInfo in a file of Word"),
    ):
        writer.write(FileInfo(name="", bytes=0, checksum="", lines=0))


def test_nothing_has_the_name_before_finish(tmp_path: Path) -> None:
    with LineWriter(Disk(), tmp_path / "a", Word) as writer:
        writer.write(Word("a"))
        assert not (tmp_path / "a").exists()


def test_an_abandoned_file_leaves_nothing(tmp_path: Path) -> None:
    writer = LineWriter(Disk(), tmp_path / "a", Word)
    writer.write(Word("a"))
    writer.abandon()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_failing_context_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), LineWriter(Disk(), tmp_path / "a", Word):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "a.tmp").write_bytes(b"leftover")
    write(tmp_path / "a", [Word("a")])
    assert list(read_lines(tmp_path / "a", Word)) == [Word("a")]


def test_the_content_is_synced_before_the_name_is_given(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    with LineWriter(disk, tmp_path / "a", Word) as writer:
        writer.write(Word("a"))
        writer.finish()
    assert disk.transcript == ["create a.tmp", "write a.tmp", "sync a.tmp", "rename a.tmp -> a", "sync_dir ."]


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("fail_at", range(1, 7))
def test_a_power_failure_leaves_the_whole_file_or_none(tmp_path: Path, fail_at: int, keep: Keep) -> None:
    disk = ForgetfulDisk(tmp_path, fail_at=fail_at)
    done = False
    try:
        with LineWriter(disk, tmp_path / "a", Word) as writer:
            writer.write(Word("a"))
            writer.finish()
            done = True
    except PowerCut:
        pass
    disk.crash(keep, seed=fail_at)
    if done or (tmp_path / "a").exists():
        assert list(read_lines(tmp_path / "a", Word)) == [Word("a")]


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    write(tmp_path / "whole", [Word("abc" * 20, number) for number in range(5)])
    data = (tmp_path / "whole").read_bytes()
    for size in range(len(data)):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(CorruptData, match="cut"):
            list(read_lines(tmp_path / "cut", Word))


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    write(tmp_path / "whole", [Word("abc" * 20, number) for number in range(5)])
    data = (tmp_path / "whole").read_bytes()
    for position in range(len(data)):
        (tmp_path / "bad").write_bytes(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])
        with pytest.raises(CorruptData, match="bad"):
            list(read_lines(tmp_path / "bad", Word))


def test_a_line_that_is_not_of_the_type_is_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(zstandard.compress(b'{"text":"a"}\n{"text":5}\n'))
    with pytest.raises(CorruptData, match=r"a: line 2 cannot be read: Expected `str`"):
        list(read_lines(tmp_path / "a", Word))


def test_a_last_line_without_an_end_is_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(zstandard.compress(b'{"text":"a"}\n{"text":"b"}'))
    with pytest.raises(CorruptData, match="line 2 has no end"):
        list(read_lines(tmp_path / "a", Word))


def test_a_file_of_another_size_or_content_fails_its_check(tmp_path: Path) -> None:
    info = write(tmp_path / "a", [Word("a")])
    check_file(tmp_path / "a", info)
    with pytest.raises(CorruptData, match="checksum"):
        check_file(tmp_path / "a", msgspec.structs.replace(info, checksum="0" * 64))
    with pytest.raises(CorruptData, match=f"has {info.bytes} bytes; 3 were written"):
        check_file(tmp_path / "a", msgspec.structs.replace(info, bytes=3))
