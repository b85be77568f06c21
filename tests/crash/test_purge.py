"""URLs that are taken out of the crawldb, with the process killed on the way."""

import signal
from typing import Any

import pytest

from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of

AT = clock_of(ROUNDS)
DEEP = ("purge", "--only", "depth >= 1")


def urls(crawling: Crawling) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in crawling.rows() if "url" in row}


def purged(crawling: Crawling, *words: str) -> set[str]:
    """Run a command that takes URLs out, have the crawl checked, and return which are out."""
    before = urls(crawling)
    crawling.must(*words, at=AT)
    crawling.must("check", at=AT)
    after = urls(crawling)
    assert not after.keys() - before.keys()
    return before.keys() - after.keys()


def test_what_is_asked_for_goes_and_the_rest_stays(stage: Stages) -> None:
    crawling = stage.before("generate")
    going = {url for url, row in urls(crawling).items() if row.get("depth", 0) >= 1 and row["status"] != "gone"}
    gone = {url for url, row in urls(crawling).items() if row.get("depth", 0) >= 1 and row["status"] == "gone"}
    assert f"would take out {len(going):,} URLs" in crawling.must(*DEEP, "--dry-run", at=AT)
    assert (purged(crawling, *DEEP), len(going) > 50, len(gone) > 0) == (going, True, True)
    assert purged(crawling, "purge", "--status", "gone", "--only", "depth >= 1") == gone


def test_a_crawl_goes_on_after_a_purge(stage: Stages) -> None:
    crawling = stage.before("generate")
    crawling.must(*DEEP, at=AT)
    crawling.must("round", at=AT)
    crawling.must("check", at=AT)


@pytest.mark.parametrize(
    "point",
    [
        "lines.finished:2",
        "purge.decided",
        "purge.settled",
        "crawldb.commit:2",
        "crawldb.committed:3",
        "crawldb.committed:9",
        "purge.ended",
    ],
)
def test_a_purge_that_is_killed_goes_on(point: str, stage: Stages) -> None:
    crawling = stage.before("generate")
    whole = crawling.copy_to(stage.directory / "whole", stage.port)
    whole.must(*DEEP, at=AT)
    assert crawling.run(*DEEP, at=AT, failpoint=point).code == -signal.SIGKILL
    crawling.must(*DEEP, at=AT)
    crawling.must("check", at=AT)
    assert crawling.dump() == whole.dump()
    assert not list(crawling.data.glob("*purge"))


def test_nothing_else_writes_until_a_purge_is_ended(stage: Stages) -> None:
    crawling = stage.before("generate")
    crawling.run(*DEEP, at=AT, failpoint="purge.decided")
    before = crawling.dump()
    for command in (("generate",), ("inject", "http://new.test/"), ("round",)):
        end = crawling.run(*command, at=AT)
        assert (end.code, end.said.startswith("batchcrawl: a purge was cut; run 'batchcrawl purge web' first")) == (
            2,
            True,
        )
    assert crawling.dump() == before
    assert "the one that was cut is ended" in crawling.must("purge", at=AT)
    crawling.must("generate", at=AT)


def test_when_the_first_page_with_a_text_goes_the_next_takes_its_place(stage: Stages) -> None:
    crawling = stage.before("generate")
    before = urls(crawling)
    by_fp = {row["fp"]: row for row in before.values()}
    copies = [row for row in before.values() if row["status"] == "duplicate"]
    firsts = {by_fp[row["duplicate_of"]]["url"] for row in copies}
    assert purged(crawling, "delete", *firsts) == firsts
    after = urls(crawling)
    risen = [row for row in copies if after[row["url"]]["status"] == "fetched"]
    assert len(risen) == len(firsts) > 0
    for row in (after[row["url"]] for row in risen):
        assert "body_at" not in row  # it is fetched once more, as a whole, since its links were not taken
        assert "duplicate_of" not in row
        assert row["next_fetch_at"] <= AT


def test_urls_that_a_segment_has_stay_until_it_is_applied(stage: Stages) -> None:
    crawling = stage.before("fetch")
    leased = {url for url, row in urls(crawling).items() if row["place"] == "leased"}
    assert not purged(crawling, "purge", "--only", "depth >= 0") & leased
    one = next(iter(leased))
    end = crawling.run("delete", one, at=AT)
    assert (end.code, "1 of the URLs stay: a segment has them" in end.said) == (1, True)
    for step in ("fetch", "parse", "update"):
        crawling.must(step, at=AT)
    assert purged(crawling, "delete", one, one) == {one}
    assert "unknown" in crawling.must("delete", one, at=AT)


def test_nothing_is_purged_while_a_segment_is_half_applied(stage: Stages) -> None:
    crawling = stage.before("update")
    crawling.run("update", at=AT, failpoint="crawldb.committed:2")
    before = crawling.dump()
    end = crawling.run(*DEEP, at=AT)
    assert (end.code, "is half applied" in end.said, crawling.dump() == before) == (2, True, True)
    crawling.must("update", at=AT)
    crawling.must(*DEEP, at=AT)
    crawling.must("check", at=AT)


def test_nothing_is_purged_while_leases_are_missing(stage: Stages) -> None:
    crawling = stage.before("generate")
    crawling.run("generate", at=AT, failpoint="segment.visible")
    end = crawling.run(*DEEP, at=AT)
    assert (end.code, "has not leased all of its URLs" in end.said) == (2, True)


def test_what_new_rules_would_not_take_goes(stage: Stages) -> None:
    crawling = stage.before("generate")
    job = crawling.root / "jobs" / "web.toml"
    job.write_text(job.read_text().replace('within = "any"', 'within = "any"\ndepth_max = 1'))
    going = {url for url, row in urls(crawling).items() if row.get("depth", 0) > 1}
    shown = crawling.must("purge", "--out-of-scope", "--dry-run", at=AT)
    assert f"{'too_deep':<22} {len(going):>14,}" in shown
    assert purged(crawling, "purge", "--out-of-scope") == going


def test_seeds_stay_whatever_their_age(stage: Stages) -> None:
    crawling = stage.before("generate")
    seeds = {url for url, row in urls(crawling).items() if row["seed"]}
    crawling.must("purge", "--older", "1s", at=AT)
    left = urls(crawling)
    assert seeds <= left.keys()
    assert {row["status"] for url, row in left.items() if url not in seeds} == {"gone"}


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--older", "soon"), ("--only", "depht = 1")])
def test_a_purge_that_does_not_say_what_is_wrong_usage(words: tuple[str, ...], stage: Stages) -> None:
    assert stage.before("generate").run("purge", *words, at=AT).code == 2
