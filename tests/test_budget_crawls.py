"""Crawls that refetch by value under a budget, on a clock that the test moves: pages change at known instants."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from batchcrawl.errors import NothingDue
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.schedule import DAY_S, Belief
from batchcrawl.policy.value import value
from batchcrawl.store.budget_mark import read_budget
from batchcrawl.store.check import verify
from batchcrawl.store.crawldb import CrawlDb
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.stepping import BORN_AT, HandClock, Stepping

HOUR, DAY = 3600, 86_400
RATES = (0.0, 1 / 60, 1 / 20, 1 / 6, 1 / 2, 2.0)
"""Changes a day; each page has one of them."""
RECRAWL = """
[recrawl]
budget = {budget}
interval = "5d"
interval_min = "1h"
"""


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)


@dataclass
class Changing(Mapping[str, Scripted]):
    """Pages that change at instants of their own."""

    changes: dict[str, list[float]]
    clock: HandClock = field(default_factory=HandClock)

    @classmethod
    def make(cls, *, pages: int, days: int, seed: int) -> "Changing":
        """Return pages whose rates are those of RATES, in turn, for so many days."""
        chance, changes = Random(seed), dict[str, list[float]]()
        for page in range(pages):
            at, rate, instants = float(BORN_AT), RATES[page % len(RATES)], list[float]()
            while rate and at < BORN_AT + days * DAY:
                at += chance.expovariate(rate) * DAY
                instants.append(at)
            changes[f"http://host{page % 3}.test/{page}"] = instants
        return cls(changes)

    def version(self, url: str, at: float) -> int:
        return bisect_right(self.changes[url], at)

    def __getitem__(self, url: str) -> Scripted:
        text = f"page {url} in its version {self.version(url, self.clock.at)}"
        return Scripted(body=f"<title>x</title>{text}".encode())

    def __iter__(self) -> Iterator[str]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)


@dataclass
class Crawled:
    """What a crawl of changing pages has done."""

    fetched_at: dict[str, list[float]]
    fresh: list[float]
    """Share of the copies that were right, at each instant that was looked at once all were fetched."""
    days: Counter[int]
    """Refetches by day."""


def crawled(pages: Changing, folder: Path, *, budget: int, rounds: int, round_s: int) -> Crawled:
    """Crawl for so many rounds, and look at the copies before each of them."""
    done = Crawled({url: [] for url in pages}, [], Counter())
    with scripted_web(pages) as web:
        crawl = Stepping.make(folder, web.port, list(pages), fetch=RECRAWL.format(budget=budget), threads=4)
        pages.clock = crawl.clock
        for number in range(rounds):
            now = crawl.clock.at
            if number > 0:
                right = [pages.version(url, at[-1]) == pages.version(url, now) for url, at in done.fetched_at.items()]
                done.fresh.append(sum(right) / len(right))
            try:
                lines = crawl.round()
            except NothingDue:
                lines = []
            for line in lines:
                assert line.outcome in (FetchOutcome.FETCHED, FetchOutcome.NOT_MODIFIED)
                done.days[int(now // DAY_S)] += bool(done.fetched_at[line.url])
                done.fetched_at[line.url].append(now)
            crawl.clock.leap(round_s)
        with CrawlDb(crawl.crawl.layout.crawldb(0)) as db:
            assert list(verify(db)) == []
            state = read_budget(db)
            assert state is not None
            assert state.floor <= state.price
    return done


def replayed(pages: Changing, *, a_round: int, rounds: int, round_s: int) -> list[float]:
    """Return how fresh copies are if the pages of highest value of all are taken in each round."""
    known = {url: (Belief(), float(BORN_AT)) for url in pages}
    fresh = []
    for number in range(1, rounds):
        now = BORN_AT + number * round_s
        right = [pages.version(url, at) == pages.version(url, now) for url, (_, at) in known.items()]
        fresh.append(sum(right) / len(right))
        worth = {url: value(belief, tau=(now - at) / DAY, weight=1.0) for url, (belief, at) in known.items()}
        for url in sorted(worth, key=lambda url: -worth[url])[:a_round]:
            belief, at = known[url]
            changed = pages.version(url, at) != pages.version(url, now)
            tau = (now - at) / DAY
            known[url] = (belief.changed(tau) if changed else belief.unchanged(tau), now)
    return fresh


def test_a_crawl_spends_its_budget_where_pages_change(tmp_path: Path) -> None:
    pages = Changing.make(pages=36, days=12, seed=3)
    done = crawled(pages, tmp_path, budget=12, rounds=24, round_s=12 * HOUR)
    assert max(done.days.values()) <= 12
    assert sum(done.days.values()) >= 0.8 * 12 * 12
    visits = Counter[float]()
    for number, at in enumerate(done.fetched_at.values()):
        visits[RATES[number % len(RATES)]] += len(at)
    assert visits[1 / 2] > 1.5 * visits[0.0]
    gaps = [later - one for at in done.fetched_at.values() for one, later in pairwise(at)]
    assert min(gaps) >= HOUR


@pytest.mark.slow
def test_in_sixty_days_copies_are_as_fresh_as_if_all_pages_were_sorted_by_value(tmp_path: Path) -> None:
    pages = Changing.make(pages=240, days=60, seed=7)
    done = crawled(pages, tmp_path, budget=48, rounds=240, round_s=6 * HOUR)
    ideal = replayed(pages, a_round=12, rounds=240, round_s=6 * HOUR)
    measured, wanted = sum(done.fresh[40:]) / 199, sum(ideal[40:]) / 199
    assert measured == pytest.approx(wanted, abs=0.02)
