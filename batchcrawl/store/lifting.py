"""What timers do to URLs: whatever has come due is ready, or rises; the floor moves, and with it what waits for it."""

from collections.abc import Iterator

from batchcrawl.errors import CorruptData
from batchcrawl.model.status import Place
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.lastmod import Trust, trust_of
from batchcrawl.policy.schedule import Belief
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.store import keys
from batchcrawl.store.budget_mark import read_floor, set_floor
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.rates_mark import read_rates

_TIMED = frozenset({Place.TIMER, Place.RISING})


def lift_due(db: CrawlDb, rules: UpdateRules, *, now: float) -> Iterator[int]:
    """Make the URLs whose timers are due at `now` ready, or let them rise; yields how many, a batch at a time."""

    priors = Priors(read_rates(db))

    def lift(batch: Batch, fingerprint: bytes, entry: Entry | None) -> None:
        if entry is None or entry.record.place not in _TIMED:
            raise CorruptData(f"{db.path}: the timer of {fingerprint.hex()} has no record; see 'batchcrawl check'")
        trust, prior = _shown(db, entry, priors)
        rules.lift(entry.record, now=now, trust=trust, prior=prior)
        batch.put(entry)

    for step in change_urls(db, db.due_timers(now), lift):
        yield step.changed


def move_floor(db: CrawlDb, rules: UpdateRules, *, now: float) -> Iterator[int]:
    """Let the timers of a partition be those of the floor in force; yields how many were looked at, a batch at a time.

    Where the floor has fallen that costs a look at every page that waits; where it has risen, nothing.
    """
    floor, before = rules.in_force.floor, read_floor(db)
    if floor == before:
        return

    priors = Priors(read_rates(db))

    def look_anew(batch: Batch, _: bytes, entry: Entry | None) -> None:
        trust, prior = (None, None) if entry is None else _shown(db, entry, priors)
        if entry is not None and rules.lower(entry.record, now=now, trust=trust, prior=prior):
            batch.put(entry)

    for step in change_urls(db, map(keys.timer_fingerprint, db.waiting()), look_anew) if floor < before else ():
        yield step.seen
    batch = db.batch()
    set_floor(batch, floor)
    batch.commit()


def _shown(db: CrawlDb, entry: Entry, priors: Priors) -> tuple[Trust | None, Belief | None]:
    """Return what a URL's host has shown, as far as it counts for the URL.

    What its lastmod is worth, where that has told of a change since the last fetch, and what is believed of pages that
    were never refetched, where this is one.
    """
    record = entry.record
    if not record.signals and record.rate_b > 0:
        return None, None
    host = db.host(entry.host_part)
    trust = None if host is None or not record.signals else trust_of(host.lastmod)
    return trust, priors.of(host)
