"""The populations: how pages change, what they weigh, and what may be fetched.

Rates by the shares of a study of 270 sites over four months (Cho and Garcia-Molina: "The evolution of the web and
implications for an incremental crawler", VLDB 2000), log-uniform within each of its five classes.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CLASSES = ((0.23, 1.0, 8.0), (0.15, 1 / 7, 1.0), (0.16, 1 / 30, 1 / 7), (0.17, 1 / 120, 1 / 30), (0.29, 1e-3, 1 / 120))
"""Share of pages, least and most changes a day."""
WEIGHT_POWER = 0.8
HOSTS = 400
PAGES_A_HOST = 6
"""In a round, where hosts count."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One population under one budget."""

    name: str
    budget: float = 0.1
    """Fetches a day, by the number of pages."""
    days: int = 180
    """Measured, after a first pass over all pages at the budget."""
    rounds_a_day: int = 4
    equal: bool = False
    """All weights are 1; otherwise they fall with the power of the rank."""
    log_normal: bool = False
    """Rates with a median of one change in 45 days, sigma 2."""
    correlation: float = 0.0
    """Of the ranks of weight and rate."""
    never: float = 0.0
    """Share of pages that never change."""
    always: float = 0.0
    """Share of pages that differ at each fetch."""
    periodic: float = 0.0
    """Share of pages that change at equal intervals."""
    by_day: float = 0.0
    """Share of pages that change only in eight hours of a day."""
    shift: float = 0.0
    """Share of pages that draw a new rate in the middle of the measured time."""
    hosts: bool = False
    """Few hosts of Zipf sizes, rates half by host, and a limit of pages for a host and round."""

    @property
    def pass_days(self) -> float:
        """Return how long the first pass takes."""
        return 1.0 / self.budget


SCENARIOS = (
    Scenario(name="base"),
    Scenario(name="tight", budget=0.02),
    Scenario(name="rich", budget=0.5),
    Scenario(name="equal", equal=True),
    Scenario(name="log-normal", log_normal=True, budget=0.03),
    Scenario(name="correlated", correlation=0.5),
    Scenario(name="never+always", never=0.4, always=0.05),
    Scenario(name="not Poisson", periodic=0.3, by_day=0.3),
    Scenario(name="shift", shift=0.5, days=240),
    Scenario(name="weekly", rounds_a_day=1, budget=0.02, days=360),
    Scenario(name="hosts", hosts=True, correlation=0.3),
    Scenario(
        name="together",
        hosts=True,
        correlation=0.3,
        never=0.25,
        always=0.03,
        periodic=0.15,
        by_day=0.15,
        shift=0.3,
        budget=0.05,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Population:
    """The pages of a scenario, by number."""

    scenario: Scenario
    weights: Floats
    """Their mean is 1."""
    rates: tuple[Floats, Floats]
    """Changes a day before and after the middle; endless for those that differ at each fetch."""
    hosts: Ints
    first_at: Floats
    """When the first pass fetches each, in days."""
    changes: Floats
    """Sorted: page * DAYS_MAX + instant of each change in days."""

    @property
    def begin(self) -> float:
        """Return the day on which the measured time begins."""
        return self.scenario.pass_days

    @property
    def end(self) -> float:
        """Return the day on which it ends."""
        return self.scenario.pass_days + self.scenario.days

    def rates_at(self, now: float) -> Floats:
        """Return the rates of a day."""
        return self.rates[int(now >= (self.begin + self.end) / 2)]


DAYS_MAX = 1024.0


def population(scenario: Scenario, *, pages: int, seed: int) -> Population:
    """Draw the pages of a scenario and all their changes."""
    rng = np.random.default_rng([seed, sum(scenario.name.encode())])
    hosts = _hosts(rng, pages)
    ranks = rng.standard_normal(pages)
    if scenario.hosts:
        ranks = math.sqrt(0.5) * (rng.standard_normal(HOSTS)[hosts] + ranks)
    rates = _by_rank(_rates(rng, scenario, pages), ranks)
    pull = 2 * math.sin(math.pi * scenario.correlation / 6)
    weights = _by_rank(
        np.arange(pages, 0, -1.0) ** -WEIGHT_POWER,
        pull * ranks + math.sqrt(1 - pull * pull) * rng.standard_normal(pages),
    )
    weights = np.ones(pages) if scenario.equal else weights / weights.mean()
    after = np.where(rng.random(pages) < scenario.shift, _rates(rng, scenario, pages), rates)
    kinds = rng.random(pages)
    for kind, rate in ((kinds < scenario.never, 0.0), (kinds > 1 - scenario.always, math.inf)):
        rates, after = np.where(kind, rate, rates), np.where(kind, rate, after)
    first_at = rng.permutation(pages) / pages * scenario.pass_days
    return Population(
        scenario=scenario,
        weights=weights,
        rates=(rates, after),
        hosts=hosts,
        first_at=first_at,
        changes=_changes(rng, scenario, rates, after),
    )


def _hosts(rng: np.random.Generator, pages: int) -> Ints:
    shares = 1.0 / np.arange(1, HOSTS + 1)
    return rng.choice(HOSTS, size=pages, p=shares / shares.sum()).astype(np.int64)


def _rates(rng: np.random.Generator, scenario: Scenario, pages: int) -> Floats:
    if scenario.log_normal:
        return np.exp(math.log(1 / 45) + 2.0 * rng.standard_normal(pages))
    shares, low, high = (np.array(column) for column in zip(*CLASSES, strict=True))
    kinds = rng.choice(len(shares), size=pages, p=shares)
    bottom, top = np.log(low)[kinds], np.log(high)[kinds]
    rates: Floats = np.exp(bottom + (top - bottom) * rng.random(pages))
    return rates


def _by_rank(values: Floats, ranks: Floats) -> Floats:
    placed = np.empty_like(values)
    placed[np.argsort(ranks)] = np.sort(values)
    return placed


def _changes(rng: np.random.Generator, scenario: Scenario, rates: Floats, after: Floats) -> Floats:
    middle, end = scenario.pass_days + scenario.days / 2, scenario.pass_days + scenario.days
    kinds = rng.random(len(rates))
    periodic = kinds < scenario.periodic
    by_day = kinds > 1 - scenario.by_day
    keys = []
    for part, begin, until in ((rates, 0.0, middle), (after, middle, end)):
        finite = np.where(np.isfinite(part), part, 0.0)
        for chosen, draw in ((periodic, _periodic), (by_day, _by_day), (~(periodic | by_day), _poisson)):
            pages, at = draw(rng, np.where(chosen, finite, 0.0), until - begin)
            inside = at < until - begin
            keys.append(pages[inside] * DAYS_MAX + begin + at[inside])
    return np.sort(np.concatenate(keys))


def _poisson(rng: np.random.Generator, rates: Floats, days: float) -> tuple[Ints, Floats]:
    counts = rng.poisson(rates * days)
    pages = np.repeat(np.arange(len(rates)), counts)
    return pages, rng.random(len(pages)) * days


def _by_day(rng: np.random.Generator, rates: Floats, days: float) -> tuple[Ints, Floats]:
    """Draw changes in a third of each day, which begins for each page at another hour."""
    pages, at = _poisson(rng, rates, days)
    return pages, np.floor(at) + (at % 1.0) / 3.0 + rng.random(len(rates))[pages] * 2.0 / 3.0


def _periodic(rng: np.random.Generator, rates: Floats, days: float) -> tuple[Ints, Floats]:
    counts = np.floor(rates * days).astype(np.int64) + (rates > 0)
    pages = np.repeat(np.arange(len(rates)), counts)
    turns = np.arange(len(pages)) - np.repeat(np.cumsum(counts) - counts, counts)
    return pages, (turns + rng.random(len(rates))[pages]) / rates[pages]
