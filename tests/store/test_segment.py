import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData, CrawlError, UsageError, WrongOrder
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FORMAT_VERSION
from batchcrawl.store.layout import SEGMENT_ID, Layout
from batchcrawl.store.records import FileInfo, LineWriter
from batchcrawl.store.segment import (
    STEPS,
    FileEntry,
    Manifest,
    Segment,
    StepInfo,
    fetched_since,
    newest_needing,
    open_segment,
    read_manifest,
    require_turn,
    segment_id,
    segment_instant,
    write_manifest,
)
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut

ID = "20261130T101500Z"
LATER = "20261201T000000Z"
MANIFEST = Manifest(
    format=FORMAT_VERSION, id=ID, job="demo", created_at=1_796_033_700.5, partitions=2, duration_s=1800, urls=7, hosts=2
)
FILE = FileInfo(name="0.jsonl", bytes=10, checksum="ab" * 32, lines=3)


def made(root: Path, name: str = ID, *done: str) -> Segment:
    """Return a new segment with the stamps of some steps."""
    path = Layout(root).segment(name)
    path.mkdir(parents=True)
    write_manifest(Disk(), path / "segment.json", msgspec.structs.replace(MANIFEST, id=name))
    for step in done:
        (path / f".{step}").touch()
    return Segment(path)


@given(st.integers(0, 253_402_300_799))
def test_an_instant_is_found_in_its_id(instant: int) -> None:
    assert SEGMENT_ID.fullmatch(segment_id(instant))
    assert segment_instant(segment_id(instant)) == instant


@given(st.integers(0, 253_402_300_798), st.integers(1, 10**6))
def test_ids_sort_by_time(instant: int, more: int) -> None:
    assert segment_id(instant) < segment_id(min(instant + more, 253_402_300_799))


def test_the_lease_of_a_segment_is_the_instant_of_its_id(tmp_path: Path) -> None:
    assert made(tmp_path).lease == 1_796_033_700


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    full = msgspec.structs.replace(
        MANIFEST,
        steps={"fetched": StepInfo(ended_at=5.5, counts={"fetched": 3}, reason="time limit")},
        files={"fetch/0.jsonl": FileEntry.of(FILE)},
    )
    write_manifest(Disk(), tmp_path / "segment.json", full)
    assert read_manifest(tmp_path / "segment.json") == full


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format":1}', b'{"format":"x"}', b"\xff\xff"])
def test_a_damaged_manifest_is_corrupt_data(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "segment.json").write_bytes(data)
    with pytest.raises(CorruptData, match=r"segment\.json: "):
        read_manifest(tmp_path / "segment.json")


def test_a_missing_manifest_is_corrupt_data(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match=r"segment\.json"):
        read_manifest(tmp_path / "segment.json")


def test_a_newer_manifest_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    (tmp_path / "segment.json").write_bytes(b'{"format":2,"id":7}')
    with pytest.raises(CrawlError, match="format 2 is newer") as raised:
        read_manifest(tmp_path / "segment.json")
    assert type(raised.value) is CrawlError


def test_steps_are_needed_in_their_order(tmp_path: Path) -> None:
    segment, needed = made(tmp_path), []
    for step in STEPS:
        needed.append(segment.next_step())
        segment.finish(Disk(), step, StepInfo(ended_at=1.0), {})
    assert needed == ["generated", "fetched", "parsed", "updated"]
    assert segment.next_step() is None


def test_a_finished_step_leaves_its_counts_and_files(tmp_path: Path) -> None:
    segment = made(tmp_path)
    info = StepInfo(ended_at=9.0, counts={"fetched": 3})
    segment.finish(Disk(), "fetched", info, {"fetch/0.jsonl": FILE})
    again = Segment(segment.path)
    assert again.is_done("fetched")
    assert again.manifest.steps == {"fetched": info}
    assert again.manifest.files == {"fetch/0.jsonl": FileEntry(bytes=10, sha256="ab" * 32, lines=3)}


def with_lists(root: Path) -> Segment:
    """Return a segment of two partitions with the files that generate makes."""
    segment = made(root)
    files = {}
    for folder in ("fetchlist", "hosts"):
        for p in (0, 1):
            path = segment.path / folder / f"{p}.jsonl.zst"
            path.parent.mkdir(exist_ok=True)
            with LineWriter(Disk(), path, StepInfo) as lines:
                files[f"{folder}/{path.name}"] = lines.finish()
    segment.finish(Disk(), "generated", StepInfo(ended_at=1.0), files)
    return segment


def test_files_as_the_manifest_says_are_what_a_step_requires(tmp_path: Path) -> None:
    with_lists(tmp_path).require("fetchlist", "hosts", partitions=2)


def test_a_file_that_is_lost_or_of_another_length_is_named(tmp_path: Path) -> None:
    segment = with_lists(tmp_path)
    path = segment.path / "hosts" / "1.jsonl.zst"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(CorruptData, match=f"hosts/1.jsonl.zst has {size + 1} bytes; {size} were written; restore"):
        segment.require("hosts", partitions=2)
    path.unlink()
    with pytest.raises(CorruptData, match=r"hosts/1\.jsonl\.zst is missing"):
        segment.require("hosts", partitions=2)
    segment.require("fetchlist", partitions=2)


def test_the_manifest_of_another_crawl_or_segment_is_refused(tmp_path: Path) -> None:
    segment = with_lists(tmp_path)
    with pytest.raises(CorruptData, match=f"tells of segment {ID} in 2 partitions; expected {ID} in 3"):
        segment.require(partitions=3)
    moved = segment.path.rename(segment.path.with_name(LATER))
    with pytest.raises(CorruptData, match=f"expected {LATER} in 2"):
        Segment(moved).require(partitions=2)


def test_files_and_steps_that_the_manifest_lacks_are_corrupt_data(tmp_path: Path) -> None:
    segment = with_lists(tmp_path)
    del segment.manifest.files["hosts/1.jsonl.zst"]
    with pytest.raises(CorruptData, match=r"nothing is said of the file hosts/1\.jsonl\.zst"):
        segment.require("hosts", partitions=2)
    with pytest.raises(CorruptData, match="nothing is said of the step 'fetched'"):
        segment.step("fetched")


def test_segments_of_one_id_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    one, other = with_lists(tmp_path / "a"), with_lists(tmp_path / "b")
    assert one.content_name == other.content_name
    other.manifest.created_at += 0.5
    assert one.content_name != other.content_name


@pytest.mark.parametrize("keep", Keep)
def test_after_a_power_cut_a_step_is_done_only_with_its_counts(tmp_path: Path, keep: Keep) -> None:
    for number in range(1, 30):
        root = tmp_path / str(number)
        segment = made(root)
        disk = ForgetfulDisk(root, fail_at=number)
        try:
            segment.finish(disk, "generated", StepInfo(ended_at=9.0, counts={"urls": 3}), {})
        except PowerCut:
            disk.crash(keep, seed=number)
            after = Segment(segment.path)
            assert not after.is_done("generated") or after.manifest.steps["generated"].counts == {"urls": 3}
        else:
            disk.crash(keep, seed=number)
            assert Segment(segment.path).is_done("generated")
            return
    raise AssertionError("it never ends")


def test_a_segment_is_opened_by_its_id(tmp_path: Path) -> None:
    made(tmp_path)
    assert open_segment(Layout(tmp_path), ID).manifest.id == ID


@pytest.mark.parametrize("name", [LATER, "..", "", f".new-{ID}", "99999999T999999Z"])
def test_an_unknown_segment_is_a_mistake_that_names_the_newest(tmp_path: Path, name: str) -> None:
    made(tmp_path)
    with pytest.raises(UsageError, match=f"no segment {re.escape(name)} in .*; the newest is {ID}"):
        open_segment(Layout(tmp_path), name)


def test_without_any_segment_the_mistake_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is none yet"):
        open_segment(Layout(tmp_path), ID)


def test_the_newest_segment_that_needs_a_step_is_found(tmp_path: Path) -> None:
    made(tmp_path, ID, "generated")
    made(tmp_path, LATER, "generated")
    made(tmp_path, "20261202T000000Z", "generated", "fetched")
    found = {step: newest_needing(Layout(tmp_path), step) for step in STEPS}
    ids = {step: segment.id for step, segment in found.items() if segment is not None}
    assert ids == {"fetched": LATER, "parsed": "20261202T000000Z"}


def test_segments_that_were_fetched_and_not_yet_brought_in_when_one_was_made_are_found(tmp_path: Path) -> None:
    """The first was brought in before, the second after; the third is fetched, the fourth is not; one is newer."""
    ids = [segment_id(1_796_000_000 + number) for number in range(6)]
    made_at = MANIFEST.created_at
    for name, ended_at, done in [
        (ids[0], made_at - 1, STEPS),
        (ids[1], made_at + 1, STEPS),
        (ids[2], made_at - 5, STEPS[:2]),
        (ids[3], made_at - 5, STEPS[:1]),
        (ids[4], made_at, STEPS[:1]),
        (ids[5], made_at, STEPS[:2]),
    ]:
        segment = made(tmp_path, name)
        for step in done:
            segment.finish(Disk(), step, StepInfo(ended_at=ended_at), {})
    found = fetched_since(Layout(tmp_path), open_segment(Layout(tmp_path), ids[4]))
    assert [paths.root.name for paths in found] == ids[1:3]


def test_a_step_whose_turn_it_is_may_run_and_one_that_is_done_need_not(tmp_path: Path) -> None:
    segment = made(tmp_path, ID, "generated")
    assert require_turn(segment, "fetched", "demo") is True
    assert require_turn(segment, "generated", "demo") is False


def test_a_step_before_its_turn_is_told_the_command_that_comes_first(tmp_path: Path) -> None:
    segment = made(tmp_path, ID, "generated")
    with pytest.raises(WrongOrder, match=f"is not fetched yet; run 'batchcrawl fetch demo --segment {ID}' first"):
        require_turn(segment, "updated", "demo")
