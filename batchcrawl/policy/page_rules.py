"""Rules of the job for some of its URLs: a weight, an interval, or bounds of it, that are theirs alone.

Rules stand in an order; of each of the four the first rule decides that holds for the URL and names it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import msgspec

from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.recrawl import Intervals
from batchcrawl.policy.rules import Asks
from batchcrawl.policy.scope import url_test
from batchcrawl.web.patterns import Dialect, compile_search
from batchcrawl.web.urls import host_key

OF_URL = {
    "host": Asks.HOST,
    "domain": Asks.DOMAIN,
    "prefix": Asks.PREFIX,
    "regex": Asks.FOUND,
    "extension": Asks.EXTENSION,
    "any": Asks.ANYTHING,
}
"""What a rule may ask of the URL, by its word."""
TYPE, STATUS = "type", "status"
"""The words for what was found there: media types; page statuses and HTTP statuses."""
_STATUS_WORDS = {
    PageStatus.UNFETCHED: "unfetched",
    PageStatus.FETCHED: "fetched",
    PageStatus.DUPLICATE: "fetched",
    PageStatus.REDIRECT: "redirect",
    PageStatus.GONE: "gone",
    PageStatus.BLOCKED: "blocked",
    PageStatus.SKIPPED: "skipped",
}
STATUSES = tuple(dict.fromkeys(_STATUS_WORDS.values()))
"""A stored page counts as fetched, whether its text is known under another URL or not."""

Holds = Callable[[UrlRecord], bool]


class PageRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a job says of the URLs that a condition holds for."""

    number: int
    """Its place in the job's list, from 1."""
    text: str
    """The rule as people read it."""
    place: str
    """`file:line`."""
    asks: str
    """The word of the condition."""
    values: tuple[str, ...] = ()
    interval_s: float | None = None
    interval_min_s: float | None = None
    interval_max_s: float | None = None
    weight: float | None = None


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """Which rule says what of a URL; None where none does."""

    interval: PageRule | None = None
    interval_min: PageRule | None = None
    interval_max: PageRule | None = None
    weight: PageRule | None = None


def decided_by(rules: Sequence[PageRule], record: UrlRecord) -> Decided:
    """Return which rules decide for a URL as it is now.

    A URL that is gone does not come at the interval of the pages around it: only a rule for that status gives it one.
    """
    holding = [rule for rule in rules if _test_of(rule)(record)]
    is_gone = record.status is PageStatus.GONE
    timed = (rule for rule in holding if rule.interval_s is not None and (rule.asks == STATUS or not is_gone))
    return Decided(
        interval=next(timed, None),
        interval_min=next((rule for rule in holding if rule.interval_min_s is not None), None),
        interval_max=next((rule for rule in holding if rule.interval_max_s is not None), None),
        weight=next((rule for rule in holding if rule.weight is not None), None),
    )


def own_intervals(intervals: Intervals, rules: Sequence[PageRule], record: UrlRecord) -> Intervals:
    """Return the intervals of a URL as it is now, those of its kind being `intervals`."""
    if not rules:
        return intervals
    found = decided_by(rules, record)
    own = intervals
    if found.interval is not None:
        own = replace(own, own_s=found.interval.interval_s)
    if found.interval_min is not None:
        own = replace(own, min_s=found.interval_min.interval_min_s or own.min_s)
    if found.interval_max is not None:
        own = replace(own, max_s=found.interval_max.interval_max_s or own.max_s)
    if found.weight is not None:
        own = replace(own, weight=own.weight * (found.weight.weight or 1.0))
    return own


@lru_cache(maxsize=1000)
def _test_of(rule: PageRule) -> Holds:
    """Return what tells of a URL whether a rule holds."""
    if rule.asks == STATUS:
        return lambda record: _STATUS_WORDS[record.status] in rule.values or str(record.http_status) in rule.values
    if rule.asks == TYPE:
        return lambda record: _media_type(record.content_type) in rule.values
    asks = OF_URL[rule.asks]
    if asks is Asks.FOUND:
        search = compile_search(rule.values[0], Dialect.PYTHON)
        return lambda record: search(record.url) is True  # one that takes too long finds nothing
    holds = url_test(asks, rule.values)
    return lambda record: holds(record.url, host_key(record.url))


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()
