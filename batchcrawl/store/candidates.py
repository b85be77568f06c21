"""The hosts whose URLs generate may take now, and how many of each: read from the ready and timer indexes alone."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from batchcrawl.errors import CorruptData
from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import Place
from batchcrawl.policy.conditions import Condition, holds, holds_on
from batchcrawl.policy.domain_state import put_off_until
from batchcrawl.policy.selection import Limits, host_limit, shared_by_hosts
from batchcrawl.store import keys
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry

Candidate = tuple[bytes, HostRecord, int | None]
"""Host part, host record, and how many URLs the host may give; None for no limit."""


def lift_due(db: CrawlDb, now: float) -> Iterator[int]:
    """Move the URLs whose timers are due at `now` into the ready index; yields how many, a batch at a time."""

    def lift(batch: Batch, fingerprint: bytes, entry: Entry | None) -> None:
        if entry is None or entry.record.place is not Place.TIMER:
            raise CorruptData(f"{db.path}: the timer of {fingerprint.hex()} has no record; see 'batchcrawl check'")
        entry.record.place = Place.READY
        batch.put(entry)

    for step in change_urls(db, db.due_timers(now), lift):
        yield step.changed


def candidates(db: CrawlDb, limits: Limits, *, now: float, turn: int) -> Iterator[Candidate]:
    """Yield the hosts that have ready URLs and are not put off at `now`, in the order of their parts.

    `turn` differs from segment to segment, see `policy.selection.shared_by_hosts`.
    """
    if limits.domain_urls_max is None and limits.domain_hosts_max is None:
        yield from _askable(db, limits, db.ready_hosts(), now=now)
        return
    for _, host_parts in groupby(db.ready_hosts(), key=lambda part: part[: keys.DOMAIN_PART_BYTES]):
        # Their records are read once more in the end: a domain may have more hosts than memory has room for.
        hosts = [
            (part, limit, _count(db, part, record.host, limits, limit))
            for part, record, limit in _askable(db, limits, host_parts, now=now)
        ]
        granted = shared_by_hosts(
            [count for *_, count in hosts],
            urls_max=limits.domain_urls_max,
            hosts_max=limits.domain_hosts_max,
            turn=turn,
        )
        for (host_part, *_), limit in zip(hosts, granted, strict=True):
            record = db.host(host_part) if limit else None
            if record is not None:
                yield host_part, record, limit


def ready_keys(db: CrawlDb, host_part: bytes, host: str, only: Condition | None) -> Iterator[bytes]:
    """Yield the ready keys of a host's URLs for which a condition holds, best first.

    Where the condition asks for more than the host, each record is read, also of those that are passed over.
    """
    on_host = True if only is None else holds_on(only, host)
    if only is None or on_host:
        yield from db.ready(host_part)
    elif on_host is None:
        for key in db.ready(host_part):
            entry = db.load(keys.ready_fingerprint(key))
            if entry is not None and holds(only, entry.record):
                yield key


def owed_delay(record: HostRecord, *, delay_min_s: float) -> float:
    """Return the gap between two requests to a host, in seconds, as far as is known before the fetch."""
    return max(record.delay_s or 0.0, record.crawl_delay_s or 0.0, delay_min_s)


def _askable(db: CrawlDb, limits: Limits, host_parts: Iterable[bytes], *, now: float) -> Iterator[Candidate]:
    for host_part in host_parts:
        record = db.host(host_part)
        if record is None or (limits.only is not None and holds_on(limits.only, record.host) is False):
            continue
        if put_off_until(record, db.domain(host_part, record)) > now:
            continue
        delay_s = owed_delay(record, delay_min_s=limits.delay_min_s)
        yield (
            host_part,
            record,
            host_limit(duration_s=limits.duration_s, delay_s=delay_s, urls_max=limits.host_urls_max),
        )


def _count(db: CrawlDb, host_part: bytes, host: str, limits: Limits, host_limit: int | None) -> int:
    """Return how many URLs a host offers, counted up to the least limit."""
    least = min((n for n in (host_limit, limits.domain_urls_max) if n is not None), default=None)
    return sum(1 for _ in islice(ready_keys(db, host_part, host, limits.only), least))
