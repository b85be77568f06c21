"""The policies beside ours: all of them score every page in every round, and have the highest fetched."""

import numpy as np

from tests.bench.freshness.scenarios import Bools, Floats, Ints, Population
from tests.bench.freshness.world import best

MINUTE = 1 / 1440


class Oracle:
    """Knows every rate, and takes the pages that gain the most freshness-time."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._fetched_at = population.first_at.copy()

    def take(self, now: float, budget: int) -> Ints:
        rates = self._population.rates_at(now)
        scores = self._population.weights * known_gain(rates, now - self._fetched_at)
        return best(np.where(scores > 0, scores, -np.inf), budget, self._population)

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        self._fetched_at[pages] = at


class Uniform:
    """The oldest copies first: the same interval for all."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._fetched_at = population.first_at.copy()

    def take(self, now: float, budget: int) -> Ints:
        return best(-self._fetched_at, budget, self._population)

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        self._fetched_at[pages] = at


class Intervals:
    """Every page has an interval; what is due is taken by weight, by the instant, or by how much it is overdue."""

    def __init__(self, population: Population, *, start: float, order: str) -> None:
        self._population = population
        self._order = order
        self._fetched_at = population.first_at.copy()
        self.interval = np.full(len(population.weights), start)
        self.due_at = population.first_at + start

    def take(self, now: float, budget: int) -> Ints:
        weights = self._population.weights
        overdue = (now - self._fetched_at) / self.interval
        scores = {"weight": weights, "due": -self.due_at, "overdue": weights * overdue}[self._order]
        return best(np.where(self.due_at <= now, scores, -np.inf), budget, self._population)

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        self._fetched_at[pages] = at
        self.due_at[pages] = at + self.adapted(pages, at, changed)

    def adapted(self, pages: Ints, at: Floats, changed: Bools) -> Floats:
        """Set and return the next intervals, in days from the fetch."""
        return self.interval[pages]


class NutchAdaptive(Intervals):
    """Nutch's AdaptiveFetchSchedule: longer after each fetch that saw no change, shorter after one that did.

    With `sync` it moves towards the instant of the last change that it saw, by its rate of 0.3.
    """

    def __init__(
        self, population: Population, *, start: float = 30.0, inc: float = 0.4, dec: float = 0.2, sync: bool = True
    ) -> None:
        super().__init__(population, start=start, order="weight")
        self._inc, self._dec, self._sync = inc, dec, sync
        self._modified_at = population.first_at.copy()

    def adapted(self, pages: Ints, at: Floats, changed: Bools) -> Floats:
        interval = self.interval[pages] * np.where(changed, 1 - self._dec, 1 + self._inc)
        self._modified_at[pages] = np.where(changed, at, self._modified_at[pages])
        back = np.zeros(len(pages))
        if self._sync:
            delta = at - self._modified_at[pages]
            interval = np.maximum(interval, delta)
            back = 0.3 * delta
        self.interval[pages] = np.clip(interval, MINUTE, 365.0)
        return self.interval[pages] - back


class StormCrawlerAdaptive(Intervals):
    """StormCrawler's AdaptiveScheduler: from a day, longer or shorter by half, within an hour and 31 days; by date."""

    def __init__(self, population: Population) -> None:
        super().__init__(population, start=1.0, order="due")

    def adapted(self, pages: Ints, at: Floats, changed: Bools) -> Floats:
        self.interval[pages] = np.clip(self.interval[pages] * np.where(changed, 0.5, 1.5), 1 / 24, 31.0)
        return self.interval[pages]


class Doubling(Intervals):
    """Twice as long after five fetches in a row that saw no change, half as long after one that did."""

    def __init__(self, population: Population, *, start: float, order: str) -> None:
        super().__init__(population, start=start, order=order)
        self._same = np.zeros(len(population.weights), dtype=np.int64)

    def adapted(self, pages: Ints, at: Floats, changed: Bools) -> Floats:
        same = np.where(changed, 0, self._same[pages] + 1)
        factor = np.where(changed, 0.5, np.where(same >= 5, 2.0, 1.0))
        self._same[pages] = same % 5
        self.interval[pages] = np.clip(self.interval[pages] * factor, 1 / 24, 365.0)
        return self.interval[pages]


class LikelyRate:
    """The rate of highest likelihood, without its bias, in the oracle's formula.

    Cho and Garcia-Molina, "Estimating frequency of change" (2003): -ln((same + 0.5) / (fetches + 0.5)) by the mean
    interval; before the first refetch the mean of the prior.
    """

    def __init__(self, population: Population) -> None:
        count = len(population.weights)
        self._population = population
        self._fetched_at = population.first_at.copy()
        self._fetches, self._same, self._days = np.zeros(count), np.zeros(count), np.zeros(count)
        self._rates = np.full(count, 0.3)

    def take(self, now: float, budget: int) -> Ints:
        return best(
            self._population.weights * known_gain(self._rates, now - self._fetched_at), budget, self._population
        )

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        self._fetched_at[pages] = at
        self._fetches[pages] += 1
        self._same[pages] += ~changed
        self._days[pages] += tau
        fetches = self._fetches[pages]
        seen = -np.log((self._same[pages] + 0.5) / (fetches + 0.5))
        # A page that never changed is taken for one that did half a time.
        self._rates[pages] = np.where(seen > 0, seen, 0.5 / fetches) * fetches / self._days[pages]


def known_gain(rates: Floats, tau: Floats) -> Floats:
    """Return the freshness-time that a refetch gains at known rates; 0 for pages that never or always change."""
    safe = np.where(np.isfinite(rates) & (rates > 0), rates, 1.0)
    x = safe * np.maximum(tau, 0.0)
    exact = 1.0 - np.exp(-x) * (1.0 + x)
    gain = np.where(x < 1e-3, x * x * (0.5 - x / 3), exact) / safe
    zero = ~np.isfinite(rates) | (rates <= 0)
    result: Floats = np.where(zero, 0.0, gain)
    return result


GRID = [
    (start, inc, dec)
    for start in (1.0, 10.0)
    for inc, dec in ((0.4, 0.2), (0.2, 0.4), (0.5, 0.5), (0.1, 0.2), (0.2, 0.8))
]
"""Settings of Nutch's rule that are tried for its best, without `sync`: days, longer by, shorter by."""
