"""Settle: which pages of all partitions have one text, or texts near to it, before update applies a segment.

Reads: fetch log, pages, crawldb. Writes: what update takes of the pages, claims by the partition that a text belongs
to, then verdicts of each.
Commits by: the settings of the update, which say that the claims are whole; the crawldb is changed by what follows.
If killed: before that, all is written again; after it, the claims stay, and the same verdicts follow from them.
"""

from collections.abc import Iterable, Iterator, Set
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData
from batchcrawl.job.budgeting import stored_budget
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.policy.seen import Verdict
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.reading import ADVICE, read_stored, size_stored
from batchcrawl.store.records import FileInfo, LineWriter, line_file_info, log_info, read_lines, read_log
from batchcrawl.store.seen_index import settle
from batchcrawl.store.seen_keys import Share, contents_of, owners_of, page_of
from batchcrawl.store.segment import Segment, require_none_half_applied
from batchcrawl.store.segment_events import PageBrief, Reader, Verdicts
from batchcrawl.store.update_mark import read_mark
from batchcrawl.web.fingerprint import partition_of

Files = dict[str, FileInfo]
"""Files of the segment by their path in it."""


@dataclass(frozen=True)
class Task:
    """What a partition needs to know."""

    crawl: Crawl
    segment: Segment
    partition: int
    disk: Disk
    rules: UpdateRules

    @property
    def at(self) -> int:
        """The instant of all that the segment brings: the end of its fetch step, whenever update runs."""
        return int(self.segment.step("fetched").ended_at)

    @property
    def share(self) -> Share:
        """The keys of the indexes of content that lie in the partition."""
        return Share(self.partition, self.crawl.partitions)

    def reader(self) -> Reader:
        """Return what reads the segment's part of this partition."""
        return Reader(self.segment, self.partition, self.crawl.canonical, self.at)


def settle_segment(crawl: Crawl, segment: Segment, *, disk: Disk, control: Control) -> list[Task]:
    """Settle what the segment's pages are to others, and return the tasks of the partitions that apply it.

    Raises CorruptData when leases of the segment are not there, or what was settled before a part was applied. Raises
    WrongOrder while another segment is half applied: what that one has settled must still be so when it goes on.
    """
    require_none_half_applied(crawl.layout, crawl.job.argument, but=segment.id)
    begun = segment.paths.half_applied or segment.is_done("updated")
    rules = _read_rules(segment) if begun else update_rules(crawl, stored_budget(crawl, control))
    tasks = [Task(crawl, segment, p, disk, rules) for p in range(crawl.partitions)]
    if begun:
        run_partitions(check_partition, tasks, parallel=crawl.cores, control=control)
    else:
        disk.make_dir(segment.paths.update_dir)
        run_partitions(survey_partition, tasks, parallel=crawl.cores, control=control)
        disk.write_file(segment.paths.rules, msgspec.json.format(msgspec.json.encode(rules), indent=2) + b"\n")
    run_partitions(settle_partition, tasks, parallel=crawl.cores, control=control)
    disk.sync_dir(segment.paths.update_dir)  # names that a killed process made may not be durable yet
    return tasks


def settled_tasks(crawl: Crawl, segment: Segment, *, disk: Disk) -> list[Task]:
    """Return the tasks of the partitions that apply a segment again which was applied before: all of it is settled."""
    rules = _read_rules(segment)
    return [Task(crawl, segment, p, disk, rules) for p in range(crawl.partitions)]


def check_partition(task: Task, control: Control) -> None:
    """Raise CorruptData where the rest of a segment that is half applied cannot be applied.

    Either the segment belongs to another crawl, or something was lost: of the crawldb, or of what was settled, which
    cannot be settled again once a part is applied.
    """
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        mark = read_mark(db, task.segment)
        for path in files_of(task.segment, partitions=task.crawl.partitions) if mark.begun else ():
            size_stored(path)
        lease = task.segment.lease
        for fp in () if mark.done else sorted(line.fp for line in _log(task) if line.fp > mark.urls):
            control.raise_if_stopping()
            head = db.head(bytes.fromhex(fp))
            if head is None or head.lease != lease:
                raise _not_entitled(task, db, fp)


def survey_partition(task: Task, control: Control) -> None:
    """Write what the visits of one partition change in the indexes of content of all, and what is taken of its pages.

    Raises CorruptData for a URL that the segment has fetched without being entitled to.
    """
    paths = [task.segment.paths.claims(task.partition, q) for q in range(task.crawl.partitions)]
    with ExitStack() as files, CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        if read_mark(db, task.segment).begun:
            size_stored(task.segment.paths.rules)
        writers = [files.enter_context(LineWriter(task.disk, path, ClaimLine)) for path in paths]
        briefs = task.reader().briefs_of_pages()
        for q, claim in _claims(task, db, briefs):
            control.raise_if_stopping()
            writers[q].write(claim)
        for writer in writers:
            writer.finish()
    with LineWriter(task.disk, task.segment.paths.briefs(task.partition), PageBrief) as writer:
        writer.write_all(briefs)
        writer.finish()
    failpoint("update.surveyed")


def settle_partition(task: Task, control: Control) -> None:
    """Write what all pages of the segment are to those whose content belongs to one partition."""
    path = task.segment.paths.verdicts(task.partition)
    if path.exists():
        return
    with (
        CrawlDb(task.crawl.layout.crawldb(task.partition)) as db,
        LineWriter(task.disk, path, VerdictLine) as writer,
    ):
        for verdict in settle(db, claims_on(task), task.share):
            control.raise_if_stopping()
            writer.write(verdict)
        writer.finish()
    failpoint("update.settled")


def claims_on(task: Task) -> Iterator[ClaimLine]:
    """Yield what all partitions change in the indexes of content of this one."""
    for p in range(task.crawl.partitions):
        yield from read_lines(task.segment.paths.claims(p, task.partition), ClaimLine)


def verdicts_for(task: Task) -> Verdicts:
    """Return what all partitions say of this one's pages, and which pages of the segment are not followed."""
    partitions, duplicates, mine = task.crawl.partitions, set[str](), list[VerdictLine]()
    for q in range(partitions):
        for line in read_lines(task.segment.paths.verdicts(q), VerdictLine):
            if line.first is not None and line.first != line.fp:
                duplicates.add(line.fp)
            if partition_of(bytes.fromhex(line.fp), partitions) == task.partition:
                mine.append(line)
    return Verdicts(join_verdicts(mine), frozenset() if task.rules.follow_duplicates else frozenset(duplicates))


def join_verdicts(lines: Iterable[VerdictLine]) -> dict[str, Verdict]:
    """Return what partitions say of pages together, by their fingerprints in hex."""
    firsts: dict[str, bytes] = {}
    near: dict[str, bytes] = {}
    for line in lines:
        if line.first is not None:
            firsts[line.fp] = bytes.fromhex(line.first)
        if line.near is not None:
            order = bytes.fromhex(line.near)
            near[line.fp] = min(order, near.get(line.fp, order))
    return {
        fp: Verdict(first=firsts.get(fp), near=page_of(near[fp]) if fp in near else None)
        for fp in firsts.keys() | near.keys()
    }


def files_of(segment: Segment, *, partitions: int) -> list[Path]:
    """Return the files that are there once all is settled."""
    paths, every = segment.paths, range(partitions)
    claims = (paths.claims(p, q) for p in every for q in every)
    return [paths.rules, *map(paths.briefs, every), *claims, *map(paths.verdicts, every)]


def file_infos(segment: Segment, *, partitions: int) -> Files:
    """Return what those files are, for the manifest."""
    paths = files_of(segment, partitions=partitions)
    infos = {path: line_file_info(path) if path.suffix == ".zst" else log_info(path) for path in paths}
    return {str(path.relative_to(segment.path)): info for path, info in infos.items()}


def _read_rules(segment: Segment) -> UpdateRules:
    path = segment.paths.rules
    try:
        return msgspec.json.decode(read_stored(path), type=UpdateRules)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{path}: {error}; {ADVICE}") from error


def _claims(task: Task, db: CrawlDb, briefs: Iterable[PageBrief]) -> Iterator[tuple[int, ClaimLine]]:
    """Yield what each visit changes, with the partition to be told, in the order of fingerprints."""
    partitions, lease = task.crawl.partitions, task.segment.lease
    for event in task.reader().visits(briefs):
        fingerprint = bytes.fromhex(event.fp)
        entry = db.load(fingerprint)
        if entry is None or event.visit is None or entry.record.lease != lease:
            raise _not_entitled(task, db, event.fp)
        before = contents_of(fingerprint, entry.record)
        cell = task.rules.apply(entry.record, event.visit)
        after = contents_of(fingerprint, entry.record)
        yield from _lines(event.fp, before, after, stays=cell.conclusive, partitions=partitions)


def _lines(
    fp: str, before: Set[bytes], after: Set[bytes], *, stays: bool, partitions: int
) -> Iterator[tuple[int, ClaimLine]]:
    """Yield what each partition is told of a page; `stays` says that it asks for a verdict on what it still has."""
    parts: dict[int, ClaimLine] = {}
    for content in sorted(before | after):
        if content not in before:
            name = "came"
        elif content not in after:
            name = "gone"
        elif stays:
            name = "stays"
        else:
            continue
        for owner in owners_of(content, partitions):
            line = parts.setdefault(owner, ClaimLine(fp=fp))
            setattr(line, name, (*getattr(line, name), content.hex()))
    yield from sorted(parts.items())


def _log(task: Task) -> Iterator[FetchLogLine]:
    return read_log(task.segment.paths.fetch_log(task.partition), FetchLogLine, sealed=True)


def _not_entitled(task: Task, db: CrawlDb, fp: str) -> CorruptData:
    (url,) = (line.url for line in _log(task) if line.fp == fp)
    what = "is not known" if db.head(bytes.fromhex(fp)) is None else "is not leased to it"
    return CorruptData(
        f"{db.path}: {url} of segment {task.segment.id} {what}; the segment belongs to another crawl, "
        f"or the crawldb has lost something: {ADVICE}"
    )
