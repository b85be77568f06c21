"""Report: the state of a crawl at a glance.

Reads: crawldb, manifests of the segments. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.status import PageStatus
from batchcrawl.store import keys
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.segment import STEPS, Segment


@dataclass
class CrawlStatus:
    """What a crawl knows and what it has done."""

    known: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    hosts: int = 0
    put_off_hosts: int = 0
    ready: int = 0
    """URLs that generate may take now, those of hosts put off included."""
    timers: int = 0
    """URLs that come due later."""
    next_due_at: int | None = None
    requests: int = 0
    body_bytes: int = 0
    segments: int = 0
    unfinished: dict[str, str] = field(default_factory=dict)
    """Segments with a step left, and that step's stamp."""


def crawl_status(crawl: Crawl, *, now: float) -> CrawlStatus:
    """Return the state of a crawl; costs a look at every host and index entry, not at every URL record."""
    status = CrawlStatus()
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            _add_partition(status, db, now)
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        status.segments += 1
        step = segment.next_step()
        if step is not None:
            status.unfinished[name] = step
    return status


def segment_rows(crawl: Crawl) -> list[dict[str, Any]]:
    """Return one row a segment, oldest first: id, URLs, hosts, its last step and what its steps counted."""
    rows: list[dict[str, Any]] = []
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        done = [step for step in STEPS if segment.is_done(step)]
        counts = {key: n for info in segment.manifest.steps.values() for key, n in info.counts.items()}
        rows.append(
            {
                "id": name,
                "urls": segment.manifest.urls,
                "hosts": segment.manifest.hosts,
                "state": done[-1] if done else "begun",
                "fetched": counts.get("fetched", 0),
                "new": counts.get("new", 0),
                "body_bytes": counts.get("body_bytes", 0),
            }
        )
    return rows


def _add_partition(status: CrawlStatus, db: CrawlDb, now: float) -> None:
    for _, host in db.hosts():
        status.hosts += 1
        status.requests += host.requests
        status.body_bytes += host.body_bytes
        if (host.deferred_until or 0) > now:
            status.put_off_hosts += 1
        for number, urls in host.urls.items():
            status.statuses[PageStatus(number).name.lower()] += urls
            status.known += urls
    status.ready += sum(1 for _ in db.keys(b"r"))
    for key in db.keys(b"t"):
        status.timers += 1
        due_at = keys.timer_instant(key)
        if status.next_due_at is None or due_at < status.next_due_at:
            status.next_due_at = due_at
