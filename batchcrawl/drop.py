"""Drop: give up a segment that is not applied; its URLs go back to where generate takes them from.

Reads: fetch list of the segment, crawldb. Writes: crawldb; removes the segment.
Commits by: the rename that takes the segment out of sight, then synced batches that end its leases.
If killed: before the rename nothing has happened; after it, the same command ends what is left of the leases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import UsageError
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchEntry
from batchcrawl.model.record import decode_head
from batchcrawl.policy.day_limits import day_of, note_return
from batchcrawl.policy.recrawl import returned_place
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import SEGMENT_ID, SegmentPaths
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment, segment_instant
from batchcrawl.store.update_mark import read_mark


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    partition: int
    lease: int
    list_of: Path | None
    """Directory of the segment; None where it is not there any more, and every record has to be looked at."""


def drop(crawl: Crawl, segment_id: str, *, disk: Disk, control: Control) -> int:
    """Give a segment up, or what was leased to one whose directory is gone; return how many URLs went back.

    Raises UsageError for what is no segment's id, and for a segment that update has begun to apply: pages that are
    known by it may have their bodies nowhere else.
    """
    if not SEGMENT_ID.fullmatch(segment_id):
        raise UsageError(f"{segment_id!r} is no segment's id; 'batchcrawl segments {crawl.job.argument}' lists them")
    visible, dropped = crawl.layout.segment(segment_id), crawl.layout.dropped_segment(segment_id)
    if visible.is_dir():
        _require_unapplied(crawl, Segment(visible), control)
        disk.remove_tree(dropped)
        disk.rename(visible, dropped)
    found = dropped if dropped.is_dir() else None
    tasks = [_Task(crawl, p, segment_instant(segment_id), found) for p in range(crawl.partitions)]
    returned = sum(run_partitions(return_partition, tasks, parallel=crawl.cores, control=control))
    disk.remove_tree(dropped)
    return returned


def return_partition(task: _Task, control: Control) -> int:
    """End the leases of a partition's URLs; return how many there were."""
    returned = 0

    def end_lease(batch: Batch, _: bytes, entry: Entry | None) -> None:
        if entry is not None and entry.record.lease == task.lease:
            entry.record.place, entry.record.lease = returned_place(entry.record, task.lease), None
            batch.put(entry)
            host = batch.host(entry.host_part)
            if host is not None:
                note_return(host, day_of(task.lease))

    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for step in change_urls(db, _leased(db, task), end_lease):
            returned += step.changed
            control.report(Progress(returned, 0))
            control.raise_if_stopping()
    return returned


def is_begun(task: _Task, control: Control) -> bool:
    """Tell whether update has applied something of the segment to a partition."""
    if task.list_of is None:
        return False
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        return read_mark(db, Segment(task.list_of)).begun


def _leased(db: CrawlDb, task: _Task) -> Iterator[bytes]:
    if task.list_of is not None:
        for line in read_lines(SegmentPaths(task.list_of).fetch_list(task.partition), FetchEntry):
            yield bytes.fromhex(line.fp)
        return
    for key, value in db.entries(b"u"):
        if decode_head(value).lease == task.lease:
            yield key[1:]


def _require_unapplied(crawl: Crawl, segment: Segment, control: Control) -> None:
    tasks = [_Task(crawl, p, segment.lease, segment.path) for p in range(crawl.partitions)]
    if segment.is_done("updated") or any(run_partitions(is_begun, tasks, parallel=crawl.cores, control=control)):
        raise UsageError(
            f"segment {segment.id} is applied to the crawldb, in part at least, so it cannot be given up; "
            f"run 'batchcrawl update {crawl.job.argument} --segment {segment.id}' if that was cut"
        )
