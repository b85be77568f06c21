"""Whatever is cut or changed of a crawl's files, `check` names it and `repair` has back what can be had."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import plyvel
import pytest

from batchcrawl.check import faults_of_segments
from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of

AT = clock_of(ROUNDS)
Damage = Callable[[Path, random.Random], None]


def flip(path: Path, choice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)
    path.write_bytes(data)


def cut(path: Path, choice: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: choice.randrange(len(data))])


def zero(path: Path, choice: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def lose(path: Path, choice: random.Random) -> None:
    path.unlink()


def test_any_change_of_any_file_of_a_segment_is_found_and_named(stage: Stages) -> None:
    crawling, choice = stage.before("end"), random.Random(7)
    crawl = crawling.opened()
    for segment in crawling.segments()[-1:]:
        assert list(faults_of_segments(crawl, [segment.id], deep=False)) == []
        for name in ("segment.json", *segment.manifest.files):
            path = segment.path / name
            whole = path.read_bytes()
            for damage in (flip, flip, cut, zero) if whole else ():
                damage(path, choice)
                told = list(faults_of_segments(crawl, [segment.id], deep=False))
                assert told, f"{damage.__name__} of {path}"
                assert any(line.startswith(str(path)) for line in told)
                path.write_bytes(whole)


def leveldb_files(crawling: Crawling) -> dict[str, list[Path]]:
    """Return the files of a partition's database by their kinds."""
    folder = crawling.data / "crawldb" / "0"
    return {
        "CURRENT": [folder / "CURRENT"],
        "MANIFEST": list(folder.glob("MANIFEST-*")),
        "log": [path for path in folder.glob("*.log") if path.stat().st_size],
        "table": sorted(folder.glob("*.ldb")),
    }


@pytest.mark.parametrize(
    "damage", [flip, lose, *(pytest.param(damage, marks=pytest.mark.slow) for damage in (cut, zero))]
)
@pytest.mark.parametrize("kind", ["CURRENT", "MANIFEST", "log", "table"])
def test_a_damaged_file_of_leveldb_is_found_and_had_back_as_far_as_can_be(
    kind: str, damage: Damage, stage: Stages
) -> None:
    crawling, choice = stage.before("end"), random.Random(f"{kind} {damage.__name__}")
    for path in leveldb_files(crawling)[kind][-1:]:
        damage(path, choice)
    before = database(crawling)
    found = crawling.run("check", at=AT)
    assert database(crawling) == before, "check has changed something"
    if found.code == 0:  # what was hit is not needed: a filter, or what another file has as well
        assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
        return
    assert (found.code, str(crawling.data / "crawldb") in found.said) == (6, True), found.said
    mended = crawling.run("repair", at=AT)
    assert mended.code in (0, 6), mended.said
    if "--from-segments" in mended.said or crawling.run("check", at=AT).code:
        crawling.must("repair", "--from-segments", at=AT)
    crawling.must("check", at=AT)
    assert urls(crawling).keys() <= {row["url"] for row in undisturbed(stage)}
    crawling.run("round", at=AT + 86_400)
    crawling.must("check", at=AT)


def database(crawling: Crawling) -> dict[str, bytes]:
    folder = crawling.data / "crawldb"
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def undisturbed(stage: Stages) -> Iterator[dict[str, Any]]:
    return (row for row in map(msgspec.json.decode, stage.undisturbed.dump(ROUNDS)) if "url" in row)


def urls(crawling: Crawling) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in crawling.rows() if "url" in row}


@pytest.mark.parametrize("prefix", [b"r", b"t", b"s", b"d"])
def test_indexes_and_counts_are_made_anew_from_the_records(prefix: bytes, stage: Stages) -> None:
    crawling, choice = stage.before("end"), random.Random(3)
    for p in (0, 1):
        db = plyvel.DB(str(crawling.data / "crawldb" / str(p)))
        for key in list(db.iterator(prefix=prefix, include_value=False)):
            if choice.random() < 0.5:
                db.delete(key)
                if prefix != b"d":
                    db.put(key[:-3] + b"abc", b"")
        db.close()
    assert crawling.run("check", at=AT).code == (0 if prefix == b"d" else 6) or prefix == b"r"
    crawling.must("repair", at=AT)
    crawling.must("check", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)


def test_a_lost_host_is_made_again_and_counted(stage: Stages) -> None:
    crawling = stage.before("end")
    db = plyvel.DB(str(crawling.data / "crawldb" / "0"))
    key, value = next(db.iterator(prefix=b"h"))
    db.delete(key)
    db.close()
    assert "is missing" in crawling.run("check", at=AT).said
    assert "hosts made again, without what they had taught: 1" in crawling.must("repair", at=AT)
    crawling.must("check", at=AT)
    row = next(row for row in crawling.rows() if row.get("host_part") == key[1:].hex())
    assert sum(row["urls"].values()) > 0
    assert value


def test_a_record_that_cannot_be_read_is_lost_and_said_so(stage: Stages) -> None:
    crawling = stage.before("update")
    db = plyvel.DB(str(crawling.data / "crawldb" / "0"))
    key = next(key for key, value in db.iterator(prefix=b"u") if value[2] == 3)
    db.put(key, b"damaged")
    db.close()
    said = crawling.must("repair", at=AT)
    assert "URLs lost: 1" in said
    assert "URLs had back from fetch lists: 1" in said
    crawling.must("check", at=AT)
    crawling.must("update", at=AT)
    crawling.must("check", at=AT)
    assert urls(crawling).keys() == {row["url"] for row in undisturbed(stage)}


@pytest.mark.parametrize("step", ["fetch", "update", "end"])
def test_the_database_is_made_anew_from_the_segments(step: str, stage: Stages) -> None:
    crawling = stage.before(step)
    before = urls(crawling)
    shutil.rmtree(crawling.data / "crawldb")
    crawling.must("repair", "--from-segments", at=AT)
    crawling.must("check", at=AT)
    after = urls(crawling)
    assert after.keys() == before.keys()
    # A timer that had come due was moved, which the next generate does again; and seeds enter with the first segment.
    other = {"place", "level", "next_fetch_at", "first_seen_at"}
    differences = {
        (name, url)
        for url in before
        for name in before[url].keys() | after[url].keys()
        if before[url].get(name) != after[url].get(name)
    }
    assert {name for name, _ in differences} <= other
    if step != "end":
        crawling.must("round", at=AT)
        crawling.must("check", at=AT)


def test_what_segments_cannot_tell_is_said(stage: Stages) -> None:
    crawling = stage.before("end")
    first = crawling.segments()[0]
    flip(first.path / "fetch" / "0.jsonl", random.Random(1))
    said = crawling.must("repair", "--from-segments", at=AT)
    assert f"segment {first.id} is passed over: {first.path / 'fetch' / '0.jsonl'}" in said
    crawling.must("check", "--segment", crawling.segments()[1].id, at=AT)
    assert (crawling.data / "crawldb.damaged" / "0" / "CURRENT").exists()


@pytest.mark.parametrize(
    "point",
    [
        "file.renamed:2",
        "crawldb.committed:9",
        *(pytest.param(f"file.renamed:{hit}", marks=pytest.mark.slow) for hit in (1, 3)),
    ],
)
def test_a_repair_from_segments_that_was_killed_is_ended_by_the_same_command(point: str, stage: Stages) -> None:
    crawling = stage.before("end")
    before = urls(crawling)
    end = crawling.run("repair", "--from-segments", at=AT, failpoint=point)
    assert end.code != 0, end.said
    crawling.must("repair", "--from-segments", at=AT)
    crawling.must("check", at=AT)
    assert urls(crawling).keys() == before.keys()
    assert [path.name for path in crawling.data.glob(".crawldb*")] == []


@pytest.mark.parametrize("point", ["file.renamed:1", "file.renamed:2"])
def test_a_repair_that_was_killed_is_ended_by_the_same_command(point: str, stage: Stages) -> None:
    crawling = stage.before("end")
    (crawling.data / "crawldb" / "0" / "CURRENT").unlink()
    end = crawling.run("repair", at=AT, failpoint=point)
    assert end.code != 0, end.said
    crawling.must("repair", at=AT)
    crawling.must("check", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
