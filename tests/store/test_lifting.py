from collections.abc import Iterable
from pathlib import Path
from typing import Any

from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.recrawl import Intervals, Prices, fixed_prices
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.store.budget_mark import read_floor
from batchcrawl.store.check import verify
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.lifting import lift_due, move_floor
from tests.support.crawldbs import filled

T, DAY = 1_796_040_000, 86_400
INTERVALS = Intervals(first_s=30 * DAY, min_s=3600, max_s=365 * DAY, gone_s=30 * DAY, retry_s=DAY, failures_max=3)
HIGH = fixed_prices(30 * DAY)
LOW = Prices(price=HIGH.price / 10, floor=HIGH.price / 10)


def rules(prices: Prices) -> UpdateRules:
    return UpdateRules(pages=INTERVALS, lists=INTERVALS, follow_duplicates=False, prices=prices)


def stored(url: int, **changes: Any) -> tuple[int, int, dict[str, Any]]:
    facts = {"status": PageStatus.FETCHED, "place": Place.TIMER, "depth": 2, "last_fetch_at": T}
    return 1, url, facts | {"next_fetch_at": T + 30 * DAY, **changes}


def places(db: CrawlDb) -> list[Place]:
    return [record.place for _, record in db.records()]


def spent(batches: Iterable[int]) -> int:
    return sum(batches)


def test_what_comes_due_is_ready_or_rises_and_the_indexes_agree(tmp_path: Path) -> None:
    gone = {"status": PageStatus.GONE, "next_fetch_at": T + DAY}
    with filled(tmp_path / "db", stored(1), stored(2, next_fetch_at=T + DAY), stored(3, **gone), stored(4)) as db:
        assert spent(lift_due(db, rules(HIGH), now=T + 29 * DAY)) == 2
        assert places(db) == [Place.TIMER, Place.TIMER, Place.READY, Place.TIMER]
        assert spent(lift_due(db, rules(HIGH), now=T + 30 * DAY)) == 3
        assert places(db) == [Place.RISING, Place.RISING, Place.READY, Place.RISING]
        assert list(verify(db)) == []


def test_pages_that_are_not_taken_rise_until_they_are_at_the_top(tmp_path: Path) -> None:
    with filled(tmp_path / "db", *(stored(url, rate_a=0.5 + url, rate_b=40.0) for url in range(5))) as db:
        now, moves = T + DAY, 0
        while now < T + 368 * DAY:
            moves += spent(lift_due(db, rules(LOW), now=now))
            now += 3 * DAY
        assert places(db) == [Place.READY] * 5
        assert moves < 5 * 30
        assert list(verify(db)) == []


def test_a_floor_that_has_fallen_makes_waiting_pages_ready_once(tmp_path: Path) -> None:
    waiting = stored(2, retries=1, next_fetch_at=T + 40 * DAY)
    with filled(tmp_path / "db", stored(1), waiting, stored(3, place=Place.RISING, level=99)) as db:
        assert spent(move_floor(db, rules(LOW), now=T + 20 * DAY)) == 2
        assert places(db) == [Place.RISING, Place.TIMER, Place.RISING]
        assert spent(move_floor(db, rules(LOW), now=T + 20 * DAY)) == 0
        assert read_floor(db) == LOW.floor
        assert list(verify(db)) == []


def test_a_floor_that_has_risen_costs_no_look_and_is_remembered(tmp_path: Path) -> None:
    with filled(tmp_path / "db", stored(1)) as db:
        assert spent(move_floor(db, rules(LOW), now=T)) == 1
        assert spent(move_floor(db, rules(HIGH), now=T)) == 0
        assert read_floor(db) == HIGH.floor
