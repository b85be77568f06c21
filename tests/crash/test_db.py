"""The crawldb as lines, taken in by another crawl; and its compaction."""

import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batchcrawl.job.crawl import open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.show import dump
from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of
from tests.support.warm import Ended

AT = clock_of(ROUNDS)


def db(crawling: Crawling, *words: str, failpoint: str | None = None) -> Ended:
    return crawling.warm.run("db", *words, cwd=crawling.root, at=AT, failpoint=failpoint)


def copy_job(crawling: Crawling, *, partitions: int) -> None:
    text = (crawling.root / "jobs" / "web.toml").read_text()
    (crawling.root / "jobs" / "copy.toml").write_text(text.replace("partitions = 2", f"partitions = {partitions}"))


def rows_of(crawling: Crawling, job: str) -> dict[str, Any]:
    """Return the records of a crawl by their keys; the counts of a host are in no order."""
    crawl = open_crawl(load_job(job, cwd=crawling.root))
    rows = msgspec.json.decode(msgspec.json.encode(list(dump(crawl, duplicates=True))))
    return {next(iter(row.values())): row for row in rows}


@pytest.fixture
def exported(stage: Stages) -> Crawling:
    crawling = stage.before("generate")
    assert db(crawling, "export", "web", "all.jsonl").code == 0
    return crawling


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_another_crawl_takes_in_what_was_exported(partitions: int, exported: Crawling) -> None:
    copy_job(exported, partitions=partitions)
    end = db(exported, "import", "copy", "all.jsonl")
    assert (end.code, rows_of(exported, "copy")) == (0, rows_of(exported, "web"))
    checked = exported.warm.run("check", "copy", cwd=exported.root, at=AT)
    assert (checked.code, f"no fault in {partitions} partitions" in checked.said) == (0, True)
    again = db(exported, "export", "copy", "again.jsonl")
    assert again.code == 0
    assert (exported.root / "again.jsonl").read_bytes() == (exported.root / "all.jsonl").read_bytes()
    for name in ("seed_hosts.txt", "seed_domains.txt", "public_suffix_list.dat"):
        assert (exported.root / "data/copy" / name).read_bytes() == (exported.data / name).read_bytes()


def test_a_crawl_goes_on_from_an_import(exported: Crawling) -> None:
    copy_job(exported, partitions=3)
    assert db(exported, "import", "copy", "all.jsonl").code == 0
    for command in ("round", "check"):
        assert exported.warm.run(command, "copy", cwd=exported.root, at=AT).code == 0


@pytest.mark.parametrize("point", ["file.renamed:1", "crawldb.committed:1", "crawldb.commit:7", "file.renamed:5"])
def test_an_import_that_is_killed_begins_again(point: str, exported: Crawling) -> None:
    copy_job(exported, partitions=3)
    assert db(exported, "import", "copy", "all.jsonl", failpoint=point).code == -signal.SIGKILL
    end = exported.warm.run("inject", "copy", "http://a.test/", cwd=exported.root, at=AT)
    assert (end.code, "an import was cut" in end.said) == (2, True)
    assert db(exported, "import", "copy", "all.jsonl").code == 0
    assert rows_of(exported, "copy") == rows_of(exported, "web")
    assert not (exported.root / "data/copy/.importing").exists()


def test_urls_that_a_segment_has_may_be_taken_again_elsewhere(stage: Stages) -> None:
    crawling = stage.before("fetch")
    copy_job(crawling, partitions=1)
    db(crawling, "export", "web", "all.jsonl")
    leased = crawling.segments()[-1].manifest.urls
    assert f"{'were out in a segment':<22} {leased:>14,}" in db(crawling, "import", "copy", "all.jsonl").said
    assert not [row for row in rows_of(crawling, "copy").values() if row.get("place") == "leased"]


def test_nothing_is_exported_while_a_segment_is_half_applied(stage: Stages) -> None:
    crawling = stage.before("update")
    crawling.run("update", at=AT, failpoint="crawldb.committed:2")
    end = db(crawling, "export", "web", "all.jsonl")
    assert (end.code, "is half applied" in end.said) == (2, True)
    assert not list(crawling.root.glob("all.jsonl*"))


def test_a_crawl_that_is_there_takes_nothing_in(exported: Crawling) -> None:
    end = db(exported, "import", "web", "all.jsonl")
    assert (end.code, "is crawled already" in end.said) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"format":1', b'"format":2', "newer"),
        (b'"line":"crawl"', b'"line":"url"', "all.jsonl:1: "),
        (b'"status":"fetched"', b'"status":"lost"', "'LOST' is missing or not known"),
        (b'"depth":1', b'"depth":"x"', "Expected `int`"),
        (b'"line":"url","fp":"', b'"line":"url","fp":"zz', "non-hexadecimal"),
        (b'"record":{"url":"http://', b'"record":{"url":"http://x', "is not the fingerprint of"),
        (b'{"line":"host"', b'{"line":"seed_host","name":"a.test"}\n{"line":"hosts"', "hosts"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_born(old: bytes, new: bytes, said: str, exported: Crawling) -> None:
    copy_job(exported, partitions=2)
    file = exported.root / "all.jsonl"
    text = file.read_bytes()
    assert old in text
    file.write_bytes(text.replace(old, new, 1))
    end = db(exported, "import", "copy", "all.jsonl")
    assert (end.code, end.said.startswith("batchcrawl: all.jsonl:"), said in end.said) == (2, True, True), end.said
    assert not (exported.root / "data/copy/crawl.toml").exists()


def test_a_file_that_is_cut_is_not_taken_in(exported: Crawling) -> None:
    copy_job(exported, partitions=2)
    file = exported.root / "all.jsonl"
    file.write_bytes(file.read_bytes()[:-10])
    assert "the line is cut" in db(exported, "import", "copy", "all.jsonl").said


def test_a_compacted_crawl_is_the_same(exported: Crawling) -> None:
    before = exported.dump()
    assert " MB before, " in db(exported, "compact", "web").said
    exported.must("check", at=AT)
    assert exported.dump() == before


def test_the_lines_go_to_stdout_without_a_file(exported: Crawling, tmp_path: Path) -> None:
    end = db(exported, "export", "web")
    assert (end.code, end.said.encode()) == (0, (exported.root / "all.jsonl").read_bytes())
