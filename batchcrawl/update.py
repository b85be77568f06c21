"""Update: what a segment saw changes the crawldb.

Reads: fetch log, host log, pages, links. Writes: crawldb.
Commits by: synced batches in the order of fingerprints, each with the mark up to which the segment is applied.
If killed: the same command goes on behind the mark; a segment that is applied whole changes nothing.
"""

import heapq
import resource
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

import msgspec

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import TRAPS, Rejection
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.admission import costliness, domain_refusal, host_refusal
from batchcrawl.policy.copies import note_page
from batchcrawl.policy.host_state import learn_host
from batchcrawl.policy.priority import COSTLY_LEVEL, link_level
from batchcrawl.policy.visits import Intervals, Visit, apply_visit
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.reading import ADVICE
from batchcrawl.store.records import read_lines, read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.web.fingerprint import Fingerprinter
from batchcrawl.web.urls import host_key, host_name

BATCH_EVENTS = 20_000
"""URLs looked at between two commits."""
OTHER_FILES = 1200
"""Files that may be open beside those of links, most of them LevelDB's."""


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


class PageBrief(msgspec.Struct, gc=False):
    """The part of a page line that the crawldb takes over."""

    fp: str
    failed: str | None = None
    signature: str | None = None
    simhash: str | None = None
    rejected: dict[str, int] = {}

    @property
    def trapped(self) -> dict[str, int]:
        """The links that traps kept out, by reason."""
        return {reason: times for reason, times in self.rejected.items() if reason in TRAPS}


class LinkBrief(msgspec.Struct, gc=False):
    """The part of a link line that the crawldb takes over."""

    fp: str
    url: str
    source: str
    depth: int
    hops: int = 0
    linked: str | None = None


@dataclass
class _Event:
    """All that a segment says of one URL."""

    fp: str
    visit: Visit | None = None
    link: LinkBrief | None = None
    """The one of least depth, then of the least source; with the least hops of all."""


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
        self.counts.update(self.mark.counts)

    def apply_urls(self, control: Control) -> None:
        """Apply visits and links in the order of fingerprints."""
        batch, seen, done = self.db.batch(), 0, 0
        for event in _events(self.task, after=self.mark.urls):
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
            record = batch.host(part)
            if record is not None:
                learn_host(record, line)
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
        old_signature = entry.record.signature
        apply_visit(entry.record, visit, self.intervals)
        _settle_duplicate(batch, entry, old_signature)
        if entry.record.status is PageStatus.DUPLICATE:
            self.counts["duplicates"] += 1
        batch.put(entry)
        host = batch.host(entry.host_part)
        if host is not None:
            host.requests += visit.requests
            host.body_bytes += visit.body_bytes
            for reason, times in visit.trapped.items():
                host.rejected[reason] = host.rejected.get(reason, 0) + times
            if entry.record.fetches == 1 and entry.record.status in (PageStatus.FETCHED, PageStatus.DUPLICATE):
                note_page(host, entry.record.url, copy=entry.record.status is PageStatus.DUPLICATE)

    def _link(self, batch: Batch, entry: Entry | None, link: LinkBrief) -> None:
        if entry is None:
            self._enter(batch, link)
        elif entry.record.url != link.url:
            self.counts["collisions"] += 1
        elif link.depth < entry.record.depth or link.hops < entry.record.hops:
            entry.record.depth = min(entry.record.depth, link.depth)
            entry.record.hops = min(entry.record.hops, link.hops)
            entry.record.body_at = None  # to be parsed again: its links count as nearer now
            fresh = entry.record.place is Place.READY and entry.record.status is PageStatus.UNFETCHED
            if fresh and not entry.record.costly:
                entry.record.level = max(entry.record.level, link_level(entry.record.depth))
            batch.put(entry)
            self.counts["known"] += 1
        else:
            self.counts["known"] += 1

    def _enter(self, batch: Batch, link: LinkBrief) -> None:
        """Let a new URL in, unless a budget is spent."""
        entry = Entry.new(bytes.fromhex(link.fp), _new_record(link, self.task.at))
        key = host_key(link.url)
        domain = batch.domain(entry.domain_part, self.domains.registered(host_name(key)))
        refusal = domain_refusal(domain, self.budgets)
        if refusal is not None:
            self._refuse(domain.rejected, refusal)
            return
        host = batch.enter_host(entry.host_part, HostRecord(host=key, domain=domain.domain, first_seen_at=self.task.at))
        costly = costliness(link.url, host, self.budgets)
        refusal = host_refusal(host, costly, self.budgets)
        if refusal is not None:
            self._refuse(host.rejected, refusal)
            return
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


def _events(task: Task, *, after: str) -> Iterator[_Event]:
    """Yield what the segment says of each URL of the partition, in the order of fingerprints."""
    visits = sorted(_visits(task), key=attrgetter("fp"))
    paths = task.segment.listed("parse", end=f".links-{task.partition}.jsonl.zst")
    _allow_open_files(len(paths))
    streams = [read_lines(path, LinkBrief) for path in paths]
    links = heapq.merge(*streams, key=attrgetter("fp"))
    both: Iterator[_Event | LinkBrief] = heapq.merge(visits, links, key=attrgetter("fp"))
    for fp, group in groupby(both, key=attrgetter("fp")):
        if fp <= after:
            continue
        event = _Event(fp)
        for part in group:
            if isinstance(part, _Event):
                event.visit = part.visit
            else:
                event.link = part if event.link is None else _better(event.link, part)
        yield event


def _better(link: LinkBrief, other: LinkBrief) -> LinkBrief:
    hops = min(link.hops, other.hops)
    best = other if (other.depth, other.source) < (link.depth, link.source) else link
    best.hops = hops
    return best


def _allow_open_files(files: int) -> None:
    """Raise the soft limit of open files as far as is needed: all files of links are merged at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + OTHER_FILES
    if wanted > soft != resource.RLIM_INFINITY:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _visits(task: Task) -> Iterator[_Event]:
    pages = task.segment.listed("parse", start=f"{task.partition}-", end=".pages.jsonl.zst")
    briefs = {brief.fp: brief for path in pages for brief in read_lines(path, PageBrief)}
    canonical = task.crawl.canonical
    for line in read_log(task.segment.paths.fetch_log(task.partition), FetchLogLine, sealed=True):
        brief = briefs.get(line.fp)
        visit = Visit(
            outcome=line.outcome,
            at=int(line.ended_at or task.at),
            segment=task.segment.id,
            depth=line.depth,
            hops=line.hops,
            http_status=line.status,
            etag=line.etag,
            last_modified=line.last_modified,
            digest=line.digest,
            content_type=line.content_type,
            content_encoding=line.content_encoding,
            body_at=line.started_at if line.revisit is None else line.body_at,
            revisit=line.revisit is not None,
            redirect=canonical(line.redirect) if line.redirect is not None else None,
            truncated=line.truncated is not None,
            requests=line.tries,
            body_bytes=line.body_bytes or 0,
            parsed=brief is not None and brief.failed is None,
            signature=bytes.fromhex(brief.signature) if brief is not None and brief.signature else None,
            simhash=bytes.fromhex(brief.simhash) if brief is not None and brief.simhash else None,
            trapped=brief.trapped if brief is not None else {},
        )
        yield _Event(line.fp, visit)


def _new_record(link: LinkBrief, at: int) -> UrlRecord:
    return UrlRecord(
        url=link.url,
        fetch_url=link.linked,
        place=Place.READY,
        level=link_level(link.depth),
        depth=link.depth,
        hops=link.hops,
        source=bytes.fromhex(link.source),
        first_seen_at=at,
        next_fetch_at=at,
    )


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
