"""How far the lastmod of a site's sitemaps and feeds is believed: as far as it has proved right.

Each fetch of a URL that they date is one of four: its content had changed or not, and a newer lastmod had said so or
not. From the counts follow how many changes are told (q), and how often one is told where there is none (nu). A site
that dates all its pages anew each night tells every change, and is believed in nothing.
"""

from dataclasses import dataclass

from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.schedule import DAY_S, Belief
from batchcrawl.policy.value import value

TOLD_CHANGED, SILENT_CHANGED, TOLD_SAME, SILENT_SAME, SAME_DAYS = 1.0, 3.0, 0.5, 0.5, 5.0
"""Counts to begin with: a site is not believed before it has proved right a few times."""
TRUST_MIN = 0.6
"""Least sum of the shares of changes that were told and of sameness that was not, less one (Youden's index)."""
RECALL_MAX = 0.8
SIGNALS_MAX = 3
"""More newer dates since the last fetch say no more than so many."""
FRESH_DAYS_MAX = 60.0
"""A copy that is certainly stale is worth no more than so many days of freshness."""


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


def told_value(belief: Belief, trust: Trust, *, tau: float, weight: float, signals: int) -> float:
    """Return what a refetch is worth `tau` days after the last one, in weighted days, after so many newer dates.

    With the chance that the copy is stale already, fresh days are gained until the next change; else the value is that
    of a page whose changes are told but for a part.
    """
    stale = trust.chance_stale(belief, signals)
    silent = 1.0 - trust.recall
    untold = silent * value(Belief(belief.a, belief.b / silent), tau=tau, weight=weight)
    fresh_days = min((belief.b + trust.recall * max(tau, 0.0)) / belief.a, FRESH_DAYS_MAX)
    return max(untold, stale * weight * fresh_days + (1.0 - stale) * untold)


def judge_lastmod(counts: LastmodCounts | None, before: UrlRecord, after: UrlRecord) -> LastmodCounts | None:
    """Return a site's counts after a fetch that changed a record from `before` to `after`.

    A fetch that saw neither a change nor sameness says nothing, nor does one of a URL that was never dated.
    """
    changed = saw_change(before, after)
    if before.lastmod_at is None or changed is None:
        return counts
    return counted(counts, before, after, changed=changed, told=before.signals > 0)


def saw_change(before: UrlRecord, after: UrlRecord) -> bool | None:
    """Tell whether a fetch saw that the content had changed, by what it did to the record; None if it did not see."""
    if before.last_fetch_at is None:
        return None
    if after.changes > before.changes:
        return True
    return False if after.rate_b > before.rate_b else None


def counted(
    counts: LastmodCounts | None, before: UrlRecord, after: UrlRecord, *, changed: bool, told: bool
) -> LastmodCounts:
    """Return the counts with one more fetch, that had changed or not, of which a change had been told or not."""
    counts = counts or LastmodCounts()
    if changed:
        name = "told_changed" if told else "silent_changed"
        return structs.replace(counts, **{name: getattr(counts, name) + 1})
    days = ((after.last_fetch_at or 0) - (before.last_fetch_at or 0)) / DAY_S
    name = "told_same" if told else "silent_same"
    return structs.replace(counts, **{name: getattr(counts, name) + 1}, same_days=counts.same_days + max(days, 0.0))
