"""Update: what a segment saw changes the crawldb.

Reads: fetch log, host log, pages, links. Writes: crawldb.
Commits by: synced batches in the order of fingerprints, each with the mark up to which the segment is applied.
If killed: the same command goes on behind the mark; a segment that is applied whole changes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec
from msgspec import structs

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.admission import costliness, domain_refusal, host_refusal, new_host
from batchcrawl.policy.copies import note_page
from batchcrawl.policy.host_state import learn_domain, learn_host
from batchcrawl.policy.lastmod import hear, judge_lastmod, trust_of
from batchcrawl.policy.priority import COSTLY_LEVEL, link_level
from batchcrawl.policy.sitemaps import joined_sites, name_sitemap
from batchcrawl.policy.visits import Intervals, Visit, apply_visit
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.reading import ADVICE
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.segment_events import LinkBrief, segment_events
from batchcrawl.web.fingerprint import Fingerprinter
from batchcrawl.web.urls import host_key

BATCH_EVENTS = 20_000
"""URLs looked at between two commits."""


@dataclass(frozen=True)
class Task:
    """What a partition needs to know."""

    crawl: Crawl
    segment: Segment
    partition: int

    @property
    def at(self) -> int:
        """The instant of all that the segment brings: the end of its fetch step, whenever update runs."""
        return int(self.segment.step("fetched").ended_at)


class Mark(msgspec.Struct):
    """How far a segment is applied to a partition, in the same batch as what it tells of."""

    segment: str
    """Content name of the segment, since another may come to have its id."""
    urls: str = ""
    """Fingerprint of the last URL applied."""
    hosts: str = ""
    """Host part of the last host applied."""
    done: bool = False
    counts: dict[str, int] = {}


def update(crawl: Crawl, segment: Segment, *, disk: Disk, clock: Clock, control: Control) -> Counter[str]:
    """Apply a segment to the crawldb and return what was counted.

    Raises CorruptData, before anything is written, when files or leases of the segment are not there.
    """
    segment.require("fetch", "parse", partitions=crawl.partitions)
    tasks = [Task(crawl, segment, p) for p in range(crawl.partitions)]
    run_partitions(check_leases, tasks, parallel=crawl.cores, control=control)
    counts: Counter[str] = Counter()
    for part in run_partitions(update_partition, tasks, parallel=crawl.cores, control=control):
        counts.update(part)
    segment.finish(disk, "updated", StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items()))), {})
    return counts


def check_leases(task: Task, control: Control) -> None:
    """Raise CorruptData for a URL that the segment has fetched without being entitled to, and that is not applied yet.

    Then the segment belongs to another crawl, or the crawldb has lost what was written to it.
    """
    segment = task.segment
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        mark = _read_mark(db, task)
        log = read_log(segment.paths.fetch_log(task.partition), FetchLogLine, sealed=True)
        for fp, url in () if mark.done else sorted((line.fp, line.url) for line in log if line.fp > mark.urls):
            control.raise_if_stopping()
            head = db.head(bytes.fromhex(fp))
            if head is None or head.lease != segment.lease:
                what = "is not known" if head is None else "is not leased to it"
                raise CorruptData(
                    f"{db.path}: {url} of segment {segment.id} {what}; the segment belongs to another crawl, "
                    f"or the crawldb has lost something: {ADVICE}"
                )


def update_partition(task: Task, control: Control) -> dict[str, int]:
    """Apply the part of a segment that belongs to one partition."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        mark = _read_mark(db, task)
        applier = _Applier(task, db, mark)
        if not mark.done:
            applier.apply_urls(control)
            applier.apply_hosts(control)
        return mark.counts


@dataclass
class _Applier:
    task: Task
    db: CrawlDb
    mark: Mark
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        settings = self.task.crawl.job.settings
        self.lease = self.task.segment.lease
        self.domains = self.task.crawl.domains()
        self.budgets = self.task.crawl.job.budgets
        self.intervals = Intervals(
            first_s=settings.recrawl.interval_s,
            min_s=settings.recrawl.interval_min_s,
            max_s=settings.recrawl.interval_max_s,
            gone_s=settings.recrawl.gone_interval_s,
            retry_s=settings.recrawl.retry_interval_s,
            failures_max=settings.fetch.retries_max,
        )
        lists = settings.sitemaps
        self.list_intervals = replace(
            self.intervals, first_s=lists.interval_s, min_s=lists.interval_min_s, max_s=lists.interval_max_s
        )
        self.host_sitemaps_max = lists.host_sitemaps_max
        self.counts.update(self.mark.counts)

    def apply_urls(self, control: Control) -> None:
        """Apply visits and links in the order of fingerprints."""
        batch, seen, done = self.db.batch(), 0, 0
        task = self.task
        events = segment_events(
            task.segment, task.partition, canonical=task.crawl.canonical, at=task.at, after=self.mark.urls
        )
        for event in events:
            entry = self.db.load(bytes.fromhex(event.fp))
            if event.visit is not None:
                self._visit(batch, entry, event.visit)
            if event.link is not None:
                self._link(batch, entry, event.link)
            self.mark.urls = event.fp
            seen += 1
            if seen == BATCH_EVENTS:
                done += seen
                self._commit(batch)
                batch, seen = self.db.batch(), 0
                control.report(Progress(done, 0))
                control.raise_if_stopping()
        self._commit(batch)

    def apply_hosts(self, control: Control) -> None:
        """Apply the last line of each host in the host log, then mark the segment as applied."""
        batch, seen = self.db.batch(), 0
        for part, line in self._hosts(Fingerprinter(self.domains)):
            if (record := batch.host(part)) is not None:
                learn_host(record, line)
                if line.domain_refusals is not None:
                    learn_domain(batch.domain(part, record), line)
            self.mark.hosts = part.hex()
            seen += 1
            if seen == BATCH_EVENTS:
                self._commit(batch)
                batch, seen = self.db.batch(), 0
                control.raise_if_stopping()
        self.mark.done = True
        self._commit(batch)

    def _hosts(self, fingerprinter: Fingerprinter) -> Iterator[tuple[bytes, HostLogLine]]:
        last: dict[bytes, HostLogLine] = {}
        for line in read_log(self.task.segment.paths.host_log(self.task.partition), HostLogLine, sealed=True):
            last[fingerprinter.of_host(line.host)] = line
        for part, line in sorted(last.items()):
            if part.hex() > self.mark.hosts:
                yield part, line

    def _visit(self, batch: Batch, entry: Entry | None, visit: Visit) -> None:
        self.counts[visit.outcome.value] += 1
        if entry is None or entry.record.lease != self.lease:
            raise CorruptData(f"{self.db.path}: a URL is not leased to segment {visit.segment} any more; {ADVICE}")
        before = structs.replace(entry.record)
        entry.record.kind = visit.kind or entry.record.kind
        apply_visit(entry.record, visit, self._intervals(entry.record, visit))
        _settle_duplicate(batch, entry, before.signature)
        if entry.record.status is PageStatus.DUPLICATE:
            self.counts["duplicates"] += 1
        batch.put(entry)
        host = batch.host(entry.host_part)
        if host is not None:
            host.requests += visit.requests
            host.body_bytes += visit.body_bytes
            for reason, times in visit.trapped.items():
                host.rejected[reason] = host.rejected.get(reason, 0) + times
            pages = entry.record.kind is UrlKind.PAGE and entry.record.fetches == 1
            if pages and entry.record.status in (PageStatus.FETCHED, PageStatus.DUPLICATE):
                note_page(host, entry.record.url, copy=entry.record.status is PageStatus.DUPLICATE)
            host.lastmod = judge_lastmod(host.lastmod, before, entry.record)

    def _intervals(self, record: UrlRecord, visit: Visit) -> Intervals:
        if record.kind is UrlKind.PAGE:
            return self.intervals
        is_none = visit.outcome is FetchOutcome.FETCHED and not visit.parsed and not visit.revisit
        return replace(self.list_intervals, first_s=self.list_intervals.max_s) if is_none else self.list_intervals

    def _link(self, batch: Batch, entry: Entry | None, link: LinkBrief) -> None:
        if entry is None:
            self._enter(batch, link)
        elif entry.record.url != link.url:
            self.counts["collisions"] += 1
        else:
            heard = self._hear(batch, entry, link)
            named = link.leads_to is UrlKind.SITEMAP and self._name(batch, entry, link)
            if _come_nearer(entry.record, link) or heard or named:
                batch.put(entry)
            self.counts["known"] += 1

    def _hear(self, batch: Batch, entry: Entry, link: LinkBrief) -> bool:
        """Take in when a sitemap or feed says that a known URL last changed; return whether that is news."""
        if link.lastmod_at is None:
            return False
        host, until = batch.host(entry.host_part), link.lastmod_until or link.lastmod_at
        trust = trust_of(None if host is None else host.lastmod)
        kind = entry.record.kind
        min_s = (self.intervals if kind is UrlKind.PAGE else self.list_intervals).min_s
        return hear(entry.record, at=link.lastmod_at, until=until, trust=trust, interval_min_s=min_s)

    def _name(self, batch: Batch, entry: Entry, link: LinkBrief) -> bool:
        """Let a known URL count as a sitemap; return whether that changed anything."""
        record, host = entry.record, batch.host(entry.host_part)
        was_page = record.kind is UrlKind.PAGE
        if host is not None and was_page and host.sitemaps >= self.host_sitemaps_max:
            self.counts[f"rejected_{Rejection.SITEMAPS_MAX.value}"] += 1
            return False
        changed = name_sitemap(record, link.sites)
        if changed:
            record.body_at = None  # to be parsed again
        if was_page and record.kind is UrlKind.SITEMAP:
            if host is not None:
                host.sitemaps += 1
            if record.place is Place.TIMER:  # what was asked for as a page is asked for anew
                record.next_fetch_at = self.task.at
        return changed

    def _enter(self, batch: Batch, link: LinkBrief) -> None:
        """Let a new URL in, unless a budget is spent."""
        entry = Entry.new(bytes.fromhex(link.fp), _new_record(link, self.task.at))
        host = batch.host(entry.host_part) or new_host(host_key(link.url), self.domains, at=self.task.at)
        domain = batch.domain(entry.host_part, host)
        refusal = domain_refusal(domain, self.budgets)
        if refusal is not None:
            self._refuse(domain.rejected, refusal)
            return
        host = batch.enter_host(entry.host_part, host)
        costly = costliness(link.url, host, self.budgets)
        refusal = host_refusal(host, costly, self.budgets)
        is_sitemap = link.leads_to is UrlKind.SITEMAP
        if is_sitemap and host.sitemaps >= self.host_sitemaps_max:
            refusal = Rejection.SITEMAPS_MAX
        if refusal is not None:
            self._refuse(host.rejected, refusal)
            return
        host.sitemaps += is_sitemap
        if costly is not None:
            entry.record.costly, entry.record.level = True, COSTLY_LEVEL
            host.costly[costly.value] = host.costly.get(costly.value, 0) + 1
            self.counts[f"costly_{costly.value}"] += 1
        batch.put(entry)
        self.counts["new"] += 1

    def _refuse(self, counts: dict[str, int], refusal: Rejection) -> None:
        counts[refusal.value] = counts.get(refusal.value, 0) + 1
        self.counts[f"rejected_{refusal.value}"] += 1

    def _commit(self, batch: Batch) -> None:
        self.mark.counts = dict(self.counts)
        batch.set_meta(_mark_name(self.task), msgspec.json.encode(self.mark))
        batch.commit()


def _read_mark(db: CrawlDb, task: Task) -> Mark:
    data = db.meta(_mark_name(task))
    try:
        mark = Mark(task.segment.content_name) if data is None else msgspec.json.decode(data, type=Mark)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{db.path}: {_mark_name(task)}: {error}; {ADVICE}") from error
    # The mark of a segment that had the same id and is gone says nothing of this one.
    return mark if mark.segment == task.segment.content_name else Mark(task.segment.content_name)


def _mark_name(task: Task) -> str:
    return f"update/{task.segment.id}"


def _new_record(link: LinkBrief, at: int) -> UrlRecord:
    return UrlRecord(
        url=link.url,
        fetch_url=link.linked,
        place=Place.READY,
        level=link_level(link.depth),
        depth=link.depth,
        hops=link.hops,
        source=bytes.fromhex(link.source) or None,
        first_seen_at=at,
        next_fetch_at=at,
        kind=link.leads_to,
        lastmod_at=link.lastmod_at,
        sites=joined_sites(None, link.sites),
    )


def _come_nearer(record: UrlRecord, link: LinkBrief) -> bool:
    """Take over depth and hops of a link where they are less; return whether one is."""
    if link.depth >= record.depth and link.hops >= record.hops:
        return False
    record.depth, record.hops = min(record.depth, link.depth), min(record.hops, link.hops)
    record.body_at = None  # to be parsed again: its links count as nearer now
    fresh = record.place is Place.READY and record.status is PageStatus.UNFETCHED
    if fresh and not record.costly:
        record.level = max(record.level, link_level(record.depth))
    return True


def _settle_duplicate(batch: Batch, entry: Entry, old_signature: bytes | None) -> None:
    """Keep the signature index right, and say whether the page is the first with its content."""
    record, fingerprint = entry.record, entry.fingerprint
    if old_signature is not None and old_signature != record.signature:
        if batch.signature_owner(old_signature) == fingerprint:
            batch.disown_signature(old_signature)
        record.duplicate_of = None
    if record.signature is None or record.status not in (PageStatus.FETCHED, PageStatus.DUPLICATE):
        return
    owner = batch.signature_owner(record.signature)
    if owner is None:
        batch.own_signature(record.signature, fingerprint)
    if owner is None or owner == fingerprint:
        record.status, record.duplicate_of = PageStatus.FETCHED, None
    else:
        record.status, record.duplicate_of = PageStatus.DUPLICATE, owner
