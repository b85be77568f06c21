"""Export: the latest version of each page, its links, or an index, in the forms of `exports`.

Reads: crawldb, files of the segments. Writes: the files that are asked for.
Commits by: the rename of each file; an index or manifest of several comes last.
If killed: what has its name is whole; the same command writes all anew.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from batchcrawl.engine.control import Control, Progress
from batchcrawl.errors import Interrupted, UsageError
from batchcrawl.exports.bulk import write_bulk
from batchcrawl.exports.cdxj import write_cdxj
from batchcrawl.exports.csv import write_csv
from batchcrawl.exports.graph import write_links, write_nodes
from batchcrawl.exports.jsonl import write_jsonl
from batchcrawl.exports.output import Output
from batchcrawl.exports.parquet import write_parquet
from batchcrawl.exports.rows import DEFAULT, Gone, Item, Row, rows
from batchcrawl.exports.sitemap import write_sitemap
from batchcrawl.exports.sqlite import write_sqlite
from batchcrawl.exports.urls import write_list
from batchcrawl.exports.warc import write_warc
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine, LinkLine
from batchcrawl.model.host import HostRecord
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.latest_pages import PAGE_STATUSES, latest_links, latest_pages
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment, segment_instant
from batchcrawl.store.sorted_lines import SortedLines
from batchcrawl.store.whole_file import WholeFile
from batchcrawl.web.urls import host_key, host_name

REPORT_EVERY = 500
"""Pages between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be exported."""

    form: str
    """One of FORMS."""
    fields: tuple[str, ...] = DEFAULT
    since: str | None = None
    """Only what this segment or a later one brought."""
    host: str | None = None
    """Only what is on this host: its name or its host key."""
    duplicates: bool = False
    gone: bool = False
    """Tombstones, too."""
    file_bytes_max: int | None = None
    """Of a WARC file."""


@dataclass
class Exported:
    """What was written."""

    counts: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    lost: int = 0
    """Pages whose bodies are in segments that are not there any more."""


@dataclass(frozen=True)
class Form:
    """A form of export."""

    sentence: str
    write: Callable[["_Export", Output], None] | None = None
    """Writes a row of bytes; None where the form has files of its own."""
    write_files: Callable[["_Export", Path], list[Path]] | None = None
    has_rows: bool = False
    """Fields may be chosen."""


def export(crawl: Crawl, wanted: Wanted, target: Path | Output, *, disk: Disk, at: float, control: Control) -> Exported:
    """Write an export to a file, or to what takes bytes, and return what it holds.

    Memory is bounded by a chunk of a segment, whatever the crawl has. Raises UsageError for a form that needs a file,
    Interrupted when asked to stop.
    """
    form, work = FORMS[wanted.form], _Export(crawl, wanted, disk, at, control)
    if form.write_files is not None:
        if not isinstance(target, Path):
            raise UsageError(f"--to {wanted.form} needs a FILE to write to")
        work.done.files = form.write_files(work, target)
    elif form.write is not None:
        if isinstance(target, Path):
            work.folder = target.parent
            with WholeFile(disk, target) as out:
                form.write(work, out)
                out.finish()
            work.done.files = [target]
        else:
            form.write(work, target)
    return work.done


class _Export:
    """Reads a crawl for the writers, and counts."""

    def __init__(self, crawl: Crawl, wanted: Wanted, disk: Disk, at: float, control: Control) -> None:
        self.crawl = crawl
        self.wanted = wanted
        self.disk = disk
        self.at = at
        self.control = control
        self.folder = crawl.layout.root
        """Where files without a name may be made."""
        self.done = Exported()
        self._since = "" if wanted.since is None else wanted.since
        self._seen = 0

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
        for db, p in self._databases():
            for segment in self._segments():
                for record, link in latest_links(db, segment, p, partitions=partitions):
                    if self._takes(record):
                        self._count("links")
                        yield record, link

    def records(self) -> Iterator[tuple[bytes, UrlRecord]]:
        """Yield every URL that is wanted, whatever its status, but for duplicates where they are not."""
        for db, _ in self._databases():
            for fingerprint, record in db.records():
                if self._is_here(record) and (self.wanted.duplicates or record.status is not PageStatus.DUPLICATE):
                    self._count("nodes")
                    yield fingerprint, record

    def exchanges(self) -> Iterator[tuple[Segment, FetchLogLine]]:
        """Yield every outcome of the segments that are fetched."""
        for segment in self._segments("fetched"):
            for p in range(self.crawl.partitions):
                for line in read_log(segment.paths.fetch_log(p), FetchLogLine, sealed=True):
                    if self.wanted.host is None or self.wanted.host in (line.host, host_name(line.host)):
                        yield segment, line

    def _items(self, kinds: frozenset[UrlKind]) -> Iterator[Item]:
        known = 0
        for db, p in self._databases():
            known += sum(_pages_known(host) for _, host in db.hosts())
            for segment in self._segments():
                for latest in latest_pages(db, segment, p):
                    self._seen += 1
                    if latest.record.kind in kinds and self._takes(latest.record):
                        self._count("pages")
                        yield latest
            if self.wanted.gone:
                yield from self._tombstones(db)
        if self.wanted.since is None:
            self.done.lost = known - self._seen

    def _tombstones(self, db: CrawlDb) -> Iterator[Gone]:
        since = segment_instant(self._since) if self._since else 0
        for fingerprint, record in db.records():
            if not self._is_gone(record) or not self._is_here(record):
                continue
            if record.last_fetch_at is None or record.last_fetch_at >= since:
                self._count("tombstones")
                yield Gone(fingerprint.hex(), record)

    def _is_gone(self, record: UrlRecord) -> bool:
        """Whether a URL may have been a page of an earlier export, and is none of this one's."""
        if record.status is PageStatus.DUPLICATE:
            return not self.wanted.duplicates
        return record.status not in {PageStatus.UNFETCHED, PageStatus.FETCHED}

    def _takes(self, record: UrlRecord) -> bool:
        return (self.wanted.duplicates or record.status is not PageStatus.DUPLICATE) and self._is_here(record)

    def _is_here(self, record: UrlRecord) -> bool:
        if self.wanted.host is None:
            return True
        host = host_key(record.url)
        return self.wanted.host in (host, host_name(host))

    def _databases(self) -> Iterator[tuple[CrawlDb, int]]:
        for p in range(self.crawl.partitions):
            with CrawlDb(self.crawl.layout.crawldb(p)) as db:
                yield db, p

    def _segments(self, step: str = "parsed") -> Iterator[Segment]:
        for name in self.crawl.layout.segment_ids():
            segment = Segment(self.crawl.layout.segment(name))
            if name >= self._since and segment.is_done(step):
                yield segment

    def _count(self, what: str) -> None:
        self.done.counts[what] += 1
        if self.done.counts[what] % REPORT_EVERY == 0:
            self.control.report(Progress(self.done.counts.total(), 0))
            if self.control.stopping:
                raise Interrupted("interrupted; nothing of the file is kept, and the same command begins anew")


def _pages_known(host: HostRecord) -> int:
    return sum(host.urls.get(status, 0) for status in PAGE_STATUSES)


def _bulk(work: _Export, out: Output) -> None:
    write_bulk(work.rows("fp", "gone"), out)


def _csv(work: _Export, out: Output) -> None:
    write_csv(work.rows(), work.wanted.fields, out)


def _cdxj(work: _Export, out: Output) -> None:
    with SortedLines(work.disk, work.folder) as lines:
        work.done.counts["exchanges"] = write_cdxj(work.exchanges(), lines, out)


def _sqlite(work: _Export, path: Path) -> list[Path]:
    write_sqlite(work.rows(), work.wanted.fields, path, work.disk)
    return [path]


def _parquet(work: _Export, path: Path) -> list[Path]:
    with WholeFile(work.disk, path) as out:
        write_parquet(work.rows(), work.wanted.fields, out)
        out.finish()
    return [path]


def _warc(work: _Export, path: Path) -> list[Path]:
    bytes_max = work.wanted.file_bytes_max or work.crawl.job.settings.fetch.warc_bytes_max
    return write_warc(work.stored(), path, work.disk, job=work.crawl.job.name, at=work.at, file_bytes_max=bytes_max)


def _sitemap(work: _Export, path: Path) -> list[Path]:
    return write_sitemap(work.items(), path, work.disk, canonical=work.crawl.canonical)


FORMS: Mapping[str, Form] = {
    "jsonl": Form("an object a page", write=lambda work, out: write_jsonl(work.rows(), out), has_rows=True),
    "csv": Form("a line a page, under a line of names", write=_csv, has_rows=True),
    "sqlite": Form("a database with full-text search, as Datasette opens it", write_files=_sqlite, has_rows=True),
    "parquet": Form("columns, with the extra parquet", write_files=_parquet, has_rows=True),
    "bulk": Form("actions for OpenSearch and Elasticsearch", write=_bulk, has_rows=True),
    "list": Form("a URL a line", write=lambda work, out: write_list(work.items(), out)),
    "sitemap": Form("sitemap.xml of one site, with an index beyond 50,000 URLs", write_files=_sitemap),
    "links": Form("an object a link, with its anchor", write=lambda work, out: write_links(work.links(), out)),
    "nodes": Form("an object a known URL", write=lambda work, out: write_nodes(work.records(), out)),
    "warc": Form("WARC files of the latest copies", write_files=_warc),
    "cdxj": Form("a sorted index of the segments' WARC files, for pywb", write=_cdxj),
}
"""By name."""
