"""Generate: the best URLs that may be taken now become a segment.

Reads: crawldb. Writes: a new segment (fetch list, host sheet, manifest), then leases in the crawldb.
Commits by: the rename that makes the segment visible; the stamp `.generated` once every URL is leased.
If killed: before the rename nothing has happened; after it, the same command finishes the leases.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, islice

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import NothingDue
from batchcrawl.job.budgeting import current_budget
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.day_bytes import within_day
from batchcrawl.job.fetch_lists import host_sheet, lines_by_host
from batchcrawl.job.nothing_due import Chances, nothing_due
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.model.budget import BudgetState
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchEntry, HostSheet
from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import Place
from batchcrawl.policy.budget import after_segment, allowance, next_allowance_at
from batchcrawl.policy.conditions import Condition
from batchcrawl.policy.day_limits import day_of, note_lease
from batchcrawl.policy.mix import Mix
from batchcrawl.policy.recrawl import price_of
from batchcrawl.policy.selection import Limits, Ration, available, ration
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.store import keys
from batchcrawl.store.budget_mark import PARTITION, set_budget
from batchcrawl.store.candidates import candidates, may_ever_be_taken, offered, owed_delay, resting_until
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.identity import FORMAT_VERSION
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.lifting import lift_due, move_floor
from batchcrawl.store.limits_file import LimitsFile, check_limits
from batchcrawl.store.records import FileInfo, LineWriter, read_lines
from batchcrawl.store.segment import (
    FileEntry,
    Manifest,
    Segment,
    StepInfo,
    make_folders,
    new_segment_id,
    newest_needing,
    segment_instant,
    write_manifest,
)
from batchcrawl.store.space import URL_BYTES, require_free
from batchcrawl.store.survey import Survey, survey
from batchcrawl.web.fingerprint import partition_of


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
    mix: Mix
    rules: UpdateRules
    urls_max: int = 0
    ration: Ration = field(default_factory=lambda: Ration({}))
    dry: bool = False
    listed: tuple[bytes, ...] | None = None
    """Fingerprints of what is taken, whether it is due or not; None for the best of what is."""


Chosen = tuple[HostRecord, list[Entry], float]
"""A host, its URLs that are taken, best first, and its delay in seconds."""


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
    check_limits(crawl.job.limits_path)
    wanted = within_day(crawl, wanted, now=clock.now())
    now, name = clock.now() if choice.at is None else choice.at, new_segment_id(crawl.layout, clock.now())
    budget = current_budget(crawl, now=clock.now(), control=control)
    allowed = None if budget is None else allowance(budget, clock.now())
    mix = Mix(new_share=crawl.job.settings.recrawl.new_share, refetches_max=allowed)
    rules, turn = update_rules(crawl, budget), segment_instant(name)
    base = _Task(
        crawl, 0, now, name, disk, _limits(crawl, wanted, name, choice.only), mix, rules, wanted.urls_max, dry=dry_run
    )
    tasks = [replace(base, partition=p) for p in range(crawl.partitions)]
    surveys = run_partitions(survey_partition, tasks, parallel=crawl.cores, control=control)
    offers = [part.offers for part in surveys]
    if not any(offers):
        spent_until = next_allowance_at(budget, clock.now()) if budget is not None and not allowed else None
        raise _why_nothing(tasks, choice, spent_until=spent_until, control=control)
    offered_urls = available(offers)
    quotas = mix.quotas(offered_urls, places=wanted.urls_max, turn=turn)
    rations = ration(offers, quotas=quotas, turn=turn)
    require_free(crawl.layout.segments, URL_BYTES * sum(quotas.values()), what="for a new segment in")
    if not dry_run:
        make_folders(crawl.layout, SegmentPaths(crawl.layout.unborn_segment(name)), disk)
    parts = zip(tasks, surveys, rations, strict=True)
    tasks = [replace(task, limits=part.limits, ration=mine) for task, part, mine in parts]
    taken = run_partitions(select_partition, tasks, parallel=crawl.cores, control=control)
    plan = _plan(None if dry_run else name, taken)
    if dry_run:
        return plan
    if budget is not None:
        # Under a condition the demand is not known, and the price stays.
        places = 0 if choice.only else mix.places_for_refetches(offered_urls, places=wanted.urls_max, turn=turn)
        ready = sum((part.refetches for part in surveys), Counter())
        lowest, at = price_of(rules.pages.min_s), clock.now()
        budget = after_segment(budget, ready=ready, quotas=quotas, places=places, price_min=lowest, now=at)
    manifest = _manifest(crawl, plan, taken, duration_s=wanted.duration_s, budget=budget, now=clock.now())
    segment = _bring_to_life(crawl, SegmentPaths(crawl.layout.unborn_segment(name)), manifest, disk)
    _finish(crawl, segment, resumed=False, disk=disk, clock=clock, control=control)
    return plan


def generate_listed(
    crawl: Crawl, fingerprints: Collection[bytes], *, disk: Disk, clock: Clock, control: Control
) -> Plan:
    """Make a segment of URLs whether they are due or not, but for those that another segment has.

    Raises NothingDue when there is none of them.
    """
    unfinished = newest_needing(crawl.layout, "generated")
    if unfinished is not None:
        return _finish(crawl, unfinished, resumed=True, disk=disk, clock=clock, control=control)
    settings, name = crawl.job.settings.generate, new_segment_id(crawl.layout, clock.now())
    limits, unborn = _limits(crawl, settings, name), SegmentPaths(crawl.layout.unborn_segment(name))
    base = _Task(crawl, 0, clock.now(), name, disk, limits, Mix(), update_rules(crawl, None))
    by_partition: dict[int, set[bytes]] = {p: set() for p in range(crawl.partitions)}
    for fingerprint in fingerprints:
        by_partition[partition_of(fingerprint, crawl.partitions)].add(fingerprint)
    tasks = [replace(base, partition=p, listed=tuple(sorted(mine))) for p, mine in by_partition.items()]
    make_folders(crawl.layout, unborn, disk)
    taken = run_partitions(select_partition, tasks, parallel=crawl.cores, control=control)
    plan = _plan(name, taken)
    if not plan.urls:
        disk.remove_tree(unborn.root)
        raise NothingDue("every URL of the list is out in a segment, or there is none in it", due_at=None)
    manifest = _manifest(crawl, plan, taken, duration_s=settings.duration_s, budget=None, now=clock.now())
    segment = _bring_to_life(crawl, unborn, manifest, disk)
    _finish(crawl, segment, resumed=False, disk=disk, clock=clock, control=control)
    return plan


def _why_nothing(tasks: list[_Task], choice: Choice, *, spent_until: float | None, control: Control) -> NothingDue:
    if choice.only is not None:
        return NothingDue("nothing that may be taken now is as it was asked for", due_at=None)
    crawl = tasks[0].crawl
    chances = run_partitions(next_chances, tasks, parallel=crawl.cores, control=control)
    return nothing_due(crawl, chances, tasks[0].now, spent_until=spent_until, by_day=tasks[0].limits.by_day)


def survey_partition(task: _Task, control: Control) -> Survey:
    """Move what has come due into the ready index, then count what each host offers by level."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for _ in move_floor(db, task.rules, now=task.now) if task.mix.refetches_max is not None else ():
            control.raise_if_stopping()
        for _ in lift_due(db, task.rules, now=task.now):
            control.raise_if_stopping()
        turn = segment_instant(task.segment)
        return survey(db, task.limits, task.mix, urls_max=task.urls_max, now=task.now, turn=turn)


def select_partition(task: _Task, control: Control) -> _Taken:
    """Write the fetch list and the host sheet of one partition, or only count for a dry run."""
    taken = _Taken()
    unborn = SegmentPaths(task.crawl.layout.unborn_segment(task.segment))
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        chosen = _choose(db, task, control) if task.listed is None else _choose_listed(db, task, task.listed)
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
                for host, lines in lines_by_host(entries).items():
                    hosts.write(host_sheet(record, domain, host, len(lines)))
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
            host = batch.host(entry.host_part) if task.limits.by_day else None
            if host is not None:
                note_lease(host, task.limits.day)

    lines = read_lines(segment.paths.fetch_list(task.partition), FetchEntry)
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        if task.partition == PARTITION and segment.manifest.budget is not None:
            batch = db.batch()
            set_budget(batch, segment.manifest.budget)
            batch.commit()
        for step in change_urls(db, (bytes.fromhex(line.fp) for line in lines), lease_url):
            leased += step.seen
            control.report(Progress(leased, segment.manifest.urls))
            control.raise_if_stopping()
    return leased


def _choose(db: CrawlDb, task: _Task, control: Control) -> Iterator[Chosen]:
    """Yield each host with the entries that the ration grants it, best first, and its delay in seconds."""
    turn = segment_instant(task.segment)
    for one in candidates(db, task.limits, now=task.now, turn=turn):
        control.raise_if_stopping()
        by_level: dict[int, list[bytes]] = {}
        for key in offered(db, one, task.limits, task.mix, turn=turn):
            by_level.setdefault(keys.ready_level(key), []).append(keys.ready_fingerprint(key))
        granted = [fp for level, fps in by_level.items() for fp in fps[: task.ration.grant(level, len(fps))]]
        entries = [entry for fp in granted if (entry := db.load(fp)) is not None]
        if entries:
            yield one.host, entries, owed_delay(one.host, delay_min_s=task.limits.delay_min_s)


def _choose_listed(
    db: CrawlDb, task: _Task, listed: Iterable[bytes]
) -> Iterator[tuple[HostRecord, list[Entry], float]]:
    """Yield each host with those of the listed URLs that no segment has, best first, and its delay in seconds."""
    for host_part, fingerprints in groupby(listed, key=lambda fp: fp[: keys.HOST_PART_BYTES]):
        loaded = [entry for fp in fingerprints if (entry := db.load(fp)) is not None]
        entries = [entry for entry in loaded if entry.record.place is not Place.LEASED]
        record = db.host(host_part) if entries else None
        if record is not None:
            entries.sort(key=lambda entry: -entry.record.level)
            yield record, entries, owed_delay(record, delay_min_s=task.limits.delay_min_s)


def _count(taken: _Taken, record: HostRecord, entries: list[Entry], delay_s: float) -> None:
    taken.urls += len(entries)
    taken.hosts += 1
    taken.levels.update(entry.record.level for entry in entries)
    if len(entries) * delay_s >= taken.longest_s:
        taken.longest_host, taken.longest_s = record.host, len(entries) * delay_s


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


def _manifest(
    crawl: Crawl, plan: Plan, taken: list[_Taken], *, duration_s: float, budget: BudgetState | None, now: float
) -> Manifest:
    manifest = Manifest(
        format=FORMAT_VERSION,
        id=plan.segment or "",
        job=crawl.job.name,
        created_at=now,
        partitions=crawl.partitions,
        duration_s=duration_s,
        urls=plan.urls,
        hosts=plan.hosts,
        budget=budget,
    )
    for one in taken:
        manifest.files |= {
            f"{kind}/{f.name}": FileEntry.of(f) for kind, f in zip(("fetchlist", "hosts"), one.files, strict=True)
        }
    return manifest


def _bring_to_life(crawl: Crawl, unborn: SegmentPaths, manifest: Manifest, disk: Disk) -> Segment:
    visible = crawl.layout.segment(manifest.id)
    write_manifest(disk, unborn.manifest, manifest)
    failpoint("segment.built")
    disk.rename(unborn.root, visible)
    failpoint("segment.visible")
    return Segment(visible)


def _finish(crawl: Crawl, segment: Segment, *, resumed: bool, disk: Disk, clock: Clock, control: Control) -> Plan:
    segment.require("fetchlist", partitions=crawl.partitions)
    limits = _limits(crawl, crawl.job.settings.generate, segment.id)
    base = _Task(crawl, 0, clock.now(), segment.id, disk, limits, Mix(), update_rules(crawl, segment.manifest.budget))
    tasks = [replace(base, partition=p) for p in range(crawl.partitions)]
    run_partitions(lease_partition, tasks, parallel=crawl.cores, control=control)
    counts = {"urls": segment.manifest.urls, "hosts": segment.manifest.hosts}
    segment.finish(disk, "generated", StepInfo(ended_at=clock.now(), counts=counts), {})
    return Plan(segment.id, segment.manifest.urls, segment.manifest.hosts, {}, None, 0.0, resumed)


def _limits(crawl: Crawl, wanted: GenerateSettings, segment: str, only: Condition | None = None) -> Limits:
    return Limits(
        duration_s=wanted.duration_s,
        delay_min_s=crawl.job.settings.politeness.delay_min_s,
        host_urls_max=wanted.host_urls_max,
        domain_urls_max=wanted.domain_urls_max,
        domain_hosts_max=wanted.domain_hosts_max,
        host_urls_day_max=wanted.host_urls_day_max,
        domain_urls_day_max=wanted.domain_urls_day_max,
        day=day_of(segment_instant(segment)),
        only=only,
        file=crawl.job.limits_path,
    )


def next_chances(task: _Task, control: Control) -> Chances:
    """Return when the next timer of a partition is due, and until when its hosts with ready URLs are put off."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        timers: list[float] = [keys.timer_instant(key) for key in islice(db.waiting(), 1)]
        listed = None if task.limits.file is None else LimitsFile(task.limits.file)
        found = ((part, record) for part in db.ready_hosts() if (record := db.host(part)))
        hosts = ((part, record) for part, record in found if may_ever_be_taken(listed, record))
        return timers, [max(task.now, resting_until(db, task.limits, part, record)) for part, record in hosts]
