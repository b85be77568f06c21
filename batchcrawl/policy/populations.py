"""Synthetic populations of pages, of which it is known how often they change: what would a budget buy on such a web?"""

import math
from collections.abc import Callable
from random import Random
from typing import NamedTuple

CLASSES = ((0.23, 1.0, 8.0), (0.15, 1 / 7, 1.0), (0.16, 1 / 30, 1 / 7), (0.17, 1 / 120, 1 / 30), (0.29, 1e-3, 1 / 120))
"""Share of the pages, least and most changes a day; within a class the logarithm is even.

The shares of 270 sites over four months: Cho and Garcia-Molina, "The evolution of the web and implications for an
incremental crawler", VLDB 2000.
"""
WEIGHT_POWER = 0.8
"""Weights fall with this power of the rank."""
_MEDIAN, _SIGMA = 1 / 45, 2.0
_NEVER, _OFTEN, _OFTEN_RATE = 0.4, 0.05, 100.0


class Page(NamedTuple):
    """A page as it is."""

    rate: float
    """Changes a day."""
    weight: float


def population(name: str, *, pages: int, chance: Random) -> list[Page]:
    """Draw the pages of a population, one of POPULATIONS; the mean of their weights is 1."""
    ranks = list(range(1, pages + 1))
    chance.shuffle(ranks)
    weights = [rank**-WEIGHT_POWER for rank in ranks]
    mean = math.fsum(weights) / pages
    return [Page(POPULATIONS[name](chance), weight / mean) for weight in weights]


def _classes(chance: Random) -> float:
    (_, low, high) = chance.choices(CLASSES, weights=[share for share, _, _ in CLASSES])[0]
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def _log_normal(chance: Random) -> float:
    return math.exp(chance.gauss(math.log(_MEDIAN), _SIGMA))


def _extremes(chance: Random) -> float:
    kind = chance.random()
    if kind < _NEVER:
        return 0.0
    return _OFTEN_RATE if kind > 1 - _OFTEN else _classes(chance)


POPULATIONS: dict[str, Callable[[Random], float]] = {
    "web": _classes,
    "log-normal": _log_normal,
    "extremes": _extremes,
}
"""How a rate is drawn, by name. `web`: the shares of a study; `log-normal`: a median of one change in 45 days, sigma 2;
`extremes`: four of ten pages never change and one of twenty a hundred times a day, the others as in `web`."""
