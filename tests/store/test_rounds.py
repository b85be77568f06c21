from pathlib import Path

from batchcrawl.store.disk import Disk
from batchcrawl.store.rounds import round_of
from batchcrawl.store.segment import Manifest, Segment, StepInfo, write_manifest


def told(folder: Path, **steps: StepInfo) -> Manifest:
    """Write the manifest of a segment with some steps, and their stamps."""
    manifest = Manifest(
        format=1, id="x", job="a", created_at=100.0, partitions=1, duration_s=1.0, urls=9, hosts=2, steps=steps
    )
    write_manifest(Disk(), folder / "segment.json", manifest)
    for step in steps:
        (folder / f".{step}").touch()
    return manifest


def test_a_round_is_told_by_what_its_steps_have_left(tmp_path: Path) -> None:
    told(
        tmp_path,
        generated=StepInfo(ended_at=101.0),
        fetched=StepInfo(
            ended_at=111.0, counts={"fetched": 15, "not_modified": 5, "timeout": 1, "body_bytes": 77, "names_asked": 3}
        ),
        parsed=StepInfo(ended_at=113.0, counts={"links": 40}),
        updated=StepInfo(ended_at=114.0, counts={"new": 6}),
    )
    found = round_of(Segment(tmp_path))
    assert (found.pages, found.pages_per_s, found.body_bytes, found.links, found.new) == (20, 2.0, 77, 40, 6)
    assert found.outcomes == {"fetched": 15, "not_modified": 5, "timeout": 1}
    assert (found.seconds, found.duration_s) == ({"generate": 1.0, "fetch": 10.0, "parse": 2.0, "update": 1.0}, 14.0)
    assert found.why == "all done"


def test_a_round_that_is_not_done_says_what_comes_next_and_why_fetch_ended(tmp_path: Path) -> None:
    told(tmp_path, generated=StepInfo(ended_at=101.0))
    assert round_of(Segment(tmp_path)).why == "next is fetch"
    told(tmp_path, generated=StepInfo(ended_at=101.0), fetched=StepInfo(ended_at=111.0, reason="time limit"))
    assert round_of(Segment(tmp_path)).why == "time limit, next is parse"
