"""A generate that is killed uses its budget once, and moves the price once."""

import signal
from pathlib import Path

import msgspec
import pytest

from batchcrawl.model.budget import BudgetState
from batchcrawl.store.budget_mark import read_budget, read_floor
from batchcrawl.store.crawldb import CrawlDb
from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, Crawling, clock_of

RECRAWL = 'interval = "1d"\nbudget = 30'
AT = clock_of(ROUNDS)


@pytest.mark.parametrize(
    "failpoint",
    [
        "crawldb.committed:1",
        "crawldb.committed:4",
        "segment.built",
        "segment.visible",
        "file.renamed:2",
        "file.renamed:4",
    ],
)
def test_a_generate_that_is_killed_uses_the_budget_once(failpoint: str, stage: Stages, tmp_path: Path) -> None:
    crawling = stage.before("generate")
    crawling.set_job(recrawl=RECRAWL)
    undisturbed = crawling.copy_to(tmp_path / "undisturbed", stage.port)
    undisturbed.set_job(recrawl=RECRAWL)
    undisturbed.must("generate", at=AT)
    assert crawling.run("generate", at=AT, failpoint=failpoint).code == -signal.SIGKILL
    if not any(segment.is_done("generated") for segment in crawling.segments()[ROUNDS - 1 :]):
        crawling.must("generate", at=AT)
    assert crawling.dump() == undisturbed.dump()
    assert standing(crawling) == standing(undisturbed)
    state, _ = standing(crawling)
    assert state is not None
    assert 0 < state.used <= 30
    assert crawling.run("generate", at=AT).code == 4
    assert standing(crawling) == standing(undisturbed)


def standing(crawling: Crawling) -> tuple[BudgetState | None, list[float]]:
    """Return how the budget stands, and the floors of the partitions."""
    floors, state = list[float](), None
    for p in range(2):
        with CrawlDb(crawling.data / "crawldb" / str(p)) as db:
            floors.append(read_floor(db))
            state = read_budget(db) or state
    return state, floors


def test_what_the_manifest_says_of_the_budget_is_what_the_crawldb_has(stage: Stages) -> None:
    crawling = stage.before("generate")
    crawling.set_job(recrawl=RECRAWL)
    crawling.must("generate", at=AT)
    newest = crawling.segments()[-1]
    assert newest.manifest.budget == standing(crawling)[0]
    assert msgspec.json.decode((newest.path / "segment.json").read_bytes())["budget"]["budget"] == 30
