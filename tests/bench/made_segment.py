"""What fetch and parse would leave in a segment, made without a network: pages of a known web and their links."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchEntry, FetchLogLine, HostLogLine, HostSheet, LinkLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.disk import Disk
from batchcrawl.store.page_links import Buckets, PageLinks
from batchcrawl.store.parse_output import ChunkWriter
from batchcrawl.store.records import FileInfo, LogWriter, log_info, read_lines
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.web.fingerprint import Fingerprinter, partition_of
from tests.bench.known_web import DEPTHS, KnownWeb

LINKS = 40
KNOWN_SHARE = 0.9
"""So many of the links lead to known URLs, of which they say nothing new, and as many to the page's own host."""
CHUNK_PAGES = 500
_TEXT = "What a crawler keeps most is text that nobody reads again until somebody asks for it. " * 35

Files = dict[str, FileInfo]


@dataclass(frozen=True)
class _Making:
    crawl: Crawl
    web: KnownWeb
    segment: Segment
    partition: int


def make_fetched_and_parsed(crawl: Crawl, web: KnownWeb, segment: Segment) -> None:
    """Bring a segment that was generated to where update takes it: every URL fetched, LINKS links on each page."""
    tasks = [_Making(crawl, web, segment, p) for p in range(crawl.partitions)]
    logs: Files = {}
    chunks: Files = {}
    for of_fetch, of_parse in run_partitions(make_partition, tasks, parallel=crawl.cores, control=Control()):
        logs |= of_fetch
        chunks |= of_parse
    for stamp, files in (("fetched", logs), ("parsed", chunks)):
        segment.finish(Disk(), stamp, StepInfo(ended_at=web.now + 1800.0), files)


def make_partition(task: _Making, control: Control) -> tuple[Files, Files]:
    """Make the files of one partition; return those of fetch and those of parse by their path in the segment."""
    paths = task.segment.paths
    entries = list(read_lines(paths.fetch_list(task.partition), FetchEntry))
    sheets = read_lines(paths.host_sheet(task.partition), HostSheet)
    at = task.web.now + 900.0
    learned = (HostLogLine(host=sheet.host, at=at, delay_s=1.0, response_s=0.3) for sheet in sheets)
    fetched = (_log_line(entry, at=at) for entry in entries)
    logs = [
        _written(paths.fetch_log(task.partition), FetchLogLine, fetched),
        _written(paths.host_log(task.partition), HostLogLine, learned),
    ]
    return {f"fetch/{info.name}": info for info in logs}, _chunks(task, entries)


def _written(path: Path, line_type: type[msgspec.Struct], lines: Iterable[msgspec.Struct]) -> FileInfo:
    writer = LogWriter(Disk(), path, line_type)
    writer.append(lines)
    writer.sync()
    writer.close()
    return log_info(path)


def _log_line(entry: FetchEntry, *, at: float) -> FetchLogLine:
    return FetchLogLine(
        fp=entry.fp,
        url=entry.url,
        host=entry.host,
        outcome=FetchOutcome.FETCHED,
        depth=entry.depth,
        status=200,
        queued_at=at - 1,
        started_at=at - 0.3,
        first_byte_at=at - 0.1,
        ended_at=at,
        body_bytes=25_000,
        address="192.0.2.1",
        content_type="text/html; charset=utf-8",
        digest=f"sha1:{entry.fp}",
        warc="0-00000.warc.gz",
        offset=0,
        length=8_000,
        tries=1,
    )


def _chunks(task: _Making, entries: Sequence[FetchEntry]) -> Files:
    files: Files = {}
    links = _Links(task)
    for number, start in enumerate(range(0, len(entries), CHUNK_PAGES)):
        partitions = task.crawl.partitions
        with ChunkWriter(Disk(), task.segment.paths, task.partition, number, partitions=partitions) as chunk:
            for entry in entries[start : start + CHUNK_PAGES]:
                chunk.add(_page_line(entry), PageLinks(links.of(entry)))
            files |= chunk.finish()
    return files


def _page_line(entry: FetchEntry) -> PageLine:
    signature, simhash = (blake2b(entry.fp.encode(), digest_size=size).hexdigest() for size in (16, 8))
    return PageLine(
        fp=entry.fp,
        url=entry.url,
        media_type="text/html",
        charset="utf-8",
        title="A page",
        text=_TEXT,
        words=len(_TEXT.split()),
        signature=signature,
        simhash=simhash,
        links=LINKS,
    )


class _Links:
    """Links of pages, by target partition: the same for the same seed."""

    def __init__(self, task: _Making) -> None:
        self._web, self._partitions = task.web, task.crawl.partitions
        self._rng = random.Random(task.partition)
        self._fingerprint = Fingerprinter(task.crawl.domains()).of

    def of(self, entry: FetchEntry) -> Buckets:
        """Return the links of one page."""
        buckets: Buckets = [[] for _ in range(self._partitions)]
        for position, url in enumerate(self._targets(entry)):
            fp = self._fingerprint(url)
            line = LinkLine(
                fp=fp.hex(), url=url, source=entry.fp, depth=entry.depth + DEPTHS, anchor="read more", position=position
            )
            buckets[partition_of(fp, self._partitions)].append(line)
        return buckets

    def _targets(self, entry: FetchEntry) -> Iterator[str]:
        own = int(entry.host.partition("site")[2].partition(".")[0])
        web, rng = self._web, self._rng
        for _ in range(LINKS):
            host = own if rng.random() < KNOWN_SHARE else rng.randrange(web.hosts)
            page = rng.randrange(web.host_urls)
            yield web.url(host, page if rng.random() < KNOWN_SHARE else web.host_urls + page)
