"""Check: everything that a crawl holds is compared with what was written.

Reads: crawldb, every file of the segments. Writes: nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.check import Fault, verify
from batchcrawl.store.crawldb import CrawlDb, Tuning
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import read_log
from batchcrawl.store.seen_check import verify_seen
from batchcrawl.store.segment import STEPS, Segment
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
        try:
            with CrawlDb(layout.crawldb(p)) as db:
                for fault in verify(db):
                    yield _line(db, fault)
        except CorruptData as error:
            yield str(error)
    if not any(SegmentPaths(layout.segment(name)).half_applied for name in layout.segment_ids()):
        yield from _faults_between_partitions(crawl)


def faults_of_segments(crawl: Crawl, segment_ids: Iterable[str], *, deep: bool) -> Iterator[str]:
    """Yield every fault of segments, each as one line: files of finished steps that are not as the manifest says.

    With `deep`, every record of their WARC files is unpacked as well, and those that the fetch log names are compared
    with it and with their digests. That a revisit refers to a segment that is not there any more is no fault.
    """
    for name in segment_ids:
        try:
            segment = Segment(crawl.layout.segment(name))
        except CorruptData as error:
            yield str(error)
            continue
        yield from _faults_of_segment(crawl, segment, deep=deep)


def _faults_between_partitions(crawl: Crawl) -> Iterator[str]:
    try:
        with ExitStack() as opened:
            paths = map(crawl.layout.crawldb, range(crawl.partitions))
            partitions = [opened.enter_context(CrawlDb(path, tuning=_SMALL)) for path in paths]
            for db, fault in verify_seen(partitions):
                yield _line(db, fault)
    except CorruptData:
        return  # it is told of already


def _line(db: CrawlDb, fault: Fault) -> str:
    return f"{db.path}: key {fault.key[:1].decode('latin-1')} {fault.key[1:].hex()}: {fault.what}"


def _faults_of_segment(crawl: Crawl, segment: Segment, *, deep: bool) -> Iterator[str]:
    folders = [folder for step in STEPS if segment.is_done(step) for folder in _FOLDERS.get(step, ())]
    try:
        segment.require_listed(*folders, partitions=crawl.partitions)
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
