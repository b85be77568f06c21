"""Purge: URLs leave the crawldb, with all that the indexes and counts have of them.

Reads: crawldb. Writes: what goes, settled over all partitions, then the crawldb.
Commits by: the rename that says what goes, then synced batches; a rename says that all is done.
If killed: before the first rename nothing has happened; after it, purge goes on, and until then nothing else may write.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import WrongOrder
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.purged import PurgedLine, PurgeManifest
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.seen import VerdictLine
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.admission import count_no_longer_costly
from batchcrawl.policy.conditions import Condition, holds
from batchcrawl.policy.scope import Scope
from batchcrawl.policy.seen import Verdict, judge_unvisited, want_links
from batchcrawl.store import changing
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.purge_files import PurgePaths, PurgeWriter, gone_contents, new_firsts, read_purge
from batchcrawl.store.records import LineWriter, read_lines
from batchcrawl.store.seen_keys import Share, contents_of, owners_of
from batchcrawl.store.segment import newest_needing, require_none_half_applied
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.urls import host_key

EXAMPLES_MAX = 10


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to go: named URLs, or all for which everything holds that is asked for."""

    named: tuple[bytes, ...] | None = None
    """Fingerprints; None where the whole crawldb is looked through. Of URLs that are not named, seeds stay."""
    only: Condition | None = None
    out_of_scope: bool = False
    """What the rules of the job would not let in any more."""
    keep_gone: bool = True
    """Pages that are gone stay, so that no link finds them anew."""


@dataclass
class Found:
    """What goes, or has gone."""

    urls: int = 0
    leased: int = 0
    """URLs that stay since a segment has them."""
    unknown: int = 0
    """Named URLs that are not there."""
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Of what is out of scope: why, by the names of the rejections."""
    examples: list[str] = field(default_factory=list)

    def add(self, other: "Found") -> None:
        """Add what was found in another partition."""
        self.urls += other.urls
        self.leased += other.leased
        self.unknown += other.unknown
        self.statuses += other.statuses
        self.reasons += other.reasons
        self.examples = (self.examples + other.examples)[:EXAMPLES_MAX]


@dataclass(frozen=True)
class _Search:
    crawl: Crawl
    partition: int
    wanted: Wanted
    disk: Disk | None
    """None for a look that writes nothing."""


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    partition: int
    manifest: PurgeManifest
    disk: Disk

    @property
    def paths(self) -> PurgePaths:
        """The files of the purge."""
        return PurgePaths(self.crawl.layout.purge)

    @property
    def share(self) -> Share:
        """The keys of the indexes of content that lie in the partition."""
        return Share(self.partition, self.crawl.partitions)


def preview(crawl: Crawl, wanted: Wanted, *, control: Control) -> Found:
    """Return what a purge would take out, and change nothing."""
    return _search(crawl, wanted, disk=None, control=control)


def purge(crawl: Crawl, wanted: Wanted, *, now: float, disk: Disk, control: Control) -> Found:
    """Take URLs out of the crawldb, and return what has gone. `now` is in seconds since 1970.

    A page whose text the next one has had for the longest time gives its place as the first to that. Raises WrongOrder
    while a purge that was cut is not ended, a segment is half applied, or its leases are not all there.
    """
    crawl.require_no_purge()
    _require_whole_segments(crawl)
    layout = crawl.layout
    disk.remove_tree(layout.unborn_purge)
    disk.remove_tree(layout.ended_purge)
    disk.make_dir(layout.unborn_purge)
    found = _search(crawl, wanted, disk=disk, control=control)
    if not found.urls:
        disk.remove_tree(layout.unborn_purge)
        return found
    follow = crawl.job.settings.parse.duplicates == "follow"
    manifest = PurgeManifest(at=now, urls=found.urls, follow_duplicates=follow)
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    disk.write_file(PurgePaths(layout.unborn_purge).manifest, text)
    disk.rename(layout.unborn_purge, layout.purge)
    failpoint("purge.decided")
    finish_purge(crawl, disk=disk, control=control)
    return found


def finish_purge(crawl: Crawl, *, disk: Disk, control: Control) -> int | None:
    """End a purge that is decided; return how many URLs it takes out, or None when there is none."""
    if not crawl.layout.purge.is_dir():
        return None
    manifest = read_purge(PurgePaths(crawl.layout.purge))
    tasks = [_Task(crawl, p, manifest, disk) for p in range(crawl.partitions)]
    run_partitions(settle_partition, tasks, parallel=crawl.cores, control=control)
    disk.sync_dir(crawl.layout.purge)  # names that a killed process made may not be durable yet
    run_partitions(purge_partition, tasks, parallel=crawl.cores, control=control)
    disk.remove_tree(crawl.layout.ended_purge)
    disk.rename(crawl.layout.purge, crawl.layout.ended_purge)
    failpoint("purge.ended")
    disk.remove_tree(crawl.layout.ended_purge)
    return manifest.urls


def search_partition(task: _Search, control: Control) -> Found:
    """Find what goes of one partition, and write it down unless it is only looked for."""
    crawl, p, found = task.crawl, task.partition, Found()
    with CrawlDb(crawl.layout.crawldb(p)) as db:
        chosen = _chosen(db, task, found, control)
        if task.disk is None:
            for _ in chosen:
                pass
            return found
        paths = PurgePaths(crawl.layout.unborn_purge)
        with PurgeWriter(task.disk, paths, p, partitions=crawl.partitions) as writer:
            for fingerprint, record in chosen:
                contents = contents_of(fingerprint, record)
                writer.add(fingerprint, [(content, owners_of(content, crawl.partitions)) for content in contents])
            writer.finish()
    return found


def settle_partition(task: _Task, control: Control) -> None:
    """Write down which pages take the place of the first with a text that belongs to one partition."""
    path = task.paths.firsts(task.partition)
    if path.exists():
        return
    with (
        CrawlDb(task.crawl.layout.crawldb(task.partition)) as db,
        LineWriter(task.disk, path, VerdictLine) as writer,
    ):
        for fingerprint in new_firsts(db, gone_contents(task.paths, task.partition)):
            control.raise_if_stopping()
            writer.write(VerdictLine(fp=fingerprint.hex(), first=fingerprint.hex()))
        writer.finish()
    failpoint("purge.settled")


def purge_partition(task: _Task, control: Control) -> None:
    """Take out what one partition has of what goes: keys of content, records, and the places of first pages."""
    done = 0
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        _drop_contents(db, task, control)
        going = (bytes.fromhex(line.fp) for line in read_lines(task.paths.urls(task.partition), PurgedLine))
        for step in change_urls(db, going, _remove):
            done += step.seen
            control.report(Progress(done, 0))
            control.raise_if_stopping()

        def promote(batch: Batch, fingerprint: bytes, entry: Entry | None) -> None:
            if entry is not None and judge_unvisited(entry.record, fingerprint, Verdict(first=fingerprint)):
                if not task.manifest.follow_duplicates:
                    want_links(entry.record, int(task.manifest.at))
                batch.put(entry)

        for _ in change_urls(db, _firsts_of(task), promote):
            control.raise_if_stopping()


def _search(crawl: Crawl, wanted: Wanted, *, disk: Disk | None, control: Control) -> Found:
    tasks = []
    for p in range(crawl.partitions):
        named = wanted.named
        if named is not None:
            named = tuple(sorted({fp for fp in named if partition_of(fp, crawl.partitions) == p}))
        tasks.append(_Search(crawl, p, replace(wanted, named=named), disk))
    total = Found()
    for found in run_partitions(search_partition, tasks, parallel=crawl.cores, control=control):
        total.add(found)
    return total


def _chosen(db: CrawlDb, task: _Search, found: Found, control: Control) -> Iterator[tuple[bytes, UrlRecord]]:
    """Yield what goes of a partition in the order of fingerprints, and count it."""
    wanted = task.wanted
    scope = task.crawl.scope() if wanted.out_of_scope else None
    for number, (fingerprint, record) in enumerate(_looked_at(db, wanted, found)):
        if number % changing.BATCH_URLS == 0:
            control.report(Progress(number, 0))
            control.raise_if_stopping()
        if wanted.named is None and (record.seed or (wanted.keep_gone and record.status is PageStatus.GONE)):
            continue
        if wanted.only is not None and not holds(wanted.only, record):
            continue
        rejection = None if scope is None else _rejection(scope, record)
        if scope is not None and rejection is None:
            continue
        if record.place is Place.LEASED:
            found.leased += 1
            continue
        found.urls += 1
        found.statuses[record.status.name.lower()] += 1
        if rejection is not None:
            found.reasons[rejection.value] += 1
        if len(found.examples) < EXAMPLES_MAX:
            found.examples.append(record.url)
        yield fingerprint, record


def _looked_at(db: CrawlDb, wanted: Wanted, found: Found) -> Iterator[tuple[bytes, UrlRecord]]:
    if wanted.named is None:
        yield from db.records()
        return
    for fingerprint in wanted.named:
        entry = db.load(fingerprint)
        if entry is None:
            found.unknown += 1
        else:
            yield fingerprint, entry.record


def _rejection(scope: Scope, record: UrlRecord) -> Rejection | None:
    """Return why the scope would not let a URL in by the nearest link that is known."""
    host = host_key(record.url)
    hops = 0 if scope.owns(host) else max(1, record.hops)
    rejection = scope.decide(record.url, host=host, depth=record.depth, hops=hops).rejection
    if record.kind is UrlKind.SITEMAP and rejection in (Rejection.OFF_HOST, Rejection.NOT_INCLUDED):
        return None  # a sitemap need not match what pages must, see job.outlinks
    return rejection


def _drop_contents(db: CrawlDb, task: _Task, control: Control) -> None:
    batch, held = db.batch(), 0
    for content in gone_contents(task.paths, task.partition):
        for key in task.share.keys([content.hex()]):
            batch.drop_seen(key)
        held += 1
        if held == changing.BATCH_URLS:
            batch.commit()
            control.raise_if_stopping()
            batch, held = db.batch(), 0
    if held:
        batch.commit()


def _remove(batch: Batch, _: bytes, entry: Entry | None) -> None:
    if entry is None:
        return
    batch.remove(entry)
    host = batch.host(entry.host_part)
    if entry.record.costly and host is not None:
        count_no_longer_costly(host, entry.record.url)


def _firsts_of(task: _Task) -> Iterator[bytes]:
    """Yield the pages of this partition that take the place of the first with their text."""
    for q in range(task.crawl.partitions):
        for line in read_lines(task.paths.firsts(q), VerdictLine):
            fingerprint = bytes.fromhex(line.fp)
            if partition_of(fingerprint, task.crawl.partitions) == task.partition:
                yield fingerprint


def _require_whole_segments(crawl: Crawl) -> None:
    """Raise WrongOrder where what a segment is about to do to the crawldb is settled already."""
    unfinished = newest_needing(crawl.layout, "generated")
    if unfinished is not None:
        command = f"batchcrawl generate {crawl.job.argument}"
        raise WrongOrder(f"segment {unfinished.id} has not leased all of its URLs; run '{command}' first")
    require_none_half_applied(crawl.layout, crawl.job.argument)
