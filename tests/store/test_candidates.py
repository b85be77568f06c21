from pathlib import Path

import pytest

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.mix import Mix
from batchcrawl.policy.selection import Limits
from batchcrawl.store import keys
from batchcrawl.store.candidates import Candidate, offered, refetches
from batchcrawl.store.crawldb import CrawlDb
from tests.support.crawldbs import filled, fp

LIMITS = Limits(duration_s=1800, delay_min_s=1)


def one(limit: int | None) -> Candidate:
    return Candidate(fp(1, 0)[:8], HostRecord(host="http://host1.example", domain="host1.example"), limit)


def ready(db: CrawlDb, limit: int | None, mix: Mix, *, turn: int = 0) -> list[int]:
    return [keys.ready_level(key) for key in offered(db, one(limit), LIMITS, mix, turn=turn)]


@pytest.fixture
def mixed(tmp_path: Path) -> CrawlDb:
    """Return a host with five new pages and five refetches that are ready."""
    return filled(
        tmp_path / "db", *((1, url, {"level": level}) for url, level in enumerate([*range(5), *range(100, 105)]))
    )


@pytest.mark.parametrize(
    ("limit", "share", "levels"),
    [
        (None, 0.5, [104, 103, 102, 101, 100, 4, 3, 2, 1, 0]),
        (4, 0.5, [104, 103, 4, 3]),
        (4, 1.0, [4, 3, 2, 1]),
        (4, 0.0, [104, 103, 102, 101]),
        (8, 0.125, [104, 103, 102, 101, 100, 4, 3, 2]),
        (100, 0.5, [104, 103, 102, 101, 100, 4, 3, 2, 1, 0]),
    ],
)
def test_a_host_offers_the_best_of_both_up_to_its_limit(
    mixed: CrawlDb, limit: int | None, share: float, levels: list[int]
) -> None:
    with mixed:
        assert ready(mixed, limit, Mix(new_share=share)) == levels


@pytest.mark.parametrize("limit", [None, 4, 9])
def test_a_host_offers_new_pages_alone_where_the_budget_is_used_up(mixed: CrawlDb, limit: int | None) -> None:
    with mixed:
        assert ready(mixed, limit, Mix(refetches_max=0)) == [4, 3, 2, 1, 0][:limit]
        assert [keys.ready_level(key) for key in refetches(mixed, one(limit), LIMITS)] == [104, 103, 102, 101, 100][
            :limit
        ]


def test_a_host_of_one_place_offers_now_this_now_that(mixed: CrawlDb) -> None:
    with mixed:
        offers = [ready(mixed, 1, Mix(), turn=turn) for turn in range(40)]
    assert offers.count([104]) == pytest.approx(20, abs=2)
    assert offers.count([4]) == pytest.approx(20, abs=2)
