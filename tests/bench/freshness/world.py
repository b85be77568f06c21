"""What a fetch sees, and how fresh the copies were: one run of a policy over a population."""

from typing import Protocol

import numpy as np

from tests.bench.freshness.scenarios import DAYS_MAX, PAGES_A_HOST, Bools, Floats, Ints, Population


class Policy(Protocol):
    """Decides at the start of each round what is fetched in it."""

    def take(self, now: float, budget: int) -> Ints:
        """Return the pages of a round, at most `budget`, within the limit of each host."""

    def saw(self, pages: Ints, at: Floats, tau: Floats, changed: Bools) -> None:
        """Learn what their fetches saw: instants, days since the last fetches, and whether they had changed."""


class Copies:
    """The stored copies: when they were fetched, and until when they are right."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._always = np.isinf(population.rates[0])
        self._gained = 0.0
        pages = np.arange(len(population.weights))
        self.fetched_at = population.first_at.copy()
        self._seen, self._right_until = self._look(pages, self.fetched_at)

    def fetch(self, pages: Ints, at: Floats) -> tuple[Floats, Bools]:
        """Replace the copies of pages; return the days since their last fetches and whether they had changed."""
        self._settle(pages, at)
        seen, right_until = self._look(pages, at)
        changed = (seen > self._seen[pages]) | self._always[pages]
        tau = at - self.fetched_at[pages]
        self.fetched_at[pages], self._seen[pages], self._right_until[pages] = at, seen, right_until
        return tau, changed

    def freshness(self) -> float:
        """Return the time average of the weighted share of right copies; once, at the end."""
        population = self._population
        pages = np.arange(len(population.weights))
        self._settle(pages, np.full(len(pages), population.end))
        return self._gained / (float(population.weights.sum()) * population.scenario.days)

    def _look(self, pages: Ints, at: Floats) -> tuple[Ints, Floats]:
        changes = self._population.changes
        place = np.searchsorted(changes, pages * DAYS_MAX + at, side="right")
        following = changes[np.minimum(place, len(changes) - 1)]
        mine = (place < len(changes)) & (following < (pages + 1) * DAYS_MAX)
        return place, np.where(mine, following - pages * DAYS_MAX, np.inf)

    def _settle(self, pages: Ints, at: Floats) -> None:
        begin, end = self._population.begin, self._population.end
        until = np.minimum(np.minimum(self._right_until[pages], at), end)
        days = np.maximum(until - np.maximum(self.fetched_at[pages], begin), 0.0)
        self._gained += float((days * self._population.weights[pages])[~self._always[pages]].sum())


def freshness(policy: Policy, population: Population, *, seed: int) -> float:
    """Run a policy over the measured time of a population and return how fresh it kept the copies."""
    scenario = population.scenario
    rng = np.random.default_rng(seed)
    copies = Copies(population)
    width = 1.0 / scenario.rounds_a_day
    budget = round(scenario.budget * len(population.weights) * width)
    for number in range(scenario.days * scenario.rounds_a_day):
        now = population.begin + number * width
        pages = policy.take(now, budget)
        at = now + rng.random(len(pages)) * width
        tau, changed = copies.fetch(pages, at)
        policy.saw(pages, at, tau, changed)
    return copies.freshness()


def best(scores: Floats, budget: int, population: Population) -> Ints:
    """Return the pages of the highest scores within the limits, best first; never one without a finite score."""
    if not population.scenario.hosts:
        pages = np.argpartition(-scores, budget)[:budget] if budget < len(scores) else np.arange(len(scores))
        return pages[np.isfinite(scores[pages])]
    order = np.argsort(-scores, kind="stable")
    order = order[np.isfinite(scores[order])]
    hosts = population.hosts[order]
    by_host = np.argsort(hosts, kind="stable")
    sorted_hosts = hosts[by_host]
    places = np.arange(len(order)) - np.searchsorted(sorted_hosts, sorted_hosts)
    allowed = np.empty(len(order), dtype=bool)
    allowed[by_host] = places < PAGES_A_HOST
    return order[allowed][:budget]
