"""Our policy by the product's own functions: beliefs, values, levels lifted by timers, and the price."""

import heapq
from collections.abc import Iterator

import numpy as np

from batchcrawl.policy.price import moved_price, starting_price
from batchcrawl.policy.schedule import Belief
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value, reached_after, value, value_level
from tests.bench.freshness.scenarios import PAGES_A_HOST, Bools, Floats, Ints, Population

SAMPLE = 4_000


class ByValue:
    """Pages in buckets by level, as the ready index keeps them, and a heap of timers."""

    def __init__(self, population: Population, *, depth: int = 4, octave: int = 1) -> None:
        count = len(population.weights)
        scenario = population.scenario
        self._hosts = population.hosts.tolist() if scenario.hosts else None
        self._weights = population.weights.tolist()
        self._depth, self._step = depth, octave
        self.beliefs = [Belief()] * count
        self._fetched_at = population.first_at.tolist()
        self._levels = [0] * count
        self._timers = [0.0] * count
        self._heap: list[tuple[float, int]] = []
        self._buckets: list[dict[int, None]] = [{} for _ in range(LEVEL_MAX + 1)]
        self.moves = self.fetches = self.sweeps = 0
        sample = np.random.default_rng(0).permutation(count)[:SAMPLE].tolist()
        pages = [(self.beliefs[page], self._weights[page]) for page in sample]
        self.price = starting_price(pages, known=count, fetches_a_day=scenario.budget * count)
        self._floor = LEVEL_MAX
        self._lower_floor(now=population.begin)

    def take(self, now: float, budget: int) -> Ints:
        self._lift(now)
        counts: dict[int, int] = {}
        price_level = value_level(self.price)
        taken: list[int] = []
        demand, smallest = 0, None
        for level in range(LEVEL_MAX, self._floor - 1, -1):
            if not self._buckets[level] or (len(taken) >= budget and level < price_level):
                continue
            for page in self._allowed(level, counts):
                demand += level >= price_level
                if len(taken) < budget:
                    taken.append(page)
                    smallest = level
        for page in taken:
            del self._buckets[self._levels[page]][page]
            self._levels[page] = 0
        worth = None if smallest is None else level_value(smallest)
        self.price = moved_price(self.price, demand=demand, budget=budget, smallest=worth)
        self._follow_price(now)
        return np.array(taken, dtype=np.int64)

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        for page, instant, days, other in zip(pages.tolist(), at.tolist(), tau.tolist(), changed.tolist(), strict=True):
            belief = self.beliefs[page]
            self.beliefs[page] = belief.changed(days) if other else belief.unchanged(days)
            self._fetched_at[page] = instant
            self._set_timer(page, self._floor)
        self.fetches += len(pages)

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
        worth = value(self.beliefs[page], tau=now - self._fetched_at[page], weight=self._weights[page])
        level = value_level(worth)
        level -= level % self._step
        if self._levels[page]:
            del self._buckets[self._levels[page]][page]
        self._levels[page] = level if level >= self._floor else 0
        if self._levels[page]:
            self._buckets[level][page] = None
        self._set_timer(page, max(level + self._step, self._floor))

    def _set_timer(self, page: int, level: int) -> None:
        days = reached_after(self.beliefs[page], weight=self._weights[page], wanted=level_value(level))
        self._timers[page] = due_at = self._fetched_at[page] + days * (1 + 1e-9)
        if due_at < 2000.0:
            heapq.heappush(self._heap, (due_at, page))

    def _follow_price(self, now: float) -> None:
        level = value_level(self.price)
        if level < self._floor + (self._depth + 1) // 2:
            self._lower_floor(now)
        elif level > self._floor + 2 * self._depth:
            self._floor = self._wanted_floor()

    def _wanted_floor(self) -> int:
        level = max(value_level(self.price) - self._depth, LEVEL_MIN)
        return level - level % self._step

    def _lower_floor(self, now: float) -> None:
        """Lift once over all pages that stand under the old floor."""
        self._floor, self.sweeps = self._wanted_floor(), self.sweeps + 1
        for page, level in enumerate(self._levels):
            if not level:
                self._place(page, now)
