"""Segments that nothing needs any more are told and deleted; those with the latest copy of a page stay."""

import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from batchcrawl.store.lock import CrawlLock
from tests.crash.conftest import Stages
from tests.support.crawling import BORN_AT, ROUNDS, Crawling, clock_of
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warm import Warm

STAYS, CHANGES = "http://stays.test/", "http://changes.test/"
AT = clock_of(ROUNDS)


@pytest.fixture
def crawled(warm: Warm, tmp_path: Path) -> Iterator[Crawling]:
    """Three rounds: the first has the latest copy of one page, the second of none, the third that of the other."""
    with scripted_web({}) as web:
        crawling = Crawling.make(tmp_path / "crawl", web.port, warm, seeds=[STAYS, CHANGES])
        crawling.must("inject", at=BORN_AT)
        for number in range(1, ROUNDS + 1):
            changed = Scripted(body=b"<title>version %d of it</title>" % number)
            web.answers = {STAYS: Scripted(body=b"<title>always the same</title>"), CHANGES: changed}
            crawling.must("round", at=clock_of(number))
        yield crawling


def verdicts(crawling: Crawling, *options: str) -> list[str | None]:
    said = crawling.must("gc", "--json", "--quiet", *options, at=AT)
    return [msgspec.json.decode(line)["kept"] for line in said.splitlines()]


def test_only_a_segment_without_the_latest_copy_of_any_page_is_not_needed(crawled: Crawling) -> None:
    before = crawled.files()
    assert verdicts(crawled, "--keep-days", "0") == ["latest copies", None, "newest"]
    assert crawled.files() == before
    said = crawled.must("gc", "--keep-days", "0", at=AT)
    assert said.endswith("gc: 1 of 3 segments with 0.0 MB may be deleted, by --delete\n")


def test_what_was_updated_of_late_is_kept(crawled: Crawling) -> None:
    assert verdicts(crawled) == ["latest copies", "young", "newest"]
    assert verdicts(crawled, "--keep-days", "1.9") == ["latest copies", None, "newest"]


def test_what_is_not_needed_is_deleted_and_the_crawl_goes_on(crawled: Crawling) -> None:
    first, _, third = crawled.segments()
    crawled.must("gc", "--keep-days", "0", "--delete", at=AT)
    assert [segment.id for segment in crawled.segments()] == [first.id, third.id]
    assert crawled.must("segment", first.id, "--body", STAYS, at=AT) == "<title>always the same</title>"
    crawled.must("round", at=clock_of(ROUNDS + 1))
    crawled.must("check", "--deep", at=AT)


def test_a_deletion_that_was_killed_leaves_no_half_segment_and_is_ended_by_the_next(crawled: Crawling) -> None:
    first, _, third = crawled.segments()
    end = crawled.run("gc", "--keep-days", "0", "--delete", at=AT, failpoint="file.renamed")
    assert end.code == -signal.SIGKILL
    assert [segment.id for segment in crawled.segments()] == [first.id, third.id]
    crawled.must("check", at=AT)
    crawled.must("gc", "--delete", at=AT)
    assert sorted(path.name for path in (crawled.data / "segments").iterdir()) == [first.id, third.id]


@pytest.mark.parametrize("step", ["fetch", "fetch-cut", "update"])
def test_an_unfinished_segment_finds_all_that_it_needs(step: str, stage: Stages) -> None:
    crawling = stage.before(step)
    crawling.must("gc", "--keep-days", "0", "--delete", at=AT)
    crawling.must("round", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    crawling.must("check", "--deep", at=AT)


def test_a_list_is_made_beside_a_running_step_and_a_deletion_is_not(stage: Stages) -> None:
    crawling = stage.before("end")
    with CrawlLock(crawling.data / "lock"):
        assert crawling.run("gc", at=AT).code == 0
        assert crawling.run("gc", "--delete", at=AT).code == 5
