"""The price: what the last refetch that a budget pays for is worth, in weighted days.

It is the Lagrange multiplier of the budget (Azar, Horvitz, Lubetzky, Peres, Shahaf: "Tractable near-optimal policies
for crawling", 2018). A page is worth its refetch when its value has reached the price. Nothing is scanned for it: it
starts by a sample, and then follows what each round had to leave or could not fill.
"""

import math
from collections.abc import Sequence

from batchcrawl.policy.schedule import Belief
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value, reached_after

PRICE_MIN, PRICE_MAX = level_value(LEVEL_MIN), level_value(LEVEL_MAX)
"""No price lies outside of the levels, in weighted days."""
TOWARDS_SMALLEST = 0.1
"""Part of the way, in the logarithm, that the price goes in a round that had more than it could take."""
TOWARDS_DEMAND = 0.2
FALL = 0.02
"""What the price falls by in a round that took everything, so that it never stays too high unnoticed."""
_BISECTIONS = 18
_LN_MIN, _LN_MAX = math.log(PRICE_MIN), math.log(PRICE_MAX)


def starting_price(pages: Sequence[tuple[Belief, float]], *, known: int, fetches_a_day: float) -> float:
    """Return the price at which `known` pages ask for so many fetches a day, judged by a sample of them.

    A page of the sample is its belief and its weight. A page whose value reaches the price every tau days asks for
    1/tau fetches a day. An empty sample gives the lowest price: one that is too low costs nothing and soon rises.
    """
    if not pages or known <= 0:
        return PRICE_MIN
    low, high = _LN_MIN, _LN_MAX
    wanted = fetches_a_day * len(pages) / known
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _fetches_a_day(pages, price=math.exp(middle), enough=wanted) > wanted:
            low = middle
        else:
            high = middle
    return _bounded((low + high) / 2)


def moved_price(price: float, *, demand: int, budget: float, smallest: float | None) -> float:
    """Return the price after a round that could have taken `demand` pages worth the price and might take `budget`.

    `demand` counts what the limits of hosts and domains let through; `smallest` is the smallest value that was taken.
    """
    before = min(max(math.log(price), _LN_MIN), _LN_MAX) if price > 0 else _LN_MIN
    if budget <= 0:
        return _bounded(before)
    if demand > budget and smallest is not None and smallest > 0:
        return _bounded(before + TOWARDS_SMALLEST * (math.log(smallest) - before))
    asked = math.log(demand) - math.log(budget) if demand > 0 else -1.0
    return _bounded(before + TOWARDS_DEMAND * max(asked, -1.0) - FALL)


def _bounded(logarithm: float) -> float:
    return min(max(math.exp(min(max(logarithm, _LN_MIN), _LN_MAX)), PRICE_MIN), PRICE_MAX)


def _fetches_a_day(pages: Sequence[tuple[Belief, float]], *, price: float, enough: float) -> float:
    total = 0.0
    for belief, weight in pages:
        span = reached_after(belief, weight=weight, wanted=price)
        if span <= 0.0:
            return math.inf
        total += 1.0 / span
        if total > enough:
            break
    return total
