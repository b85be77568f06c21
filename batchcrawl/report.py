"""Report: the state of a crawl at a glance.

Reads: crawldb, manifests of the segments. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store import keys
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.lock import holder_of
from batchcrawl.store.records import lines_so_far
from batchcrawl.store.segment import STEPS, Segment


@dataclass
class TrapStatus:
    """What a crawl has met of one trap, or of one budget."""

    urls: int = 0
    """Known URLs that it made costly."""
    rejected: int = 0
    """Links that it kept out."""
    hosts: int = 0
    """Hosts, or registered domains, that it was met on."""
    most: str = ""
    """The one of them with the most of both."""
    most_of_both: int = 0

    def add(self, name: str, *, urls: int, rejected: int) -> None:
        """Add what was met on one host or domain."""
        self.urls += urls
        self.rejected += rejected
        self.hosts += 1
        if urls + rejected > self.most_of_both:
            self.most, self.most_of_both = name, urls + rejected


@dataclass
class CrawlStatus:
    """What a crawl knows and what it has done."""

    known: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    hosts: int = 0
    put_off_hosts: int = 0
    ready: int = 0
    """URLs that generate may take now, those of hosts put off included."""
    out: int = 0
    """URLs that are leased to a segment."""
    timers: int = 0
    """URLs that come due later."""
    next_due_at: int | None = None
    requests: int = 0
    body_bytes: int = 0
    segments: int = 0
    unfinished: dict[str, str] = field(default_factory=dict)
    """Segments with a step left, and that step's stamp."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Segments that are not fetched to the end, and how many of their URLs have their outcome."""
    at_work: int | None = None
    """The process that works on the crawl now."""
    traps: dict[str, TrapStatus] = field(default_factory=dict)
    """By trap or budget: calendar, facets, duplicates, path_depth, ..., host_budget, domain_budget."""


def crawl_status(crawl: Crawl, *, now: float) -> CrawlStatus:
    """Return the state of a crawl; costs a look at every host and index entry, not at every URL record."""
    status = CrawlStatus()
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            _add_partition(status, db, now)
    status.out = status.known - status.ready - status.timers
    status.at_work = holder_of(crawl.layout.lock)
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        status.segments += 1
        step = segment.next_step()
        if step is not None:
            status.unfinished[name] = step
        if step == "fetched":
            status.outcomes[name] = sum(lines_so_far(segment.paths.fetch_log(p)) for p in range(crawl.partitions))
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


class HostRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a host stands."""

    host: str
    known: int
    fetched: int = 0
    ready: int = 0
    """URLs that wait to be taken."""
    delay_s: float | None = None
    reason: str = "not asked yet"
    """What the delay comes from, or why the host is put off."""
    response_s: float | None = None
    failures: int = 0
    put_off_until: float | None = None
    requests: int = 0
    body_bytes: int = 0


def host_rows(crawl: Crawl, *, now: float) -> Iterator[HostRow]:
    """Yield how every host stands, in the order of domains' keys; ready URLs are counted one by one."""
    politeness = crawl.job.settings.politeness
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for part, host in db.hosts():
                put_off = host.deferred_until if (host.deferred_until or 0) > now else None
                yield HostRow(
                    host=host.host,
                    known=sum(host.urls.values()),
                    fetched=host.urls.get(PageStatus.FETCHED, 0) + host.urls.get(PageStatus.DUPLICATE, 0),
                    ready=sum(1 for _ in db.ready(part)),
                    delay_s=host.delay_s,
                    reason=_reason(
                        host,
                        delay_min_s=politeness.delay_min_s,
                        delay_max_s=politeness.delay_max_s,
                        put_off=put_off is not None,
                    ),
                    response_s=host.response_s,
                    failures=host.failures,
                    put_off_until=put_off,
                    requests=host.requests,
                    body_bytes=host.body_bytes,
                )


def _reason(host: HostRecord, *, delay_min_s: float, delay_max_s: float, put_off: bool) -> str:
    if put_off and host.robots is not None and host.robots.is_unreachable(host.robots.fetched_at):
        return f"put off: robots.txt cannot be had: {host.robots.detail}"
    if put_off and (host.crawl_delay_s or 0) >= (host.delay_s or 0) > delay_max_s:
        return "put off: its Crawl-delay is above the job's delay_max"
    if put_off:
        return f"put off: {host.failures} failures in a row"
    if host.delay_s is None:
        return "not asked yet"
    if host.crawl_delay_s is not None and host.crawl_delay_s >= host.delay_s:
        return "Crawl-delay of its robots.txt"
    return "slow answers" if host.delay_s > delay_min_s else "the job's delay_min"


def _add_traps(status: CrawlStatus, name: str, *, costly: dict[str, int], rejected: dict[str, int]) -> None:
    links = {reason.removeprefix("trap_"): times for reason, times in rejected.items()}
    for trap in costly.keys() | links.keys():
        of_trap = status.traps.setdefault(trap, TrapStatus())
        of_trap.add(name, urls=costly.get(trap, 0), rejected=links.get(trap, 0))


def _add_partition(status: CrawlStatus, db: CrawlDb, now: float) -> None:
    for _, domain in db.domains():
        _add_traps(status, domain.domain, costly={}, rejected=domain.rejected)
    for _, host in db.hosts():
        _add_traps(status, host.host, costly=host.costly, rejected=host.rejected)
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
        due_at = keys.timer_instant(key)
        if due_at <= now:
            status.ready += 1
            continue
        status.timers += 1
        if status.next_due_at is None or due_at < status.next_due_at:
            status.next_due_at = due_at
