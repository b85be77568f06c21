"""How far the lastmod of a site's sitemaps and feeds is believed: as far as it has proved right.

Each fetch of a URL that they date is one of four: its content had changed or not, and a newer lastmod had said so or
not. From the counts follow how many changes are told (q), and how often one is told where there is none (nu). A site
that dates all its pages anew each night tells every change, and is believed in nothing.
"""

from dataclasses import dataclass

from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.schedule import DAY_S, Belief, fresh_span_s
from batchcrawl.policy.visits import belief_of

TOLD_CHANGED, SILENT_CHANGED, TOLD_SAME, SILENT_SAME, SAME_DAYS = 1.0, 3.0, 0.5, 0.5, 5.0
"""Counts to begin with: a site is not believed before it has proved right a few times."""
TRUST_MIN = 0.6
"""Least sum of the shares of changes that were told and of sameness that was not, less one (Youden's index)."""
RECALL_MAX = 0.8
SIGNALS_MAX = 3
"""More newer dates since the last fetch say no more than so many."""


@dataclass(frozen=True)
class Trust:
    """What a lastmod of a site is worth."""

    recall: float
    """Share of the changes that are told (q)."""
    false_rate: float
    """Dates a day that tell of a change where there is none (nu)."""

    def chance_stale(self, belief: Belief, signals: int) -> float:
        """Return the chance that a stored copy has been changed, after so many newer dates since it was fetched."""
        told = belief.rate * self.recall
        one = told / (told + self.false_rate)
        return 1.0 - (1.0 - one) ** min(signals, SIGNALS_MAX)


def trust_of(counts: LastmodCounts | None) -> Trust | None:
    """Return what a site's lastmod is worth, or None while it has not proved right."""
    if counts is None:
        return None
    told_changed, told_same = counts.told_changed + TOLD_CHANGED, counts.told_same + TOLD_SAME
    recall = told_changed / (told_changed + counts.silent_changed + SILENT_CHANGED)
    silent_same = counts.silent_same + SILENT_SAME
    if recall + silent_same / (silent_same + told_same) - 1.0 < TRUST_MIN:
        return None
    return Trust(min(recall, RECALL_MAX), told_same / (counts.same_days + SAME_DAYS))


def hear(record: UrlRecord, *, at: int, until: int, trust: Trust | None, interval_min_s: float) -> bool:
    """Take in that a sitemap or feed dates a URL's last change between two instants; return whether that is news.

    A date later than the last one told and than the last fetch is a signal. Where the site is trusted, a stored page
    is then due as soon as its copy is probably stale, though no sooner than the least interval allows.
    """
    if record.lastmod_at is not None and at <= record.lastmod_at:
        return False
    record.lastmod_at = at
    if record.last_fetch_at is None or until <= record.last_fetch_at:
        return True
    record.signals = min(record.signals + 1, 0xFF)
    if trust is not None and record.place is Place.TIMER and record.status in _STORED:
        belief = belief_of(record)
        span_s = fresh_span_s(belief, stale=trust.chance_stale(belief, record.signals))
        due_at = record.last_fetch_at + max(span_s, interval_min_s)
        record.next_fetch_at = int(min(record.next_fetch_at or INSTANT_MAX, due_at))
    return True


_STORED = frozenset({PageStatus.FETCHED, PageStatus.DUPLICATE})


def judge_lastmod(counts: LastmodCounts | None, before: UrlRecord, after: UrlRecord) -> LastmodCounts | None:
    """Return a site's counts after a fetch that changed a record from `before` to `after`.

    A fetch that saw neither a change nor sameness says nothing, nor does one of a URL that was never dated.
    """
    changed, same = after.changes > before.changes, after.rate_b > before.rate_b
    if before.lastmod_at is None or before.last_fetch_at is None or not (changed or same):
        return counts
    counts = counts or LastmodCounts()
    told = before.signals > 0
    if changed:
        name = "told_changed" if told else "silent_changed"
        return structs.replace(counts, **{name: getattr(counts, name) + 1})
    days = ((after.last_fetch_at or 0) - before.last_fetch_at) / DAY_S
    name = "told_same" if told else "silent_same"
    return structs.replace(counts, **{name: getattr(counts, name) + 1}, same_days=counts.same_days + max(days, 0.0))
