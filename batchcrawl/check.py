"""Check: everything that a crawl holds is compared with what was written.

Reads: crawldb, every file of the segments. Writes: nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.check import Fault, verify
from batchcrawl.store.crawldb import CrawlDb, Tuning
from batchcrawl.store.layout import Layout, SegmentPaths
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import read_log
from batchcrawl.store.seen_check import verify_seen
from batchcrawl.store.segment import STEPS, Segment
from batchcrawl.store.segment_check import verify_segment
from batchcrawl.store.snapshot import snapshots
from batchcrawl.store.warc_file import closed_file
from batchcrawl.store.warc_reader import read_exchange
from batchcrawl.store.warc_record import warc_date

_FOLDERS = {"generated": ("fetchlist", "hosts"), "fetched": ("fetch",)}
"""By step, the folders in which every partition has files."""
_SMALL = Tuning(cache_bytes=8 << 20)
"""For all partitions at once."""


def faults_of_crawldb(crawl: Crawl) -> Iterator[str]:
    """Yield every fault of the crawldb and of the files beside it, each as one line."""
    layout = crawl.layout
    names = (layout.seed_hosts, layout.seed_domains) if layout.segment_ids() else ()
    for path in (layout.suffix_list, *names):
        try:
            size_stored(path)
        except CorruptData as error:
            yield str(error)
    for p in range(crawl.partitions):
        yield from _faults_of_partition(layout, p)
    try:
        yield from _faults_between_partitions(crawl)
    except CrawlError as error:
        _require_damage(error)  # it is told of already


def faults_of_segments(crawl: Crawl, segment_ids: Iterable[str], *, deep: bool) -> Iterator[str]:
    """Yield every fault of segments, each as one line: files of finished steps that are not as the manifest says.

    With `deep`, every record of their WARC files is unpacked as well, and those that the fetch log names are compared
    with it and with their digests. That a revisit refers to a segment that is not there any more is no fault.
    """
    for name in segment_ids:
        try:
            segment = Segment(crawl.layout.segment(name))
        except CrawlError as error:  # also what looks like a newer format
            _require_damage(error)
            yield str(error)
            continue
        yield from _faults_of_segment(crawl, segment, deep=deep)


def _faults_of_partition(layout: Layout, p: int) -> Iterator[str]:
    try:
        with snapshots(layout.crawldbs, range(p, p + 1)) as folder, CrawlDb(folder / str(p)) as db:
            for fault in verify(db):
                yield _line(layout.crawldb(p), fault)
    except CrawlError as error:
        _require_damage(error)
        yield str(error)


def _require_damage(error: CrawlError) -> None:
    """Raise again what tells of something else than damage: a full disk, a lock."""
    if not isinstance(error, CorruptData) and type(error) is not CrawlError:
        raise error


def _faults_between_partitions(crawl: Crawl) -> Iterator[str]:
    half_applied = any(SegmentPaths(crawl.layout.segment(name)).half_applied for name in crawl.layout.segment_ids())
    numbers = range(crawl.partitions)
    with snapshots(crawl.layout.crawldbs, numbers) as folder, ExitStack() as opened:
        partitions = [opened.enter_context(CrawlDb(folder / str(p), tuning=_SMALL)) for p in numbers]
        if not half_applied:
            for p, fault in verify_seen(partitions):
                yield _line(crawl.layout.crawldb(p), fault)
        for name in crawl.layout.segment_ids():
            try:
                segment = Segment(crawl.layout.segment(name))
                for p, what in verify_segment(partitions, segment):
                    yield f"{crawl.layout.crawldb(p)}: {what}"
            except CorruptData:
                continue  # told of with the segments


def _line(path: Path, fault: Fault) -> str:
    return f"{path}: key {fault.key[:1].decode('latin-1')} {fault.key[1:].hex()}: {fault.what}"


def _faults_of_segment(crawl: Crawl, segment: Segment, *, deep: bool) -> Iterator[str]:
    folders = [folder for step in STEPS if segment.is_done(step) for folder in _FOLDERS.get(step, ())]
    try:
        segment.require_listed(*folders, partitions=crawl.partitions)
        segment.check_manifest()
        for step in filter(segment.is_done, STEPS):
            segment.step(step)
    except CorruptData as error:
        yield str(error)
    sound: set[str] = set()
    for name in sorted(segment.manifest.files):
        path = segment.path / name
        try:
            segment.check(path)
            if deep and name.endswith(".warc.gz"):
                closed_file(path)
            sound.add(name)
        except CorruptData as error:
            yield str(error)
    for p in range(crawl.partitions if deep else 0):
        log = segment.paths.fetch_log(p)
        if f"{log.parent.name}/{log.name}" in sound:
            yield from _faults_of_exchanges(segment, read_log(log, FetchLogLine, sealed=True), sound)


def _faults_of_exchanges(segment: Segment, lines: Iterable[FetchLogLine], sound: set[str]) -> Iterator[str]:
    for line in lines:
        path = segment.paths.fetch_dir / (line.warc or "")
        if line.offset is None or f"{path.parent.name}/{path.name}" not in sound:
            continue
        try:
            stored = read_exchange(path, line.offset, verify=True)
        except CorruptData as error:
            yield str(error)
            continue
        refers_to = warc_date(line.body_at) if line.revisit is not None and line.body_at is not None else None
        said = (line.revisit is not None, line.status, line.digest, refers_to)
        if said != (stored.revisit, stored.status, stored.digest, stored.refers_to_date):
            yield f"{path}: the record at byte {line.offset} is not what the fetch log says of {line.url}"
