"""Reads a crawl for the forms of an export, and counts; it can begin at any place that an earlier one had come to."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TypeVar

import msgspec

from batchcrawl import __version__
from batchcrawl.engine.control import Control, Progress
from batchcrawl.errors import Interrupted
from batchcrawl.exports.place import Keeper, Place
from batchcrawl.exports.rows import Gone, Item, Row, rows
from batchcrawl.exports.wanted import Exported, Wanted
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine, LinkLine
from batchcrawl.model.host import HostRecord
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.latest_pages import PAGE_STATUSES, LatestPage, latest_links, latest_pages
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment, segment_instant
from batchcrawl.store.snapshot import files_of_state
from batchcrawl.web.urls import host_key, host_name

REPORT_EVERY = 500
"""Pages between two reports of progress."""

T = TypeVar("T")


class Reading:
    """One reading of a crawl."""

    def __init__(self, crawl: Crawl, wanted: Wanted, control: Control) -> None:
        self.crawl = crawl
        self.wanted = wanted
        self.done = Exported()
        self.keeper: Keeper | None = None
        """Hears of each place before its item is given out."""
        self._control = control
        self._since = "" if wanted.since is None else wanted.since
        self._segments = [segment for segment in self._all_segments() if segment.is_done("parsed")]
        self._begin = Place()
        self._seen = 0

    def begin_at(self, place: Place) -> None:
        """Leave out what an earlier reading of the same state has given out."""
        self._begin = place
        self._seen = place.seen
        self.done.counts = Counter(place.counts)
        self.done.kept = self.done.counts.total()

    def key(self) -> str:
        """Return what names this export of this state of the crawl. To be asked for before anything is read."""
        crawl, layout = self.crawl, self.crawl.layout
        segments = [(segment.content_name, sorted(segment.manifest.steps)) for segment in self._segments]
        databases = [files_of_state(layout.crawldb(p)) for p in range(crawl.partitions)]
        told = (__version__, asdict(self.wanted), crawl.job.settings.fetch.warc_bytes_max, segments, databases)
        return hashlib.sha256(msgspec.json.encode(told)).hexdigest()

    def items(self) -> Iterator[Item]:
        """Yield pages and tombstones, partition by partition, the pages in the order of their segments."""
        return self._items(kinds=frozenset({UrlKind.PAGE}))

    def stored(self) -> Iterator[Item]:
        """Yield what is stored of any kind, sitemaps and feeds included."""
        return self._items(kinds=frozenset(UrlKind))

    def rows(self, *needed: str) -> Iterator[Row]:
        """Yield rows of the fields that are wanted, and those that the form needs."""
        return rows(self.items(), list(dict.fromkeys((*needed, *self.wanted.fields))))

    def links(self) -> Iterator[tuple[UrlRecord, LinkLine]]:
        """Yield the links of the pages that are wanted."""
        partitions = self.crawl.partitions

        def of(db: CrawlDb, p: int, segment: Segment) -> Iterator[tuple[UrlRecord, LinkLine]]:
            return latest_links(db, segment, p, partitions=partitions)

        for record, link in self._read([self._of_segment(segment, of) for segment in self._segments]):
            if self._takes(record):
                self._count("links")
                yield record, link

    def records(self) -> Iterator[tuple[bytes, UrlRecord]]:
        """Yield every URL that is wanted, whatever its status, but for duplicates where they are not."""
        for fingerprint, record in self._read([lambda db, _: db.records()]):
            if self._is_here(record) and (self.wanted.duplicates or record.status is not PageStatus.DUPLICATE):
                self._count("nodes")
                yield fingerprint, record

    def exchanges(self) -> Iterator[tuple[Segment, FetchLogLine]]:
        """Yield every outcome of the segments that are fetched."""
        for segment in self._all_segments():
            for p in range(self.crawl.partitions if segment.is_done("fetched") else 0):
                for line in read_log(segment.paths.fetch_log(p), FetchLogLine, sealed=True):
                    if self.wanted.host is None or self.wanted.host in (line.host, host_name(line.host)):
                        yield segment, line

    def _items(self, kinds: frozenset[UrlKind]) -> Iterator[Item]:
        parts: list[_Part[LatestPage | tuple[bytes, UrlRecord]]] = [
            self._of_segment(segment, lambda db, p, segment: latest_pages(db, segment, p)) for segment in self._segments
        ]
        if self.wanted.gone:
            parts.append(lambda db, _: db.records())
        for found in self._read(parts):
            if not isinstance(found, LatestPage):
                if self._is_gone(found[1]):
                    self._count("tombstones")
                    yield Gone(found[0].hex(), found[1])
                continue
            self._seen += 1
            if found.record.kind in kinds and self._takes(found.record):
                self._count("pages")
                yield found
        if self.wanted.since is None:
            hosts = (host for p in range(self.crawl.partitions) for host in self._hosts(p))
            self.done.lost = sum(map(_pages_known, hosts)) - self._seen

    def _of_segment(
        self, segment: Segment, read: Callable[[CrawlDb, int, Segment], Iterator[T]]
    ) -> Callable[[CrawlDb, int], Iterator[T]]:
        return lambda db, p: read(db, p, segment)

    def _read(self, parts: Sequence["_Part[T]"]) -> Iterator[T]:
        """Yield what the parts of each partition give, from the place on at which this reading begins."""
        begin = self._begin
        for p in range(begin.partition, self.crawl.partitions):
            with CrawlDb(self.crawl.layout.crawldb(p)) as db:
                for part in range(begin.part if p == begin.partition else 0, len(parts)):
                    is_first = (p, part) == (begin.partition, begin.part)
                    for number, found in enumerate(parts[part](db, p)):
                        if is_first and number < begin.item:
                            continue
                        self._reach(p, part, number)
                        yield found

    def _reach(self, p: int, part: int, number: int) -> None:
        if self.keeper is not None:
            self.keeper.reach(Place(p, part, number, dict(self.done.counts), self._seen))

    def _is_gone(self, record: UrlRecord) -> bool:
        """Whether a URL was a page of such an export at some time, and is none now, by what is wanted."""
        was_there = record.was_page or (record.was_copy and self.wanted.duplicates)
        is_there = record.status is PageStatus.FETCHED and record.kind is UrlKind.PAGE
        if not was_there or is_there or (record.status is PageStatus.DUPLICATE and self.wanted.duplicates):
            return False
        since = segment_instant(self._since) if self._since else 0
        return self._is_here(record) and (record.last_fetch_at is None or record.last_fetch_at >= since)

    def _takes(self, record: UrlRecord) -> bool:
        return (self.wanted.duplicates or record.status is not PageStatus.DUPLICATE) and self._is_here(record)

    def _is_here(self, record: UrlRecord) -> bool:
        if self.wanted.host is None:
            return True
        host = host_key(record.url)
        return self.wanted.host in (host, host_name(host))

    def _hosts(self, p: int) -> Iterator[HostRecord]:
        with CrawlDb(self.crawl.layout.crawldb(p)) as db:
            for _, host in db.hosts():
                yield host

    def _all_segments(self) -> Iterator[Segment]:
        for name in self.crawl.layout.segment_ids():
            if name >= self._since:
                yield Segment(self.crawl.layout.segment(name))

    def _count(self, what: str) -> None:
        self.done.counts[what] += 1
        if self.done.counts[what] % REPORT_EVERY == 0:
            self._control.report(Progress(self.done.counts.total(), 0))
            if self._control.stopping:
                raise Interrupted("interrupted; the same command goes on, if the form can, or begins anew")


_Part = Callable[[CrawlDb, int], Iterator[T]]
"""What is read of a partition."""


def _pages_known(host: HostRecord) -> int:
    return sum(host.urls.get(status, 0) for status in PAGE_STATUSES)
