"""An export that was killed goes on where it had come to, and in the end is what an undisturbed one is."""

import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of

AT = clock_of(ROUNDS)
ROWS = ("--fields", "all", "--duplicates", "--gone")
FORMS = {
    "pages.jsonl": ("--to", "jsonl", *ROWS),
    "pages.jsonl.zst": ("--to", "jsonl", *ROWS),
    "pages.csv.gz": ("--to", "csv", *ROWS),
    "pages.ndjson": ("--to", "bulk", *ROWS),
    "links.jsonl": ("--to", "links"),
    "nodes.jsonl": ("--to", "nodes"),
    "pages.db": ("--to", "sqlite", *ROWS),
    "all.warc.gz": ("--to", "warc", "--size", "20KB"),
}


@pytest.fixture
def crawling(stage: Stages) -> Crawling:
    return stage.before("end")


def folder(crawling: Crawling, name: str) -> Path:
    made = crawling.root / name
    made.mkdir()
    return made


def contents(folder: Path) -> dict[str, object]:
    """Return what each file holds: its bytes, or what a database tells of itself."""
    return {path.name: _content(path) for path in sorted(folder.iterdir())}


def _content(path: Path) -> object:
    if path.suffix != ".db":
        return path.read_bytes()
    db = sqlite3.connect(path)
    told = (list(db.iterdump()), db.execute("PRAGMA integrity_check").fetchall())
    db.close()
    return told


@pytest.mark.parametrize("name", FORMS)
def test_an_export_killed_at_each_place_that_it_keeps_is_the_undisturbed_one_in_the_end(
    name: str, crawling: Crawling
) -> None:
    words = FORMS[name]
    crawling.must("export", str(folder(crawling, "undisturbed") / name), *words, at=AT)
    target = folder(crawling, "killed") / name
    for _ in range(2):
        end = crawling.run("export", str(target), *words, at=AT, failpoint="export.kept")
        assert end.code == -signal.SIGKILL, end.said
        assert not target.exists()
    said = crawling.must("export", str(target), *words, at=AT)
    assert "of them were there from an export that was cut" in said
    assert contents(crawling.root / "killed") == contents(crawling.root / "undisturbed")


def test_of_another_export_to_the_same_file_nothing_is_gone_on_with(crawling: Crawling) -> None:
    target = folder(crawling, "killed") / "pages.jsonl"
    crawling.run("export", str(target), *FORMS["pages.jsonl"], at=AT, failpoint="export.kept")
    said = crawling.must("export", str(target), "--to", "jsonl", at=AT)
    assert "from an export that was cut" not in said
    assert target.read_text() == crawling.must("export", "--to", "jsonl", "-q", at=AT)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.db"])
def test_once_the_crawl_has_changed_an_export_begins_anew(name: str, crawling: Crawling) -> None:
    target = folder(crawling, "killed") / name
    assert crawling.run("export", str(target), *FORMS[name], at=AT, failpoint="export.kept").code < 0
    crawling.must("round", at=AT + 86_400)
    said = crawling.must("export", str(target), *FORMS[name], at=AT)
    assert "from an export that was cut" not in said
    crawling.must("export", str(folder(crawling, "undisturbed") / name), *FORMS[name], at=AT)
    assert contents(crawling.root / "killed") == contents(crawling.root / "undisturbed")


def test_an_export_whose_temporary_file_was_cut_or_is_gone_begins_anew(crawling: Crawling) -> None:
    words, target = FORMS["pages.jsonl.zst"], folder(crawling, "killed") / "pages.jsonl.zst"
    whole = crawling.must("export", "-", *words, "-q", at=AT)
    damages: list[Callable[[Path], object]] = [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:9])]
    for damage in damages:
        assert crawling.run("export", str(target), *words, at=AT, failpoint="export.kept").code < 0
        damage(target.with_name(target.name + ".tmp"))
        crawling.must("export", str(target), *words, at=AT)
        with zstandard.open(target, "rt", encoding="utf-8") as file:
            assert file.read() == whole
        shutil.rmtree(target.parent)
        target.parent.mkdir()
