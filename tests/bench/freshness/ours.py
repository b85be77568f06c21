"""Our policy by the product's own functions: beliefs, values, levels lifted by timers, and the price."""

import heapq
from collections import Counter
from collections.abc import Iterator

import numpy as np

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.budget import after_segment, begun
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.price import PRICE_MIN, starting_price
from batchcrawl.policy.schedule import DAY_S, Belief
from batchcrawl.policy.value import LEVEL_MAX, level_value, reached_after, value, value_level
from tests.bench.freshness.scenarios import DAYS_MAX, HOSTS, PAGES_A_HOST, Bools, Floats, Ints, Population

SAMPLE = 4_000


class ByValue:
    """Pages in buckets by level, as the ready index keeps them, and a heap of timers."""

    def __init__(self, population: Population, *, levels_apart: int = 1) -> None:
        count = len(population.weights)
        scenario = population.scenario
        self._hosts = population.hosts.tolist() if scenario.hosts else None
        self._weights = population.weights.tolist()
        self._apart = levels_apart
        self.beliefs: list[Belief | None] = [None] * count
        self._priors = Priors()
        records = [HostRecord(host=str(host), domain=str(host)) for host in range(HOSTS)]
        self._host_records = [records[host] for host in population.hosts.tolist()]
        self._fetched_at = population.first_at.tolist()
        self._levels = [0] * count
        self._timers = [0.0] * count
        self._heap: list[tuple[float, int]] = []
        self._buckets: list[dict[int, None]] = [{} for _ in range(LEVEL_MAX + 1)]
        self.moves = self.sweeps = 0
        """Levels and timers that were set beside those of a fetch, and how often a lower floor moved all pages."""
        sample = np.random.default_rng(0).permutation(count)[:SAMPLE].tolist()
        pages = [(self._belief(page), self._weights[page]) for page in sample]
        budget = scenario.budget * count
        price = starting_price(pages, known=count, fetches_a_day=budget)
        self.budget = begun(None, budget=budget, price=price, now=population.begin * DAY_S)
        self._lift_all(population.begin)

    def take(self, now: float, budget: int) -> Ints:
        self._lift(now)
        counts: dict[int, int] = {}
        taken: list[int] = []
        ready, quotas = Counter[int](), Counter[int]()
        for level in range(LEVEL_MAX, value_level(self.budget.floor) - 1, -1):
            for page in self._allowed(level, counts):
                ready[level] += 1
                if len(taken) < budget:
                    taken.append(page)
                    quotas[level] += 1
        for page in taken:
            del self._buckets[self._levels[page]][page]
            self._levels[page] = 0
        floor = self.budget.floor
        self.budget = after_segment(
            self.budget, ready=ready, quotas=quotas, places=budget, price_min=PRICE_MIN, now=now * DAY_S
        )
        if self.budget.floor < floor:
            self._lift_all(now)
        return np.array(taken, dtype=np.int64)

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        for page, instant, days, other in zip(pages.tolist(), at.tolist(), tau.tolist(), changed.tolist(), strict=True):
            before, belief = self.beliefs[page], self._belief(page)
            self.beliefs[page] = after = belief.changed(days) if other else belief.unchanged(days)
            self._priors.note(self._host_records[page], None if before is None else before.rate, after.rate)
            self._fetched_at[page] = instant
            self._set_timer(page, self.budget.floor)

    def _belief(self, page: int) -> Belief:
        return self.beliefs[page] or self._priors.of(self._host_records[page])

    def _allowed(self, level: int, counts: dict[int, int]) -> Iterator[int]:
        if self._hosts is None:
            yield from self._buckets[level]
            return
        for page in self._buckets[level]:
            host = self._hosts[page]
            before = counts.get(host, 0)
            if before < PAGES_A_HOST:
                counts[host] = before + 1
                yield page

    def _lift(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            due_at, page = heapq.heappop(self._heap)
            if self._timers[page] == due_at:
                self._place(page, now)

    def _place(self, page: int, now: float) -> None:
        """Put a page where its value belongs now."""
        self.moves += 1
        worth = value(self._belief(page), tau=now - self._fetched_at[page], weight=self._weights[page])
        if self._levels[page]:
            del self._buckets[self._levels[page]][page]
            self._levels[page] = 0
        if value_level(worth) < value_level(self.budget.floor):
            self._set_timer(page, self.budget.floor)
            return
        level = value_level(worth)
        level -= level % self._apart
        self._levels[page] = level
        self._buckets[level][page] = None
        self._set_timer(page, level_value(level + self._apart))

    def _set_timer(self, page: int, wanted: float) -> None:
        days = reached_after(self._belief(page), weight=self._weights[page], wanted=wanted)
        self._timers[page] = due_at = self._fetched_at[page] + days * (1 + 1e-9)
        if due_at < DAYS_MAX:
            heapq.heappush(self._heap, (due_at, page))

    def _lift_all(self, now: float) -> None:
        """Lift once over all pages that stand under the old floor."""
        self.sweeps += 1
        for page, level in enumerate(self._levels):
            if not level:
                self._place(page, now)
