"""The latest version of each page, segment by segment: what fetch logged, what parse found, what the crawldb says.

A record names the segment that stores the body of its page. So the latest pages of a segment are those whose records
name it, which a look at each record tells; nothing is held but the line in hand.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.records import read_lines, read_log
from batchcrawl.store.segment import Segment

PAGE_STATUSES = frozenset({PageStatus.FETCHED, PageStatus.DUPLICATE})


@dataclass(frozen=True, slots=True)
class LatestPage:
    """A page as it was last stored."""

    segment: Segment
    """The one that stores it."""
    record: UrlRecord
    line: FetchLogLine
    """The outcome that brought the body."""
    page: PageLine | None
    """What parse found in it."""


def latest_pages(db: CrawlDb, segment: Segment, p: int) -> Iterator[LatestPage]:
    """Yield the pages of a partition whose latest body is in a segment, in the order of its fetch log."""
    for line, found in outcomes_and_pages(segment, p):
        if line.outcome is FetchOutcome.FETCHED and line.revisit is None:
            record = latest_record(db, segment, line.fp)
            if record is not None:
                yield LatestPage(segment, record, line, found)


def outcomes_and_pages(segment: Segment, p: int) -> Iterator[tuple[FetchLogLine, PageLine | None]]:
    """Yield the outcomes of a partition's URLs so far, each with what parse found, if it has parsed it.

    Pages files stand in the order of the log, so the two are read side by side.
    """
    pages = chain.from_iterable(read_lines(path, PageLine) for path in segment.paths.all_pages(p))
    page = next(pages, None)
    path, fetched = segment.paths.fetch_log(p), segment.is_done("fetched")
    if not fetched and not path.exists():
        return
    for line in read_log(path, FetchLogLine, sealed=fetched):
        found = None
        if page is not None and page.fp == line.fp:
            found, page = page, next(pages, None)
        yield line, found


def latest_record(db: CrawlDb, segment: Segment, fp: str) -> UrlRecord | None:
    """Return the record of a page whose latest body is in a segment, else None."""
    entry = db.load(bytes.fromhex(fp))
    if entry is None or entry.record.segment != segment.id or entry.record.status not in PAGE_STATUSES:
        return None
    return entry.record


def latest_links(db: CrawlDb, segment: Segment, p: int, *, partitions: int) -> Iterator[tuple[UrlRecord, LinkLine]]:
    """Yield the links of a partition's pages whose latest body is in a segment, each with the record of its page.

    The links of a page stand in several files, each in the order of targets; the pages of a chunk are held.
    """
    for chunk, path in enumerate(segment.paths.all_pages(p)):
        sources: dict[str, UrlRecord] = {}
        for page in read_lines(path, PageLine):
            if page.redirect is None and (record := latest_record(db, segment, page.fp)) is not None:
                sources[page.fp] = record
        for target in range(partitions):
            for link in read_lines(segment.paths.links(p, chunk, target), LinkLine):
                if link.source in sources:
                    yield sources[link.source], link
