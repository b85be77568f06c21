"""Why no URL may be taken now, and when one may be, in one line."""

from batchcrawl.errors import NothingDue
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.units import about
from batchcrawl.store.segment import STEPS, Segment

Chances = tuple[list[float], list[float]]
"""Of a partition: when its next timer is due, if it has any, and until when its hosts with ready URLs are put off."""


def nothing_due(
    crawl: Crawl, chances: list[Chances], now: float, *, spent_until: float | None, by_day: bool
) -> NothingDue:
    """Return why no URL may be taken, and when one may be; `spent_until` is when the budget allows refetches again.

    `by_day` says that the job limits what hosts or domains give on a day.
    """
    timers = [at for of_partition, _ in chances for at in of_partition]
    put_off = [at for _, of_partition in chances for at in of_partition]
    if spent_until is not None and any(at <= now for at in put_off):
        due_at = min([spent_until, *timers, *(at for at in put_off if at > now)])
        why = "URLs are ready, but the budget of refetches is used up for now"
        return NothingDue(f"nothing is due; {why}: the next may be taken in {about(due_at - now)}", due_at=due_at)
    if not timers and not put_off:
        out = [
            name for name in crawl.layout.segment_ids() if not Segment(crawl.layout.segment(name)).is_done(STEPS[-1])
        ]
        why = f"; URLs are out in segment {out[0]}, which is not applied yet" if out else ""
        return NothingDue(f"nothing is due, and nothing will be by itself: no URL waits for its time{why}", due_at=None)
    due_at = min([*timers, *put_off])
    resting = "are put off, or have given theirs of the day" if by_day else "are put off"
    why = f"; hosts with URLs that {resting}: {len(put_off):,}" if put_off else ""
    return NothingDue(f"nothing is due; the next URL is due in {about(due_at - now)}{why}", due_at=due_at)
