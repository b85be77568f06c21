"""Generate: the best URLs that may be taken now become a segment.

Reads: crawldb. Writes: a new segment (fetch list, host sheet, manifest), then leases in the crawldb.
Commits by: the rename that makes the segment visible; the stamp `.generated` once every URL is leased.
If killed: before the rename nothing has happened; after it, the same command finishes the leases.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import NothingDue
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.job.units import about
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchEntry, HostSheet
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.status import Place
from batchcrawl.policy.conditions import Condition
from batchcrawl.policy.domain_state import put_off_until
from batchcrawl.policy.selection import Limits, Offers, Ration, ration
from batchcrawl.store import keys
from batchcrawl.store.candidates import candidates, lift_due, owed_delay, ready_keys
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.identity import FORMAT_VERSION
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.records import FileInfo, LineWriter, read_lines
from batchcrawl.store.segment import (
    STEPS,
    FileEntry,
    Manifest,
    Segment,
    StepInfo,
    newest_needing,
    segment_id,
    segment_instant,
    write_manifest,
)
from batchcrawl.web.urls import host_key


@dataclass(frozen=True)
class Plan:
    """What generate is going to make, or has made."""

    segment: str | None
    """Id of the segment; None for a dry run."""
    urls: int
    hosts: int
    levels: dict[int, int]
    """URLs by priority level."""
    longest_host: str | None
    longest_s: float
    """How long that host takes at its politeness delay."""
    resumed: bool = False
    """The segment was there already and only its leases were finished."""

    def predicted_s(self, *, threads: int, page_s: float = 0.25) -> float:
        """Return the least time that the fetch step takes: its longest host, or all pages by all threads."""
        return max(self.longest_s, self.urls * page_s / max(1, threads))


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is asked of the URLs for once, beside the limits of the job."""

    at: float | None = None
    """An instant, in seconds since 1970, to be taken for now where it is asked what is due and who is put off."""
    only: Condition | None = None
    """What must hold of a URL."""


@dataclass(frozen=True)
class _Task:
    """What a partition needs to know."""

    crawl: Crawl
    partition: int
    now: float
    segment: str
    disk: Disk
    limits: Limits
    ration: Ration = field(default_factory=lambda: Ration({}))
    dry: bool = False


@dataclass
class _Taken:
    """What a partition gives to the segment."""

    urls: int = 0
    hosts: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    longest_host: str | None = None
    longest_s: float = 0.0
    files: list[FileInfo] = field(default_factory=list)


def generate(
    crawl: Crawl,
    *,
    wanted: GenerateSettings | None = None,
    choice: Choice = Choice(),
    dry_run: bool,
    disk: Disk,
    clock: Clock,
    control: Control,
) -> Plan:
    """Make a segment and lease its URLs. Raises NothingDue when no URL may be taken.

    `wanted` None is what the job says. A dry run makes no segment; it does move what has come due into the ready index,
    as any run does first.
    """
    unfinished = newest_needing(crawl.layout, "generated")
    if unfinished is not None and not dry_run:
        return _finish(crawl, unfinished, resumed=True, disk=disk, clock=clock, control=control)
    wanted = wanted or crawl.job.settings.generate
    now, name = clock.now() if choice.at is None else choice.at, _new_segment_id(crawl, clock.now())
    limits = _limits(crawl, wanted, choice.only)
    tasks = [_Task(crawl, p, now, name, disk, limits, dry=dry_run) for p in range(crawl.partitions)]
    offers = run_partitions(survey_partition, tasks, parallel=crawl.cores, control=control)
    if not any(offers):
        if choice.only is not None:
            raise NothingDue("nothing that may be taken now is as it was asked for", due_at=None)
        raise _nothing_due(crawl, run_partitions(next_chances, tasks, parallel=crawl.cores, control=control), now)
    rations = ration(offers, urls_max=wanted.urls_max, turn=segment_instant(name))
    unborn = SegmentPaths(crawl.layout.unborn_segment(name))
    if not dry_run:
        for left_over in crawl.layout.unborn_segments():
            disk.remove_tree(left_over)
        for folder in (
            unborn.root,
            unborn.fetch_list(0).parent,
            unborn.host_sheet(0).parent,
            unborn.fetch_dir,
            unborn.parse_dir,
        ):
            disk.make_dir(folder)
    tasks = [_Task(crawl, p, now, name, disk, limits, rations[p], dry_run) for p in range(crawl.partitions)]
    taken = run_partitions(select_partition, tasks, parallel=crawl.cores, control=control)
    plan = _plan(None if dry_run else name, taken)
    if dry_run:
        return plan
    _bring_to_life(crawl, unborn, plan, taken, wanted=wanted, disk=disk, now=clock.now())
    segment = Segment(crawl.layout.segment(name))
    _finish(crawl, segment, resumed=False, disk=disk, clock=clock, control=control)
    return plan


def survey_partition(task: _Task, control: Control) -> Offers:
    """Move what has come due into the ready index, then count what each host offers by level."""
    offers: Offers = {}
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for _ in lift_due(db, task.now):
            control.raise_if_stopping()
        for host_part, host, limit in candidates(db, task.limits, now=task.now, turn=segment_instant(task.segment)):
            ready = ready_keys(db, host_part, host.host, task.limits.only)
            levels = Counter(keys.ready_level(key) for key in islice(ready, limit))
            for level, count in levels.items():
                offers.setdefault(level, Counter())[count] += 1
    return offers


def select_partition(task: _Task, control: Control) -> _Taken:
    """Write the fetch list and the host sheet of one partition, or only count for a dry run."""
    taken = _Taken()
    unborn = SegmentPaths(task.crawl.layout.unborn_segment(task.segment))
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        chosen = _choose(db, task, control)
        if task.dry:
            for record, entries, delay_s in chosen:
                _count(taken, record, entries, delay_s)
            return taken
        with (
            LineWriter(task.disk, unborn.fetch_list(task.partition), FetchEntry) as urls,
            LineWriter(task.disk, unborn.host_sheet(task.partition), HostSheet) as hosts,
        ):
            for record, entries, delay_s in chosen:
                _count(taken, record, entries, delay_s)
                domain = db.domain(entries[0].host_part, record)
                for host, lines in _by_host(entries).items():
                    hosts.write(_sheet(record, domain, host, len(lines)))
                    for line in lines:
                        urls.write(line)
            taken.files = [urls.finish(), hosts.finish()]
    return taken


def lease_partition(task: _Task, control: Control) -> int:
    """Lease every URL of a partition's fetch list to the segment; those leased already stay so."""
    segment = Segment(task.crawl.layout.segment(task.segment))
    lease, leased = segment.lease, 0

    def lease_url(batch: Batch, _: bytes, entry: Entry | None) -> None:
        if entry is not None and entry.record.place is not Place.LEASED:
            entry.record.place, entry.record.lease = Place.LEASED, lease
            batch.put(entry)

    lines = read_lines(segment.paths.fetch_list(task.partition), FetchEntry)
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for step in change_urls(db, (bytes.fromhex(line.fp) for line in lines), lease_url):
            leased += step.seen
            control.report(Progress(leased, segment.manifest.urls))
            control.raise_if_stopping()
    return leased


def _choose(db: CrawlDb, task: _Task, control: Control) -> Iterator[tuple[HostRecord, list[Entry], float]]:
    """Yield each host with the entries that the ration grants it, best first, and its delay in seconds."""
    for host_part, record, limit in candidates(db, task.limits, now=task.now, turn=segment_instant(task.segment)):
        control.raise_if_stopping()
        by_level: dict[int, list[bytes]] = {}
        for key in islice(ready_keys(db, host_part, record.host, task.limits.only), limit):
            by_level.setdefault(keys.ready_level(key), []).append(keys.ready_fingerprint(key))
        granted = [fp for level, fps in by_level.items() for fp in fps[: task.ration.grant(level, len(fps))]]
        entries = [entry for fp in granted if (entry := db.load(fp)) is not None]
        if entries:
            yield record, entries, owed_delay(record, delay_min_s=task.limits.delay_min_s)


def _count(taken: _Taken, record: HostRecord, entries: list[Entry], delay_s: float) -> None:
    taken.urls += len(entries)
    taken.hosts += 1
    taken.levels.update(entry.record.level for entry in entries)
    if len(entries) * delay_s >= taken.longest_s:
        taken.longest_host, taken.longest_s = record.host, len(entries) * delay_s


def _by_host(entries: list[Entry]) -> dict[str, list[FetchEntry]]:
    """Return the lines of a host record by the host that is asked, which canonicalisation may have changed."""
    lines: dict[str, list[FetchEntry]] = {}
    for line in map(_line, entries):
        lines.setdefault(line.host, []).append(line)
    return lines


def _line(entry: Entry) -> FetchEntry:
    record = entry.record
    url = record.fetch_url or record.url
    line = FetchEntry(
        fp=entry.fingerprint.hex(),
        url=url,
        host=host_key(url),
        level=record.level,
        depth=record.depth,
        hops=record.hops,
        fetches=record.fetches,
        last_fetch_at=record.last_fetch_at,
        kind=record.kind,
        sites=record.sites or [],
    )
    if record.body_at is not None:  # else nothing may be asked about the copy, and nothing may refer to it
        line.etag, line.last_modified, line.digest = record.etag, record.last_modified, record.digest
        line.content_type, line.content_encoding = record.content_type, record.content_encoding
        line.body_at, line.body_segment, line.not_modified = record.body_at, record.segment, record.not_modified
    return line


def _sheet(record: HostRecord, domain: DomainRecord | None, host: str, urls: int) -> HostSheet:
    sheet = HostSheet(host=host, domain=record.domain, urls=urls, budget_domain=record.budget_domain)
    if domain is not None:
        sheet.domain_refusals, sheet.domain_deferred_until = domain.refusals, domain.deferred_until
    if host == record.host:  # the crawldb knows the canonical host alone
        sheet.robots, sheet.address = record.robots, record.address
        sheet.delay_s, sheet.crawl_delay_s, sheet.response_s = record.delay_s, record.crawl_delay_s, record.response_s
        sheet.failures, sheet.deferred_until = record.failures, record.deferred_until
    return sheet


def _plan(name: str | None, taken: list[_Taken]) -> Plan:
    longest = max(taken, key=lambda t: t.longest_s)
    levels: Counter[int] = Counter()
    for one in taken:
        levels.update(one.levels)
    return Plan(
        segment=name,
        urls=sum(t.urls for t in taken),
        hosts=sum(t.hosts for t in taken),
        levels=dict(sorted(levels.items(), reverse=True)),
        longest_host=longest.longest_host,
        longest_s=longest.longest_s,
    )


def _bring_to_life(
    crawl: Crawl,
    unborn: SegmentPaths,
    plan: Plan,
    taken: list[_Taken],
    *,
    wanted: GenerateSettings,
    disk: Disk,
    now: float,
) -> None:
    name = crawl.layout.segment(plan.segment or "")
    manifest = Manifest(
        format=FORMAT_VERSION,
        id=name.name,
        job=crawl.job.name,
        created_at=now,
        partitions=crawl.partitions,
        duration_s=wanted.duration_s,
        urls=plan.urls,
        hosts=plan.hosts,
    )
    for one in taken:
        manifest.files |= {
            f"{kind}/{f.name}": FileEntry.of(f) for kind, f in zip(("fetchlist", "hosts"), one.files, strict=True)
        }
    write_manifest(disk, unborn.manifest, manifest)
    failpoint("segment.built")
    disk.rename(unborn.root, name)
    failpoint("segment.visible")


def _finish(crawl: Crawl, segment: Segment, *, resumed: bool, disk: Disk, clock: Clock, control: Control) -> Plan:
    segment.require("fetchlist", partitions=crawl.partitions)
    limits = _limits(crawl, crawl.job.settings.generate, None)
    tasks = [_Task(crawl, p, clock.now(), segment.id, disk, limits) for p in range(crawl.partitions)]
    run_partitions(lease_partition, tasks, parallel=crawl.cores, control=control)
    counts = {"urls": segment.manifest.urls, "hosts": segment.manifest.hosts}
    segment.finish(disk, "generated", StepInfo(ended_at=clock.now(), counts=counts), {})
    return Plan(segment.id, segment.manifest.urls, segment.manifest.hosts, {}, None, 0.0, resumed)


def _limits(crawl: Crawl, wanted: GenerateSettings, only: Condition | None) -> Limits:
    return Limits(
        duration_s=wanted.duration_s,
        delay_min_s=crawl.job.settings.politeness.delay_min_s,
        host_urls_max=wanted.host_urls_max,
        domain_urls_max=wanted.domain_urls_max,
        domain_hosts_max=wanted.domain_hosts_max,
        only=only,
    )


def _new_segment_id(crawl: Crawl, now: float) -> str:
    """Return an id later than all others, whatever the clock says."""
    instant = int(now)
    newest = crawl.layout.segment_ids()[-1:]
    if newest:
        instant = max(instant, segment_instant(newest[0]) + 1)
    return segment_id(instant)


def next_chances(task: _Task, control: Control) -> tuple[list[float], list[float]]:
    """Return when the next timer of a partition is due, and until when its hosts with ready URLs are put off."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        timers: list[float] = [keys.timer_instant(key) for key in islice(db.keys(b"t"), 1)]
        hosts = ((part, record) for part in db.ready_hosts() if (record := db.host(part)))
        return timers, [max(task.now, put_off_until(record, db.domain(part, record))) for part, record in hosts]


def _nothing_due(crawl: Crawl, chances: list[tuple[list[float], list[float]]], now: float) -> NothingDue:
    """Return why no URL may be taken, and when one may be."""
    timers = [at for of_partition, _ in chances for at in of_partition]
    put_off = [at for _, of_partition in chances for at in of_partition]
    if not timers and not put_off:
        out = [
            name for name in crawl.layout.segment_ids() if not Segment(crawl.layout.segment(name)).is_done(STEPS[-1])
        ]
        why = f"; URLs are out in segment {out[0]}, which is not applied yet" if out else ""
        return NothingDue(f"nothing is due, and nothing will be by itself: no URL waits for its time{why}", due_at=None)
    due_at = min([*timers, *put_off])
    why = f"; hosts with URLs that are put off: {len(put_off):,}" if put_off else ""
    return NothingDue(f"nothing is due; the next URL is due in {about(due_at - now)}{why}", due_at=due_at)
