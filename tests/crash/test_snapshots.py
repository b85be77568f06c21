"""A snapshot holds the crawl as it was, can be put back twice, and a kill leaves nothing half."""

import os
import signal

import pytest

from batchcrawl.snapshot import make_snapshot, restore_snapshot
from batchcrawl.store.disk import Disk, SystemCalls
from batchcrawl.store.lock import CrawlLock
from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, clock_of

AT = clock_of(ROUNDS)


@pytest.mark.parametrize("step", ["generate", "fetch-cut", "end"])
def test_a_crawl_is_put_back_twice_to_what_it_was(step: str, stage: Stages) -> None:
    crawling = stage.before(step)
    files, dump = crawling.files(), crawling.dump()
    crawling.must("snapshot", "kept", at=AT)
    for at in (AT, AT):
        crawling.run("round", at=at + (step == "end") * 86_400)
        assert crawling.files() != files
        crawling.must("restore", "kept", at=at)
        assert (crawling.files(), crawling.dump()) == (files, dump)
    crawling.must("check", at=AT)
    if step != "end":
        crawling.must("round", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert crawling.counts() == stage.undisturbed.counts()


def test_a_snapshot_takes_no_space_for_what_never_changes(stage: Stages) -> None:
    crawling = stage.before("end")
    assert crawling.must("snapshot", "kept", at=AT).startswith("snapshot: kept, of 2026-12-06T12:00:00Z: 3 segments, ")
    saved = crawling.data / "snapshots" / "kept"
    large = [path for path in saved.rglob("*") if path.suffix in {".gz", ".zst", ".ldb"}]
    assert len(large) > 20
    assert {path.stat().st_nlink for path in large} == {2}
    assert {path.stat().st_nlink for path in saved.rglob("*.log")} <= {1}


def test_where_no_link_can_be_made_the_files_are_copied(stage: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SystemCalls, source: object, target: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(SystemCalls, "link", refuse)
    crawling = stage.before("end")
    files, layout = crawling.files(), crawling.opened().layout
    make_snapshot(layout, "kept", disk=Disk(), now=AT)
    restore_snapshot(layout, "kept", disk=Disk())
    assert crawling.files() == files


@pytest.mark.parametrize("point", ["file.synced", "file.renamed:1", "file.renamed:2", "snapshot.visible"])
def test_a_snapshot_that_was_killed_is_whole_or_not_there(point: str, stage: Stages) -> None:
    crawling = stage.before("update")
    files, dump = crawling.files(), crawling.dump()
    assert crawling.run("snapshot", "kept", at=AT, failpoint=point).code == -signal.SIGKILL
    if "kept" in crawling.must("snapshots", at=AT):
        crawling.must("restore", "kept", at=AT)
    crawling.must("snapshot", "other", at=AT)
    assert [path.name for path in (crawling.data / "snapshots").glob(".*")] == []
    crawling.must("restore", "other", at=AT)
    assert (crawling.files(), crawling.dump()) == (files, dump)


@pytest.mark.parametrize(
    "point",
    [
        "file.synced",
        "restore.begun",
        "file.renamed:2",
        "file.renamed:5",
        *(pytest.param(f"file.renamed:{hit}", marks=pytest.mark.slow) for hit in (1, 3, 4, 6, 7)),
    ],
)
def test_a_restore_that_was_killed_has_done_nothing_or_is_ended_by_the_same_command(point: str, stage: Stages) -> None:
    crawling = stage.before("generate")
    files, dump = crawling.files(), crawling.dump()
    crawling.must("snapshot", "kept", at=AT)
    crawling.must("round", at=AT)
    assert crawling.run("restore", "kept", at=AT, failpoint=point).code == -signal.SIGKILL
    begun = (crawling.data / "restore.json").exists()
    end = crawling.run("status", at=AT)
    assert end.code == (2 if begun else 0), end.said
    if begun:
        assert f"'batchcrawl restore {crawling.data.name} NAME' goes on with it" in end.said
        assert crawling.run("inject", at=AT).code == 2
        assert "was cut" in crawling.run("restore", "other", at=AT).said
    else:
        assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    crawling.must("restore", "kept", at=AT)
    assert (crawling.files(), crawling.dump()) == (files, dump)
    assert not [path for path in crawling.data.iterdir() if path.name in {".restored", "restore.json"}]


@pytest.mark.parametrize("name", ["../x", ".new-x", "", "a/b"])
def test_a_name_that_leads_elsewhere_is_wrong_usage(name: str, stage: Stages) -> None:
    crawling = stage.before("end")
    crawling.must("snapshot", "kept", at=AT)
    assert crawling.run("restore", name, at=AT).code == 2
    assert name == "" or crawling.run("snapshot", name, at=AT).code == 2


def test_a_name_is_given_once_and_a_crawl_in_use_is_left_alone(stage: Stages) -> None:
    crawling = stage.before("end")
    crawling.must("snapshot", "kept", at=AT)
    assert crawling.run("snapshot", "kept", at=AT).code == 2
    with CrawlLock(crawling.data / "lock"):
        for words in (["snapshot"], ["restore", "kept"]):
            end = crawling.run(*words, at=AT)
            assert (end.code, f"in use by process {os.getpid()}" in end.said) == (5, True)


def test_a_crawl_that_lost_its_database_is_put_back(stage: Stages) -> None:
    crawling = stage.before("end")
    crawling.must("snapshot", "kept", at=AT)
    dump = crawling.dump()
    for path in (crawling.data / "crawldb" / "0").iterdir():
        path.unlink()
    (crawling.data / "crawl.toml").unlink()
    crawling.must("restore", "kept", at=AT)
    assert crawling.dump() == dump
