"""Update: what a segment saw changes the crawldb.

Reads: fetch log, host log, pages, links. Writes: crawldb, and what partitions tell one another (see `settle`).
Commits by: synced batches in the order of fingerprints, each with the mark up to which the segment is applied.
If killed: the same command goes on behind the mark; a segment that is applied whole changes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import structs

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.inlinks import Inlinks
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import HostLogLine
from batchcrawl.model.host import HostRecord
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.copies import note_page
from batchcrawl.policy.day_limits import day_of, note_return
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.host_state import learn_domain, learn_host
from batchcrawl.policy.last_modified import judge_last_modified
from batchcrawl.policy.lastmod import judge_lastmod, trust_of
from batchcrawl.policy.recrawl import observed_rate
from batchcrawl.policy.seen import ALONE, Verdict, judge_unvisited, judge_visited, want_links
from batchcrawl.policy.transitions import Next
from batchcrawl.policy.visits import Visit
from batchcrawl.settle import Task, claims_on, file_infos, settle_segment, verdicts_for
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.keys import url_key
from batchcrawl.store.rates_mark import read_rates, set_rates
from batchcrawl.store.reading import ADVICE
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.segment_events import Event, LinkBrief
from batchcrawl.store.space import URL_BYTES, require_free
from batchcrawl.store.update_mark import Mark, read_mark, set_mark
from batchcrawl.web.fingerprint import Fingerprinter

BATCH_EVENTS = 20_000
"""URLs looked at between two commits."""


def update(crawl: Crawl, segment: Segment, *, disk: Disk, clock: Clock, control: Control) -> Counter[str]:
    """Apply a segment to the crawldb and return what was counted.

    Raises CorruptData, before the crawldb is changed, when files or leases of the segment are not there.
    """
    segment.require("fetch", "parse", partitions=crawl.partitions)
    if not segment.paths.half_applied:
        require_free(crawl.layout.crawldbs, URL_BYTES * segment.manifest.urls, what="to update")
    tasks = settle_segment(crawl, segment, disk=disk, control=control)
    counts: Counter[str] = Counter()
    for part in run_partitions(update_partition, tasks, parallel=crawl.cores, control=control):
        counts.update(part)
    step = StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items())))
    segment.finish(disk, "updated", step, file_infos(segment, partitions=crawl.partitions))
    return counts


def update_partition(task: Task, control: Control) -> dict[str, int]:
    """Apply the part of a segment that belongs to one partition."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        mark = read_mark(db, task.segment)
        applier = _Applier(task, db, mark)
        if not mark.done:
            applier.apply_seen(control)
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
        self.lease = self.task.segment.lease
        self.priors = Priors(read_rates(self.db))
        self.inlinks = Inlinks(self.task.crawl, self.task.rules, self.counts, self.priors, self.task.at)
        self.counts.update(self.mark.counts)

    def apply_seen(self, control: Control) -> None:
        """Apply what the visits of all partitions change in this one's indexes of content."""
        batch, seen, share = self.db.batch(), 0, self.task.share
        for claim in claims_on(self.task):
            if claim.fp <= self.mark.seen:
                continue
            for key in share.keys(claim.gone):
                batch.drop_seen(key)
            for key in share.keys(claim.came):
                batch.put_seen(key)
            self.mark.seen = claim.fp
            seen += 1
            if seen == BATCH_EVENTS:
                self._commit(batch)
                batch, seen = self.db.batch(), 0
                control.raise_if_stopping()
        self._commit(batch)

    def apply_urls(self, control: Control) -> None:
        """Apply visits, verdicts and links in the order of fingerprints."""
        batch, seen, done = self.db.batch(), 0, 0
        for event in self.task.reader().events(verdicts_for(self.task), after=self.mark.urls):
            if isinstance(event, LinkBrief):
                self._take_link(batch, event)
            else:
                self._apply(batch, event)
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
        for part, line in self._hosts(Fingerprinter(self.task.crawl.domains())):
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

    def _take_link(self, batch: Batch, link: LinkBrief) -> None:
        fingerprint = bytes.fromhex(link.fp)
        data = self.db.value(url_key(fingerprint))
        if data is None or not self.inlinks.is_no_news(data, link):
            self.inlinks.take(batch, None if data is None else self.db.entry(fingerprint, data), link, domains=0)

    def _apply(self, batch: Batch, event: Event) -> None:
        fingerprint = bytes.fromhex(event.fp)
        entry = self.db.load(fingerprint)
        if event.visit is not None:
            self._visit(batch, entry, event.visit, event.verdict)
        elif event.verdict is not None and entry is not None:
            self._judge_unvisited(entry, event.verdict)
            batch.put(entry)
        if event.link is not None:
            self.inlinks.take(batch, entry, event.link, domains=event.inlinks)
        if event.unfollowed:
            self.counts[f"rejected_{Rejection.DUPLICATE.value}"] += event.unfollowed

    def _visit(self, batch: Batch, entry: Entry | None, visit: Visit, verdict: Verdict | None) -> None:
        self.counts[visit.outcome.value] += 1
        if entry is None or entry.record.lease != self.lease:
            raise CorruptData(f"{self.db.path}: a URL is not leased to segment {visit.segment} any more; {ADVICE}")
        before, host = structs.replace(entry.record), batch.host(entry.host_part)
        dated = host is not None and trust_of(host.last_modified) is not None
        prior = None if before.rate_b > 0 else self.priors.of(host)
        cell = self.task.rules.apply(entry.record, visit, dated=dated, prior=prior)
        if cell.conclusive:
            judge_visited(entry.record, entry.fingerprint, verdict or ALONE)
            if visit.revisit and (before.status is PageStatus.DUPLICATE or entry.record.body_at is None):
                self._take_links_of(entry.record)
        elif verdict is not None:
            self._judge_unvisited(entry, verdict)
        if entry.record.status is PageStatus.DUPLICATE:
            self.counts["duplicates"] += 1
        if entry.record.near_to is not None:
            self.counts["near_duplicates"] += 1
        batch.put(entry)
        if host is not None and cell.next is Next.RETURN and not visit.requests:
            note_return(host, day_of(self.lease))
        if host is not None:
            _note_visit(host, visit, before, entry.record)
            if entry.record.kind is UrlKind.PAGE:
                self.priors.note(host, observed_rate(before), observed_rate(entry.record))

    def _judge_unvisited(self, entry: Entry, verdict: Verdict) -> None:
        if judge_unvisited(entry.record, entry.fingerprint, verdict):
            self._take_links_of(entry.record)

    def _take_links_of(self, record: UrlRecord) -> None:
        """Let the links of a page be taken that was a duplicate until now."""
        if record.status is PageStatus.FETCHED and not self.task.rules.follow_duplicates:
            want_links(record, self.task.at)

    def _commit(self, batch: Batch) -> None:
        self.mark.counts = dict(self.counts)
        set_mark(batch, self.task.segment, self.mark)
        if self.priors.crawl.pages:
            set_rates(batch, self.priors.crawl)
        batch.commit()


def _note_visit(host: HostRecord, visit: Visit, before: UrlRecord, after: UrlRecord) -> None:
    host.requests += visit.requests
    host.body_bytes += visit.body_bytes
    for reason, times in visit.trapped.items():
        host.rejected[reason] = host.rejected.get(reason, 0) + times
    first_page = after.kind is UrlKind.PAGE and after.fetches == 1
    if first_page and after.status in (PageStatus.FETCHED, PageStatus.DUPLICATE):
        note_page(host, after.url, copy=after.status is PageStatus.DUPLICATE)
    host.lastmod = judge_lastmod(host.lastmod, before, after)
    host.last_modified = judge_last_modified(host.last_modified, before, after, visit.last_modified)
