"""What a sitemap or feed that dates a URL's last change does to its record."""

from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import Place
from batchcrawl.policy.lastmod import Trust
from batchcrawl.policy.recrawl import STORED, Intervals, Prices, belief_of, is_by_value, worth

STALE_CHANCE = 0.5
"""A page under a policy of intervals is due once its copy is more likely stale than right."""
_WAITING = frozenset({Place.TIMER, Place.RISING})


def hear(
    record: UrlRecord, intervals: Intervals, prices: Prices, *, at: int, until: int, now: float, trust: Trust | None
) -> bool:
    """Take in at `now` that a URL's last change is dated between `at` and `until`; return whether that is news.

    A date later than the last one told and than the last fetch is a signal. Where the host is trusted, a stored page is
    then due as soon as it is worth the floor, though no sooner than the least interval allows.
    """
    if record.lastmod_at is not None and at <= record.lastmod_at:
        return False
    record.lastmod_at = at
    if record.last_fetch_at is None or until <= record.last_fetch_at:
        return True
    record.signals = min(record.signals + 1, 0xFF)
    if trust is not None and record.place in _WAITING and record.status in STORED:
        due_at = max(now, record.last_fetch_at + intervals.min_s)
        if _is_due(record, intervals, prices, at=due_at, trust=trust):
            record.next_fetch_at = int(min(record.next_fetch_at or INSTANT_MAX, due_at))
    return True


def _is_due(record: UrlRecord, intervals: Intervals, prices: Prices, *, at: float, trust: Trust) -> bool:
    if is_by_value(record, intervals):
        return worth(record, intervals, at=at, trust=trust) >= prices.floor
    return trust.chance_stale(belief_of(record, intervals.prior), record.signals) >= STALE_CHANCE
