"""The job's settings of an update, as they were when it began: a change of the job waits for the next segment."""

from dataclasses import replace

import msgspec

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.transitions import Transition
from batchcrawl.policy.visits import Intervals, Visit, apply_visit


class UpdateRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the outcome of an update depends on beside the segment and the crawldb."""

    pages: Intervals
    lists: Intervals
    """Of sitemaps and feeds."""
    follow_duplicates: bool
    """Take the links of pages whose text is known under another URL."""

    def of_kind(self, kind: UrlKind) -> Intervals:
        """Return the intervals of a page, or those of a sitemap or feed."""
        return self.pages if kind is UrlKind.PAGE else self.lists

    def apply(self, record: UrlRecord, visit: Visit) -> Transition:
        """Change a leased record by a visit, whatever it is the record of."""
        record.kind = visit.kind or record.kind
        return apply_visit(record, visit, self._for_visit(record.kind, visit))

    def _for_visit(self, kind: UrlKind, visit: Visit) -> Intervals:
        """What was named as a sitemap and is none comes but rarely."""
        intervals = self.of_kind(kind)
        is_none = visit.outcome is FetchOutcome.FETCHED and not visit.parsed and not visit.revisit
        return replace(intervals, first_s=intervals.max_s) if kind is not UrlKind.PAGE and is_none else intervals
