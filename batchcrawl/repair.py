"""Repair: what can be had back of a damaged crawldb.

Reads: crawldb, fetch lists; from segments: all of theirs. Writes: crawldb; the damaged one is kept beside it.
Commits by: renames that put a mended database in the place of the damaged one, then synced batches.
If killed: the damaged database is in its place, or the mended one; the same command goes on.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.inject import inject
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.seeds import Seed
from batchcrawl.model.clock import FixedClock
from batchcrawl.model.entries import FetchEntry
from batchcrawl.model.host import HostRecord
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.admission import new_host
from batchcrawl.settle import settled_tasks
from batchcrawl.store.crawldb import CrawlDb, Entry, mend
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import Layout
from batchcrawl.store.rebuild import rebuild_partition, rebuild_seen
from batchcrawl.store.records import read_lines
from batchcrawl.store.saved import save_partition
from batchcrawl.store.segment import Segment, segment_instant
from batchcrawl.store.update_mark import read_mark
from batchcrawl.update import update_partition
from batchcrawl.web.urls import host_key

BATCH_URLS = 10_000


@dataclass(frozen=True)
class _Task:
    """What a partition needs to know."""

    crawl: Crawl
    partition: int
    path: Path
    """Where its database is."""
    disk: Disk
    segment: Segment | None = None
    seeds: Sequence[Seed] = field(default_factory=tuple)


def repair(crawl: Crawl, *, disk: Disk, control: Control) -> Iterator[str]:
    """Mend each partition that LevelDB cannot read, then make all anew that records imply; yield what was done.

    Raises CorruptData for a partition of which nothing is there, or that LevelDB cannot mend.
    """
    tasks = [_Task(crawl, p, crawl.layout.crawldb(p), disk) for p in range(crawl.partitions)]
    for task in tasks:
        yield from _mend_partition(task, control)
    counts: Counter[str] = Counter()
    for part in run_partitions(rebuild_of_partition, tasks, parallel=crawl.cores, control=control):
        counts.update(part)
    counts.update(*run_partitions(rebuild_between, tasks[:1], parallel=1, control=control))
    for segment in _segments(crawl):
        of_segment = [replace(task, segment=segment) for task in tasks]
        if segment.next_step() not in (None, "generated"):
            for part in run_partitions(lease_again, of_segment, parallel=crawl.cores, control=control):
                counts.update(part)
        elif segment.is_done("updated") and not all(
            run_partitions(is_applied, of_segment, parallel=crawl.cores, control=control)
        ):
            yield (
                f"{segment.path}: the crawldb knows nothing of its update any more; "
                f"'batchcrawl repair {crawl.job.argument} --from-segments' applies it again"
            )
    yield from (f"{what}: {times:,}" for what, times in sorted(counts.items()))


def repair_from_segments(crawl: Crawl, seeds: Iterable[Seed], *, disk: Disk, control: Control) -> Iterator[str]:
    """Make the crawldb anew: seeds first, then each segment as update applied it; yield what was done.

    The old one is kept as `crawldb.damaged`. What no segment tells of is lost: seeds that are not given and were in no
    segment, and what segments told that are deleted or damaged.
    """
    layout = crawl.layout
    if layout.ready.exists():
        _take_over(layout, disk)
        yield "a repair that was cut is ended"
        return
    disk.remove_tree(layout.rebuilt)
    disk.make_dir(layout.rebuilt)
    made = replace(crawl, layout=replace(layout, snapshot=layout.rebuilt))
    born_at = min((segment_instant(name) for name in layout.segment_ids()), default=0)
    first = _Task(made, 0, layout.rebuilt, disk, seeds=tuple(seeds))
    run_partitions(_Born(born_at), [first], parallel=1, control=control)
    for name in layout.segment_ids():
        yield from _apply_again(made, name, disk, control)
    disk.rename(layout.rebuilt, layout.ready)
    _take_over(layout, disk)


def probe(task: _Task, control: Control) -> None:
    """Read everything of a partition. Raises CorruptData, or CrawlError where a file is not to be had."""
    with CrawlDb(task.path) as db:
        for number, _ in enumerate(db.entries(b"")):
            if number % BATCH_URLS == 0:
                control.raise_if_stopping()


def mend_files(task: _Task, control: Control) -> None:
    """Let LevelDB repair a database; in a process of its own, since it may abort."""
    mend(task.path)


def rebuild_of_partition(task: _Task, control: Control) -> Counter[str]:
    """Make all anew that the records of a partition imply in it."""
    domains = task.crawl.domains()

    def host_of(record: UrlRecord) -> HostRecord:
        return new_host(host_key(record.url), domains, at=record.first_seen_at)

    with CrawlDb(task.path) as db:
        return rebuild_partition(db, host_of)


def rebuild_between(task: _Task, control: Control) -> Counter[str]:
    """Make anew what the records of all partitions imply in one another."""
    with ExitStack() as opened:
        paths = map(task.crawl.layout.crawldb, range(task.crawl.partitions))
        return rebuild_seen([opened.enter_context(CrawlDb(path)) for path in paths])


def is_applied(task: _Task, control: Control) -> bool:
    """Tell whether a partition knows that the segment is applied."""
    assert task.segment is not None
    with CrawlDb(task.path) as db:
        return read_mark(db, task.segment).done


def lease_again(task: _Task, control: Control) -> Counter[str]:
    """Lease what is left of a segment's URLs to it; one that is not known enters by what the fetch list says of it."""
    assert task.segment is not None
    counts: Counter[str] = Counter()
    domains = task.crawl.domains()
    with CrawlDb(task.path) as db:
        mark = read_mark(db, task.segment)
        batch = db.batch()
        for line in read_lines(task.segment.paths.fetch_list(task.partition), FetchEntry):
            fingerprint = bytes.fromhex(line.fp)
            entry = db.load(fingerprint)
            if mark.done or line.fp <= mark.urls or (entry is not None and entry.record.lease == task.segment.lease):
                continue
            if entry is None:
                entry = Entry.new(fingerprint, _record_of(task.crawl, line, int(task.segment.manifest.created_at)))
                at = entry.record.first_seen_at
                host = batch.enter_host(entry.host_part, new_host(host_key(entry.record.url), domains, at=at))
                host.seed = host.seed or entry.record.seed
                counts["URLs had back from fetch lists"] += 1
            entry.record.place, entry.record.lease = Place.LEASED, task.segment.lease
            batch.put(entry)
            counts["URLs leased again"] += 1
            if batch.size == BATCH_URLS:
                control.raise_if_stopping()
                batch.commit()
                batch = db.batch()
        if batch.size:
            batch.commit()
    return counts


@dataclass(frozen=True)
class _Born:
    """Makes empty partitions and puts seeds into them, as of an instant."""

    at: int

    def __call__(self, task: _Task, control: Control) -> None:
        for p in range(task.crawl.partitions):
            CrawlDb(task.crawl.layout.crawldb(p), create=True).close()
        inject(task.crawl, task.seeds, disk=task.disk, clock=FixedClock(self.at))


def _take_over(layout: Layout, disk: Disk) -> None:
    """Put databases that were made anew in the place of the old ones; killed anywhere, it can be called again."""
    if layout.crawldbs.exists():
        disk.remove_tree(layout.damaged)
        disk.rename(layout.crawldbs, layout.damaged)
    disk.rename(layout.ready, layout.crawldbs)


def _mend_partition(task: _Task, control: Control) -> Iterator[str]:
    layout, disk = task.crawl.layout, task.disk
    mended, damaged = layout.mended(task.partition), layout.damaged_partition(task.partition)
    if not task.path.exists() and damaged.exists():  # killed between the two renames
        disk.rename(mended if mended.exists() else damaged, task.path)
    if not task.path.is_dir() or not any(task.path.iterdir()):
        raise CorruptData(
            f"{task.path} is missing, with all its URLs; "
            f"'batchcrawl repair {task.crawl.job.argument} --from-segments' makes the crawldb anew"
        )
    found = _damage(task, control)
    if found is None:
        return
    disk.remove_tree(mended)
    save_partition(disk, task.path, mended)
    in_work = replace(task, path=mended)
    try:
        run_partitions(mend_files, [in_work], parallel=1, control=control)
        found_after = _damage(in_work, control)
    except CrawlError as error:
        found_after = str(error)
    if found_after is not None:
        raise CorruptData(
            f"{task.path}: LevelDB cannot mend it ({found_after}); "
            f"'batchcrawl repair {task.crawl.job.argument} --from-segments' makes the crawldb anew"
        )
    disk.remove_tree(damaged)
    disk.rename(task.path, damaged)
    disk.rename(mended, task.path)
    yield f"{task.path}: mended by LevelDB, which may have lost its last changes; as it was, it is kept in {damaged}"


def _damage(task: _Task, control: Control) -> str | None:
    """Return what LevelDB says of a partition that it cannot read, or None."""
    try:
        run_partitions(probe, [task], parallel=1, control=control)
    except CrawlError as error:
        if isinstance(error, CorruptData) or type(error) is CrawlError:
            return str(error)
        raise
    return None


def _segments(crawl: Crawl) -> Iterator[Segment]:
    for name in crawl.layout.segment_ids():
        try:
            yield Segment(crawl.layout.segment(name))
        except CorruptData:
            continue  # 'check' tells of it


def _apply_again(crawl: Crawl, name: str, disk: Disk, control: Control) -> Iterator[str]:
    """Lease a segment's URLs as generate did; apply it if it was applied."""
    try:
        segment = Segment(crawl.layout.segment(name))
        for path in sorted(segment.manifest.files):
            segment.check(segment.path / path)
    except CorruptData as error:
        yield f"segment {name} is passed over: {error}"
        return
    if segment.next_step() == "generated":
        return  # generate leases them once it goes on
    tasks = [_Task(crawl, p, crawl.layout.crawldb(p), disk, segment=segment) for p in range(crawl.partitions)]
    run_partitions(lease_again, tasks, parallel=crawl.cores, control=control)
    if segment.is_done("updated"):
        settled = settled_tasks(crawl, segment, disk=disk)
        run_partitions(update_partition, settled, parallel=crawl.cores, control=control)
    what = "applied" if segment.is_done("updated") else "leased"
    yield f"segment {name}: {segment.manifest.urls:,} URLs {what} again"


def _record_of(crawl: Crawl, line: FetchEntry, at: int) -> UrlRecord:
    """Return the record of a URL by what its fetch list says of it."""
    canonical = crawl.canonical(line.url)
    return UrlRecord(
        url=canonical,
        fetch_url=line.url if line.url != canonical else None,
        status=PageStatus.FETCHED if line.body_at is not None else PageStatus.UNFETCHED,
        level=line.level,
        depth=line.depth,
        hops=line.hops,
        seed=line.depth == 0 and line.kind is UrlKind.PAGE,
        kind=line.kind,
        fetches=line.fetches,
        first_seen_at=at,
        last_fetch_at=None if line.last_fetch_at is None else int(line.last_fetch_at),
        next_fetch_at=at,
        etag=line.etag,
        last_modified=line.last_modified,
        digest=line.digest,
        content_type=line.content_type,
        content_encoding=line.content_encoding,
        segment=line.body_segment,
        body_at=line.body_at,
        not_modified=line.not_modified,
        sites=line.sites or None,
    )
