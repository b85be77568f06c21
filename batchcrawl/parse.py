"""Parse: stored pages become text, signatures and links.

Reads: fetch log, WARC files. Writes: pages, and links in a bucket per target partition.
Commits by: the rename of a chunk's pages file, after those of its links; the stamp `.parsed`.
If killed: chunks whose pages file is there are done; the same command parses the rest.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.isolated import GivenUp, Items, run_isolated
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.named_sitemaps import named_sitemap_links
from batchcrawl.job.page_parser import PageParser, worker_limits
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.disk import Disk
from batchcrawl.store.page_links import PageLinks
from batchcrawl.store.parse_output import ChunkWriter, PageBrief, chunk_files, chunk_pages, named_links_files
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import FileInfo, read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.sorted_names import add_names
from batchcrawl.store.space import PARSED_PART, require_free
from batchcrawl.web.urls import host_key, host_name

HELD_BYTES_MAX = 64_000_000
"""A chunk ends when the links that it holds take more; a page's own may come on top."""


@dataclass(frozen=True)
class Task:
    """What a partition needs to know."""

    crawl: Crawl
    segment: Segment
    partition: int
    disk: Disk
    listing: bool
    """The links that are not taken are listed."""


@dataclass
class Parsed:
    """What one chunk holds."""

    counts: Counter[str] = field(default_factory=Counter)
    files: dict[str, FileInfo] = field(default_factory=dict)
    lines: int = 0
    """Number of the last line of the fetch log in it, from 1."""


def parse(
    crawl: Crawl, segment: Segment, *, disk: Disk, clock: Clock, control: Control, listing: bool = False
) -> Counter[str]:
    """Parse what a segment fetched and return what was counted. Raises CorruptData when something of it is lost.

    With `listing`, each link that is not taken is listed in the segment, but for chunks that are parsed already.
    """
    segment.require("fetch", partitions=crawl.partitions)
    for names in (crawl.layout.seed_hosts, crawl.layout.seed_domains):
        size_stored(names)  # without them, no link would be in scope
    if not segment.paths.all_pages(0):  # else it goes on, and a part is written
        require_free(segment.paths.parse_dir, segment.bytes_of(".warc.gz") // PARSED_PART, what="to parse into")
    _list_seed_redirects(crawl, segment, disk)
    tasks = [Task(crawl, segment, p, disk, listing) for p in range(crawl.partitions)]
    limits = worker_limits(crawl.job.settings.parse)
    counts: Counter[str] = Counter()
    files: dict[str, FileInfo] = {}
    for part in run_partitions(write_named_sitemaps, tasks, parallel=crawl.cores, control=control):
        counts.update(part.counts)
        files |= part.files
    for parts in run_isolated(parse_partition, tasks, parallel=crawl.cores, limits=limits, control=control):
        for part in parts:
            counts.update(part.counts)
            files |= part.files
    segment.finish(disk, "parsed", StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items()))), files)
    return counts


def write_named_sitemaps(task: Task, control: Control) -> Parsed:
    """Write the links to the sitemaps that robots.txt files name; a run that was cut wrote the same, or nothing."""
    part = Parsed()
    out, named = named_sitemap_links(task.crawl, task.segment, task.partition)
    for page in named:
        part.counts["sitemaps_named"] += page.links
        _count_links(part.counts, page)
    part.files = named_links_files(task.disk, task.segment.paths, task.partition, out.buckets)
    return part


def parse_partition(task: Task, control: Control, items: Items[Parsed]) -> Iterator[Parsed]:
    """Parse the chunks of one partition that are not parsed yet; yields what each chunk holds.

    An item is a line of the fetch log, by its number from 1.
    """
    log = _Log(task, after=items.parts[-1].lines if items.parts else 0)
    parser = PageParser(task.crawl, task.segment.paths.fetch_dir, listing=task.listing)
    for number in count(len(items.parts)):
        found = chunk_pages(task.segment.paths, task.partition, number)
        lines = log.look(max(1, len(found)))
        if not lines:
            return
        if [page.fp for page in found] == [line.fp for line in lines]:
            part = _take_in(task, number, found)
            part.lines = log.pass_by(len(found))
        else:
            task.disk.remove(task.segment.paths.pages(task.partition, number))
            control.raise_if_stopping()
            part = _parse_chunk(task, number, log, items, parser, control)
        control.report(Progress(part.lines, log.total))
        yield part


def _list_seed_redirects(crawl: Crawl, segment: Segment, disk: Disk) -> None:
    """Let the host that a seed redirects to count as a seed's: a site that moved from http or to www is meant."""
    names = {
        host_name(host_key(line.redirect))
        for p in range(crawl.partitions)
        for line in read_log(segment.paths.fetch_log(p), FetchLogLine, sealed=True)
        if line.depth == 0 and line.redirect is not None
    }
    domains = crawl.domains()
    add_names(disk, crawl.layout.seed_hosts, names)
    add_names(disk, crawl.layout.seed_domains, {domains.registered(name) for name in names})


class _Log:
    """The lines of a fetch log that hold a page or a redirect, behind some that have been read before."""

    def __init__(self, task: Task, *, after: int) -> None:
        path = task.segment.paths.fetch_log(task.partition)
        self.total = task.segment.entry(f"{path.parent.name}/{path.name}").lines
        numbered = enumerate(read_log(path, FetchLogLine, sealed=True), 1)
        self._lines = ((at, line) for at, line in numbered if at > after and _has_links(line))
        self._seen: deque[tuple[int, FetchLogLine]] = deque()

    def look(self, lines: int) -> list[FetchLogLine]:
        """Return the next lines, or fewer at the end, without taking them."""
        self._seen += islice(self._lines, max(0, lines - len(self._seen)))
        return [line for _, line in islice(self._seen, lines)]

    def pass_by(self, lines: int) -> int:
        """Take lines that were looked at, and return the number of the last."""
        return [self._seen.popleft() for _ in range(lines)][-1][0]

    def __iter__(self) -> "_Log":
        return self

    def __next__(self) -> tuple[int, FetchLogLine]:
        """Take a line, with its number in the log from 1."""
        return self._seen.popleft() if self._seen else next(self._lines)


def _has_links(line: FetchLogLine) -> bool:
    return line.revisit is None and line.outcome in (FetchOutcome.FETCHED, FetchOutcome.REDIRECT)


def _take_in(task: Task, number: int, pages: Iterable[PageBrief]) -> Parsed:
    """Return what a chunk holds that an earlier run has written."""
    part = Parsed(files=chunk_files(task.segment.paths, task.partition, number, partitions=task.crawl.partitions))
    for page in pages:
        _count(part.counts, page)
    return part


def _parse_chunk(
    task: Task, number: int, log: _Log, items: Items[Parsed], parser: PageParser, control: Control
) -> Parsed:
    part = Parsed()
    pages_max = task.crawl.job.settings.parse.chunk_pages
    paths, partitions = task.segment.paths, task.crawl.partitions
    with ChunkWriter(task.disk, paths, task.partition, number, partitions=partitions, listing=task.listing) as writer:
        for at, line in log:
            if control.dropping:
                control.raise_if_stopping()
            page, links = _parse_line(line, at, items, parser)
            writer.add(page, links)
            _count(part.counts, page)
            part.lines = at
            if writer.pages >= pages_max or writer.held_bytes >= HELD_BYTES_MAX:
                break
        part.files = writer.finish()
    return part


def _parse_line(line: FetchLogLine, at: int, items: Items[Parsed], parser: PageParser) -> tuple[PageLine, PageLinks]:
    """Return what a line of the log leads to; a page that cannot be parsed takes none of the others with it."""
    parsed = items.attempt(at, parser.parse, line)
    return parser.failed(line, parsed.cause) if isinstance(parsed, GivenUp) else parsed


def _count(counts: Counter[str], page: PageLine | PageBrief) -> None:
    counts[f"{page.kind.value}s" if page.redirect is None else "redirects"] += 1
    if page.failed is not None:
        counts["parse_failed"] += 1
    _count_links(counts, page)


def _count_links(counts: Counter[str], page: PageLine | PageBrief) -> None:
    counts["links"] += page.links
    for reason, times in page.rejected.items():
        counts[f"rejected_{reason}"] += times
