"""A finished step that is run again changes nothing and says so; a crawl that is in use is left alone."""

import os

import pytest

from batchcrawl.store.lock import CrawlLock
from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, STEPS, clock_of

AT = clock_of(ROUNDS)


@pytest.mark.parametrize("step", ["fetch", "parse", "update"])
def test_a_finished_step_changes_nothing_and_says_so(step: str, stage: Stages) -> None:
    crawling = stage.before("end")
    before, dump = crawling.files(), crawling.dump()
    segment = crawling.segments()[-1]
    for words in ([step], [step, "--segment", segment.id]):
        end = crawling.run(*words, at=AT)
        assert end.code == 0
        assert end.said.startswith(f"{step}: nothing to do; segment {segment.id} is ")
        assert end.said.count("\n") == 1
    assert (crawling.files(), crawling.dump()) == (before, dump)


def test_generate_changes_nothing_when_nothing_is_due(stage: Stages) -> None:
    crawling = stage.before("fetch")
    before, dump = crawling.files(), crawling.dump()
    end = crawling.run("generate", at=AT)
    assert (end.code, end.said.count("\n")) == (4, 1)
    assert end.said.startswith("batchcrawl: nothing is due")
    assert (crawling.files(), crawling.dump()) == (before, dump)


def test_inject_changes_nothing_when_all_seeds_are_known(stage: Stages) -> None:
    crawling = stage.before("end")
    before, dump = crawling.files(), crawling.dump()
    seeds = len((crawling.root / "jobs" / "seeds.txt").read_text().splitlines())
    assert crawling.must("inject", at=AT) == f"inject: 0 new, 0 changed, {seeds} known, 0 rejected\n"
    assert (crawling.files(), crawling.dump()) == (before, dump)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_run_again_on_its_own_segment_leaves_its_files_alone(step: str, stage: Stages) -> None:
    crawling = stage.before(step)
    crawling.must(step, at=AT)
    before, dump = crawling.files(), crawling.dump()
    assert crawling.run(step, at=AT).code == (4 if step == "generate" else 0)
    assert (crawling.files(), crawling.dump()) == (before, dump)


@pytest.mark.parametrize("command", ["inject", *STEPS, "round", "crawl", "snapshot", "repair", "check"])
def test_a_crawl_in_use_is_left_alone_and_the_holder_named(command: str, stage: Stages) -> None:
    crawling = stage.before("generate")
    with CrawlLock(crawling.data / "lock"):
        end = crawling.run(command, at=AT)
    assert end.code == 5
    assert end.said == (
        f"batchcrawl: {crawling.data} is in use by process {os.getpid()}; "
        "wait for it, or stop it, and run the same command again\n"
    )
