"""The job's settings of an update, as they were when it began: a change of the job waits for the next segment."""

from dataclasses import replace

import msgspec

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import Place
from batchcrawl.policy.lastmod import Trust
from batchcrawl.policy.page_rules import PageRule, own_intervals
from batchcrawl.policy.recrawl import Intervals, Prices, fixed_prices, is_by_value, lift, price_of
from batchcrawl.policy.schedule import Belief
from batchcrawl.policy.transitions import Transition
from batchcrawl.policy.visits import Visit, apply_visit


class UpdateRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the outcome of an update depends on beside the segment and the crawldb."""

    pages: Intervals
    lists: Intervals
    """Of sitemaps and feeds."""
    follow_duplicates: bool
    """Take the links of pages whose text is known under another URL."""
    prices: Prices | None = None
    """None in updates that an earlier program began: those of a crawl without a budget."""
    own: tuple[PageRule, ...] = ()
    """What the job says of some URLs alone."""

    def of(self, record: UrlRecord, prior: Belief | None = None) -> Intervals:
        """Return the intervals of a URL: those of its kind, changed by the job's rules for it.

        `prior` is what its host lets believe of pages that were never refetched; None is that of the kind.
        """
        return own_intervals(_with_prior(self.of_kind(record.kind), record, prior), self.own, record)

    def of_kind(self, kind: UrlKind) -> Intervals:
        """Return the intervals of a page, or those of a sitemap or feed."""
        return self.pages if kind is UrlKind.PAGE else self.lists

    def apply(self, record: UrlRecord, visit: Visit, *, dated: bool = False, prior: Belief | None = None) -> Transition:
        """Change a leased record by a visit, whatever it is the record of; `dated` is as of `apply_visit`."""
        record.kind = visit.kind or record.kind
        intervals = _with_prior(self._for_visit(record.kind, visit), record, prior)
        return apply_visit(record, visit, intervals, self.in_force, own=self.own, dated=dated)

    @property
    def in_force(self) -> Prices:
        """The prices that decide."""
        return self.prices or fixed_prices(self.pages.first_s)

    def lift(self, record: UrlRecord, *, now: float, trust: Trust | None, prior: Belief | None = None) -> None:
        """Give a record whose timer is due its place, whatever it is the record of."""
        lift(record, self.of(record, prior), self.in_force, now=now, trust=trust)

    def lower(self, record: UrlRecord, *, now: float, trust: Trust | None, prior: Belief | None = None) -> bool:
        """Look anew at a record that waits for a higher floor; return whether it goes by that."""
        intervals = self.of(record, prior)
        if record.place is not Place.TIMER or not is_by_value(record, intervals):
            return False
        lift(record, intervals, self.in_force, now=now, trust=trust)
        return True

    def _for_visit(self, kind: UrlKind, visit: Visit) -> Intervals:
        """What was named as a sitemap and is none comes but rarely."""
        intervals = self.of_kind(kind)
        is_none = visit.outcome is FetchOutcome.FETCHED and not visit.parsed and not visit.revisit
        if kind is UrlKind.PAGE or not is_none:
            return intervals
        weight = price_of(self.pages.first_s) / price_of(intervals.max_s)
        return replace(intervals, first_s=intervals.max_s, weight=weight)


def _with_prior(intervals: Intervals, record: UrlRecord, prior: Belief | None) -> Intervals:
    """Return the intervals with the prior of a page's host, where that is asked for; lists are like no pages."""
    if prior is None or record.rate_b > 0 or record.kind is not UrlKind.PAGE:
        return intervals
    return replace(intervals, prior=prior)
