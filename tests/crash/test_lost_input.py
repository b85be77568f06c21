"""What was lost or damaged between two steps ends the next one with a name and nothing written."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import plyvel
import pytest

from batchcrawl.store import keys
from batchcrawl.store.update_mark import Mark
from tests.crash.conftest import Stages
from tests.support.crawling import BORN_AT, ROUNDS, Crawling, clock_of

AT = clock_of(ROUNDS)


def lose(path: Path) -> None:
    path.unlink()


def lose_last_line(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def change(path: Path) -> None:
    """Change one digit, so that every line can still be read."""
    text = path.read_text()
    at = text.index('"depth":') + len('"depth":') if '"depth":' in text else text.index(".")
    path.write_text(text[:at] + ("7" if text[at] != "7" else "8") + text[at + 1 :])


LOGS = ("fetch/0.jsonl", "fetch/1.hosts.jsonl")
LOG_DAMAGE = [(name, damage) for name in LOGS for damage in (lose, lose_last_line, cut, empty)]
WARC_DAMAGE = [("fetch/0-00000.warc.gz", damage) for damage in (lose, cut, empty)]
PARSED = ("parse/0-00000.pages.jsonl.zst", "parse/1-00000.links-0.jsonl.zst")
PARSE_DAMAGE = [(name, damage) for name in PARSED for damage in (lose, cut, empty)]


@pytest.mark.parametrize(
    ("step", "name", "damage"),
    [
        *(("parse", *case) for case in (*LOG_DAMAGE, *WARC_DAMAGE, ("fetch/0.jsonl", change))),
        *(("update", *case) for case in (*LOG_DAMAGE, *PARSE_DAMAGE, ("fetch/0.jsonl", change))),
    ],
)
def test_a_step_refuses_input_that_is_not_what_was_written(
    step: str, name: str, damage: Callable[[Path], None], stage: Stages
) -> None:
    crawling = stage.before(step)
    path = crawling.segments()[-1].path / name
    damage(path)
    said = refused(crawling, step)
    assert said.startswith(f"batchcrawl: {path}")
    assert said.endswith("; restore it from a copy; 'batchcrawl check JOB' shows the extent\n")


@pytest.mark.parametrize(("step", "name"), [("parse", "fetch/0.jsonl"), ("update", "fetch/1.hosts.jsonl")])
def test_a_manifest_that_does_not_tell_of_a_file_is_corrupt(step: str, name: str, stage: Stages) -> None:
    crawling = stage.before(step)
    path = crawling.segments()[-1].paths.manifest
    manifest = msgspec.json.decode(path.read_bytes())
    del manifest["files"][name]
    path.write_bytes(msgspec.json.encode(manifest))
    assert f"segment.json: nothing is said of the file {name}" in refused(crawling, step)


@pytest.mark.parametrize("name", ["seed_hosts.txt", "seed_domains.txt"])
def test_parse_does_not_go_on_without_the_names_that_make_the_scope(name: str, stage: Stages) -> None:
    crawling = stage.before("parse")
    (crawling.data / name).unlink()
    assert f"{name} is missing" in refused(crawling, "parse")
    assert not (crawling.data / name).exists()


@pytest.mark.parametrize("step", ["generate", "update"])
def test_a_partition_that_is_gone_is_named(step: str, stage: Stages) -> None:
    crawling = stage.before(step)
    shutil.rmtree(crawling.data / "crawldb" / "1")
    end = crawling.run(step, at=AT)
    assert (end.code, "crawldb/1 is missing" in end.said) == (6, True), end.said


def test_update_refuses_a_crawldb_that_has_lost_the_leases(stage: Stages) -> None:
    crawling = stage.before("update")
    older = stage.undisturbed.root / "generate" / "data" / "web" / "crawldb"
    shutil.rmtree(crawling.data / "crawldb")
    shutil.copytree(older, crawling.data / "crawldb")
    assert "is not leased to it" in refused(crawling, "update")


def test_update_refuses_a_segment_of_another_crawl(newborn: Crawling, stage: Stages) -> None:
    newborn.must("inject", at=BORN_AT)
    foreign = max((stage.undisturbed.root / "update" / "data" / "web" / "segments").iterdir())
    shutil.copytree(foreign, newborn.data / "segments" / foreign.name)
    assert f"of segment {foreign.name} is not " in refused(newborn, "update")


def test_the_mark_of_a_segment_that_had_the_same_id_does_not_count(stage: Stages) -> None:
    crawling = stage.before("update")
    mark = Mark(segment="another", urls="ff" * 16, hosts="ff" * 8, done=True, counts={"fetched": 3})
    for p in (0, 1):
        db = plyvel.DB(str(crawling.data / "crawldb" / str(p)))
        db.put(keys.meta_key(f"update/{crawling.segments()[-1].id}"), msgspec.json.encode(mark))
        db.close()
    crawling.must("update", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert crawling.counts() == stage.undisturbed.counts()


@pytest.mark.parametrize("chunk_pages", [3, 25])
def test_chunks_of_another_size_from_before_a_change_of_the_job_are_kept(chunk_pages: int, stage: Stages) -> None:
    crawling = stage.before("parse")
    assert crawling.run("parse", at=AT, failpoint="parse.links_written:3").code < 0
    job = crawling.root / "jobs" / "web.toml"
    text, changes = re.subn(r"chunk_pages = \d+", f"chunk_pages = {chunk_pages}", job.read_text())
    assert changes == 1
    job.write_text(text)
    crawling.must("parse", at=AT)
    crawling.must("update", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert crawling.counts() == stage.undisturbed.counts()


def refused(crawling: Crawling, step: str) -> str:
    """Run a step that must find damage and write nothing, and return what it said."""
    files, dump = crawling.files(), crawling.dump()
    end = crawling.run(step, at=AT)
    assert end.code == 6, end.said
    assert (crawling.files(), crawling.dump()) == (files, dump)
    return end.said
