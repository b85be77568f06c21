"""The command that proves what a crawl holds finds what was changed, and nothing in a crawl that is sound."""

import shutil
from collections.abc import Callable
from pathlib import Path

import plyvel
import pytest

from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of

AT = clock_of(ROUNDS)


@pytest.mark.parametrize("step", ["generate", "fetch", "fetch-cut", "parse", "update", "end"])
@pytest.mark.parametrize("deep", [(), ("--deep",)])
def test_a_sound_crawl_has_no_fault_at_any_step(step: str, deep: tuple[str, ...], stage: Stages) -> None:
    crawling = stage.before(step)
    segments = len(crawling.segments())
    assert crawling.must("check", *deep, at=AT) == f"check: no fault in 2 partitions and {segments} segments\n"


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [flip, Path.unlink])
@pytest.mark.parametrize(
    "name",
    [
        "fetchlist/0.jsonl.zst",
        "hosts/1.jsonl.zst",
        "fetch/0.jsonl",
        "fetch/1-00000.warc.gz",
        "parse/0-00000.pages.jsonl.zst",
    ],
)
def test_a_file_that_was_changed_or_lost_is_one_line(name: str, damage: Callable[[Path], None], stage: Stages) -> None:
    crawling = stage.before("end")
    segment = crawling.segments()[0]
    damage(segment.path / name)
    (line,) = faults(crawling)
    assert line.startswith(str(segment.path / name))
    assert faults(crawling, "--segment", segment.id) == [line]
    assert crawling.run("check", "--segment", crawling.segments()[1].id, at=AT).code == 0


def test_all_faults_are_told_and_not_the_first_alone(stage: Stages) -> None:
    crawling = stage.before("end")
    first, second, _ = crawling.segments()
    first.paths.manifest.write_bytes(b"{")
    (second.path / "fetch" / "0.jsonl").unlink()
    (crawling.data / "public_suffix_list.dat").unlink()
    shutil.rmtree(crawling.data / "crawldb" / "0")
    db = plyvel.DB(str(crawling.data / "crawldb" / "1"))
    key = next(db.iterator(prefix=b"t", include_value=False))
    db.delete(key)
    db.close()
    told = "\n".join(faults(crawling))
    for what in (
        "segment.json: ",
        "fetch/0.jsonl is missing",
        "public_suffix_list.dat is missing",
        "crawldb/0 is missing",
        f"crawldb/1: key t {key[1:].hex()}: the index entry of http",
    ):
        assert what in told
    assert told.count("\n") == 4


def test_a_segment_that_is_not_there_is_wrong_usage(stage: Stages) -> None:
    assert stage.before("end").run("check", "--segment", "20200101T000000Z", at=AT).code == 2


def faults(crawling: Crawling, *options: str) -> list[str]:
    """Run the command on a crawl with faults and return its lines."""
    end = crawling.run("check", *options, at=AT)
    assert end.code == 6, end.said
    return end.said.splitlines()
