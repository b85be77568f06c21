"""When a URL may be taken again, and at which level: by what a refetch is worth, or once an interval is over.

A stored page goes by value. Until its value reaches the floor it waits in the timer index alone; from then on it is
ready at the level of its value, with a timer for the instant at which it reaches the next one. So nothing has to be
sorted or scanned to take the pages of highest value first. Everything else, and every page under a policy of intervals,
waits for an instant, and is then ready at the level of the price.
"""

import math
from dataclasses import dataclass
from typing import Literal

from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.importance import importance
from batchcrawl.policy.lastmod import Trust, told_value
from batchcrawl.policy.price import PRICE_MAX, PRICE_MIN
from batchcrawl.policy.schedule import DAY_S, PRIOR, Belief, bounded_interval
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value, reached_after, value, value_level

Policy = Literal["value", "fixed", "adaptive"]
Change = Literal["text", "payload", "near"]
STORED = frozenset({PageStatus.FETCHED, PageStatus.DUPLICATE})
"""Statuses of a URL of which there is a copy that can be stale."""
RISE_S = 60.0
"""Levels that are reached within this time are passed at once: timers count minutes."""


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """The job's settings of recrawling, in seconds."""

    first_s: float
    """Of a page of weight 1 of which nothing is known yet."""
    min_s: float
    max_s: float
    gone_s: float
    retry_s: float
    failures_max: int
    policy: Policy = "value"
    change: Change = "text"
    """What of a page must differ for it to have changed."""
    weight: float = 1.0
    """By which the weights of all of them are multiplied; makes up for a first interval of their own."""
    own_s: float | None = None
    """Interval at which they come, whatever they are worth; None where the policy decides."""
    prior: Belief = PRIOR
    """What is believed of one that was never refetched."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What decides between pages, in weighted days."""

    price: float
    """What the last refetch that is taken is worth."""
    floor: float
    """What is worth less is not ready; never above the price."""


def price_of(first_s: float) -> float:
    """Return the price at which a page of weight 1 of which nothing is known comes `first_s` seconds after a fetch."""
    return min(max(value(Belief(), tau=first_s / DAY_S, weight=1.0), PRICE_MIN), PRICE_MAX)


def fixed_prices(first_s: float) -> Prices:
    """Return the prices of a crawl without a budget: every page comes when it is worth the price, and none before."""
    price = price_of(first_s)
    return Prices(price=price, floor=price)


def observed_rate(record: UrlRecord) -> float | None:
    """Return the rate that is believed of a record, in changes a day, or None before the first observation."""
    return record.rate_a / record.rate_b if record.rate_b > 0 else None


def belief_of(record: UrlRecord, prior: Belief) -> Belief:
    """Return what is believed of a record's change rate; the prior before the first observation."""
    return Belief(record.rate_a, record.rate_b) if record.rate_b > 0 else prior


def weight_of(record: UrlRecord, intervals: Intervals) -> float:
    """Return the weight by which the value of a URL is multiplied."""
    return importance(record).weight * intervals.weight


def is_by_value(record: UrlRecord, intervals: Intervals) -> bool:
    """Tell whether a URL comes again by its value: a stored page that did not fail and has no interval of its own."""
    return (
        intervals.policy == "value"
        and record.status in STORED
        and record.last_fetch_at is not None
        and not record.retries
        and record.seed_interval_s is None
        and intervals.own_s is None
    )


def worth(record: UrlRecord, intervals: Intervals, *, at: float, trust: Trust | None = None) -> float:
    """Return what a refetch is worth at an instant, in weighted days; `trust` is that in its host's lastmod."""
    belief, weight = belief_of(record, intervals.prior), weight_of(record, intervals)
    tau = (at - (record.last_fetch_at or 0)) / DAY_S
    plain = value(belief, tau=tau, weight=weight)
    if trust is None or not record.signals:
        return plain
    return max(plain, told_value(belief, trust, tau=tau, weight=weight, signals=record.signals))


def interval_until(record: UrlRecord, intervals: Intervals, *, wanted: float) -> int:
    """Return how many seconds after its fetch a page is worth `wanted` weighted days, within the job's bounds."""
    return bounded_interval(_reached_s(record, intervals, wanted), min_s=intervals.min_s, max_s=intervals.max_s)


def clipped_by(record: UrlRecord, intervals: Intervals, *, wanted: float) -> str | None:
    """Return the setting that bounds the interval until a page is worth `wanted` weighted days, or None."""
    free_s = _reached_s(record, intervals, wanted)
    if free_s > intervals.max_s:
        return "interval_max"
    return "interval_min" if free_s < intervals.min_s else None


def lift(record: UrlRecord, intervals: Intervals, prices: Prices, *, now: float, trust: Trust | None = None) -> None:
    """Give a record whose timer is due its place: its level, and the instant at which it reaches the next one.

    A timer that is set is due after `now`, by a minute at least where the record is ready. `trust` counts only for a
    URL that was told to have changed.
    """
    if not is_by_value(record, intervals):
        record.place = Place.READY
        if record.status is not PageStatus.UNFETCHED and (not record.retries or record.status is PageStatus.GONE):
            record.level = value_level(prices.price * weight_of(record, intervals))
        return
    last = record.last_fetch_at or 0
    worth_now = worth(record, intervals, at=now, trust=trust)
    wait_s = intervals.min_s if worth_now >= prices.floor else interval_until(record, intervals, wanted=prices.floor)
    at = int(min(last + wait_s, INSTANT_MAX))
    if at > now:
        record.place, record.level, record.next_fetch_at = Place.TIMER, LEVEL_MIN, at
        return
    _rise(record, intervals, level=value_level(worth_now), now=now)


def returned_place(record: UrlRecord, lease: int) -> Place:
    """Return where a URL goes back to that was leased at the instant `lease` and not used."""
    return Place.RISING if (record.next_fetch_at or 0) > lease else Place.READY


def come_at_once(record: UrlRecord, at: int) -> None:
    """Make a known URL that waits ready from `at` on, before all others."""
    if record.place in (Place.TIMER, Place.RISING):
        record.place, record.level, record.next_fetch_at = Place.READY, LEVEL_MAX, min(record.next_fetch_at or at, at)


def _rise(record: UrlRecord, intervals: Intervals, *, level: int, now: float) -> None:
    """Make a page ready at a level, with a timer for the next one; at the longest interval it is at the top."""
    last = record.last_fetch_at or 0
    longest_at = last + intervals.max_s
    belief, weight = belief_of(record, intervals.prior), weight_of(record, intervals)
    while longest_at >= now + RISE_S and level < LEVEL_MAX:
        tau = reached_after(belief, weight=weight, wanted=level_value(level + 1))
        at = min(last + _whole_seconds(tau), longest_at, INSTANT_MAX)
        if at >= now + RISE_S:
            record.place, record.level, record.next_fetch_at = Place.RISING, level, int(at)
            return
        level += 1
    record.place, record.level, record.next_fetch_at = Place.READY, LEVEL_MAX, int(min(now, INSTANT_MAX))


def _reached_s(record: UrlRecord, intervals: Intervals, wanted: float) -> float:
    tau = reached_after(belief_of(record, intervals.prior), weight=weight_of(record, intervals), wanted=wanted)
    return _whole_seconds(tau)


def _whole_seconds(days: float) -> float:
    """Return days in seconds, rounded up but for what is rounding itself."""
    return math.ceil(days * DAY_S - 1e-3) if days < INSTANT_MAX else math.inf
