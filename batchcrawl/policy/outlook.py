"""What a budget buys: how fresh the copies of a crawl are in the long run, by what is believed of its pages.

A page whose value reaches the price every tau days costs 1/tau fetches a day, and its copy is right for the mean of
(1 + t/b)^-a over t from 0 to tau. So one price stands for one budget and one freshness, and nothing has to be drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from batchcrawl.policy.price import starting_price
from batchcrawl.policy.schedule import SPAN_MAX, Belief, bounded_shape
from batchcrawl.policy.value import reached_after

Pages = Sequence[tuple[Belief, float]]
"""Belief and weight of each page of a sample."""


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """How fresh a crawl is under a budget, in the long run."""

    fetches_a_day: float
    price: float
    """In weighted days."""
    fresh: float
    """Share of the weight of all pages whose copies are right, as a mean over time."""
    fresh_plain: float
    """Share of the pages, likewise."""
    fresh_alike: float
    """Share of the weight if the same fetches went to all pages alike."""
    given_up: float
    """Share of the pages that are never worth the price: they change faster than it pays to follow, or weigh little."""


def outlook(pages: Pages, *, known: int, fetches_a_day: float) -> Outlook:
    """Return what a budget buys for `known` pages, judged by a sample of them that is not empty."""
    price = starting_price(pages, known=known, fetches_a_day=fetches_a_day)
    intervals = [reached_after(belief, weight=weight, wanted=price) for belief, weight in pages]
    alike = known / fetches_a_day if fetches_a_day > 0 else math.inf
    total = math.fsum(weight for _, weight in pages)
    shares = [right_share(belief, tau) for (belief, _), tau in zip(pages, intervals, strict=True)]
    return Outlook(
        fetches_a_day=fetches_a_day,
        price=price,
        fresh=_by_weight(pages, shares) / total,
        fresh_plain=math.fsum(shares) / len(shares),
        fresh_alike=_by_weight(pages, [right_share(belief, alike) for belief, _ in pages]) / total,
        given_up=sum(tau == math.inf for tau in intervals) / len(pages),
    )


def asked_for(pages: Pages, *, known: int, price: float) -> float:
    """Return how many fetches a day `known` pages ask for at a price, judged by a sample of them."""
    intervals = (reached_after(belief, weight=weight, wanted=price) for belief, weight in pages)
    return math.fsum(1.0 / max(tau, 1 / SPAN_MAX) for tau in intervals) * known / max(1, len(pages))


def right_share(belief: Belief, interval: float) -> float:
    """Return for which share of the time a copy is right that is fetched again every `interval` days.

    The mean of (1 + t/b)^-a over the interval: ((1 + s)^(1-a) - 1) / ((1-a) s), s = interval / b; 0 without end.
    """
    if interval <= 0.0:
        return 1.0
    a, b = bounded_shape(belief.a, belief.b)
    if interval >= SPAN_MAX:
        return 0.0
    s = interval / b
    span = math.log1p(s)
    up = (1.0 - a) * span
    grown = math.expm1(up) / up if up else 1.0
    return min(1.0, grown * span / s)


def _by_weight(pages: Pages, shares: Sequence[float]) -> float:
    return math.fsum(weight * share for (_, weight), share in zip(pages, shares, strict=True))
