"""Gc: segments that nothing needs any more are told, and deleted if asked.

Reads: crawldb, manifests, fetch lists of unfinished segments. Writes: nothing; deleting removes segments.
Commits by: the rename that takes a segment out of sight.
If killed: a segment is whole or out of sight; the same command removes what is left of those.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchEntry
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import STEPS, Segment

REPORT_EVERY = 10_000
DAY_S = 86_400.0


class Kept(Enum):
    """Why a segment stays."""

    UNFINISHED = "not updated"
    """A step of it is not done."""
    NEWEST = "newest"
    """The next segment's id follows from it."""
    LATEST = "latest copies"
    """The crawldb says that the latest copies of some pages are in it, or an unfinished segment refers to it."""
    YOUNG = "young"
    """It was updated too short a time ago."""


@dataclass(frozen=True)
class Judged:
    """A segment, and whether it may be deleted."""

    id: str
    bytes_on_disk: int
    updated_at: float | None
    latest_copies: int
    """Pages whose latest copy is in it."""
    kept: Kept | None
    """None where nothing needs it."""


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    partition: int


def judge_segments(crawl: Crawl, *, keep_days: float, now: float, control: Control) -> list[Judged]:
    """Return what becomes of each segment, oldest first; `keep_days` counts from its update.

    Costs one pass over the crawldb. Revisits of older copies may refer to a segment that is not needed.
    """
    tasks = [_Task(crawl, p) for p in range(crawl.partitions)]
    copies: Counter[str] = Counter()
    for part in run_partitions(count_copies, tasks, parallel=crawl.cores, control=control):
        copies.update(part)
    segments = [Segment(crawl.layout.segment(name)) for name in crawl.layout.segment_ids()]
    referred = _referred([segment for segment in segments if segment.next_step() is not None])
    return [
        _judge(
            segment,
            latest_copies=copies[segment.id],
            needed=segment.id in referred or copies[segment.id] > 0,
            newest=segment is segments[-1],
            updated_before=now - keep_days * DAY_S,
        )
        for segment in segments
    ]


def delete_segments(crawl: Crawl, segment_ids: Iterable[str], *, disk: Disk) -> None:
    """Remove segments, one after the other, and what a killed process has left of such."""
    for left in crawl.layout.removed_segments():
        disk.remove_tree(left)
    for name in segment_ids:
        removed = crawl.layout.removed_segment(name)
        disk.rename(crawl.layout.segment(name), removed)
        disk.remove_tree(removed)


def count_copies(task: _Task, control: Control) -> Counter[str]:
    """Count the pages of a partition by the segment that has their latest copy."""
    copies: Counter[str] = Counter()
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for number, (_, record) in enumerate(db.records(), start=1):
            if record.segment is not None:
                copies[record.segment] += 1
            if number % REPORT_EVERY == 0:
                control.raise_if_stopping()
                control.report(Progress(number, 0))
    return copies


def _referred(unfinished: Iterable[Segment]) -> set[str]:
    """Return the segments that have copies which unfinished ones ask about."""
    lists = (path for segment in unfinished for path in segment.listed("fetchlist"))
    return {line.body_segment for path in lists for line in read_lines(path, FetchEntry) if line.body_segment}


def _judge(segment: Segment, *, latest_copies: int, needed: bool, newest: bool, updated_before: float) -> Judged:
    step = segment.manifest.steps.get(STEPS[-1])
    kept = None
    if segment.next_step() is not None or step is None:
        kept = Kept.UNFINISHED
    elif newest:
        kept = Kept.NEWEST
    elif needed:
        kept = Kept.LATEST
    elif step.ended_at > updated_before:
        kept = Kept.YOUNG
    on_disk = sum(path.stat().st_size for path in segment.path.rglob("*") if path.is_file())
    return Judged(segment.id, on_disk, None if step is None else step.ended_at, latest_copies, kept)
