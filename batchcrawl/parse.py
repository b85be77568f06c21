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
from batchcrawl.engine.isolated import GivenUp, Items, Limits, run_isolated
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.named_sitemaps import named_sitemap_links
from batchcrawl.job.outlinks import Outlinks
from batchcrawl.job.page_reader import PageReader
from batchcrawl.job.settings import ParseSettings
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.disk import Disk
from batchcrawl.store.page_links import PageLinks
from batchcrawl.store.parse_output import ChunkWriter, PageBrief, chunk_files, chunk_pages, named_links_files
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import FileInfo, read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.sorted_names import add_names
from batchcrawl.store.space import PARSED_PART, require_free
from batchcrawl.web.directives import says_nofollow
from batchcrawl.web.page import Link, Page
from batchcrawl.web.signature import simhash, text_signature
from batchcrawl.web.urls import host_key, host_name

HELD_BYTES_MAX = 64_000_000
"""A chunk ends when the links that it holds take more; a page's own may come on top."""
_UTF8_BYTES_MAX = 4
"""Of one character."""


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
    limits = _limits(crawl.job.settings.parse)
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
    parser = _PageParser(task)
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


def _limits(settings: ParseSettings) -> Limits:
    return Limits(cpu_s=settings.page_cpu_s, wall_s=settings.page_time_s, memory_bytes=settings.worker_memory_bytes_max)


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
    task: Task, number: int, log: _Log, items: Items[Parsed], parser: "_PageParser", control: Control
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


def _parse_line(line: FetchLogLine, at: int, items: Items[Parsed], parser: "_PageParser") -> tuple[PageLine, PageLinks]:
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


class _PageParser:
    """Parses one page after another; what it remembers makes pages of one site cheap."""

    def __init__(self, task: Task) -> None:
        crawl = task.crawl
        self._text_bytes_max = crawl.job.settings.parse.text_bytes_max
        self._near = crawl.job.settings.parse.near_duplicates
        self._reader = PageReader(crawl, task.segment.paths.fetch_dir, listing=task.listing)
        self._outlinks = Outlinks(crawl, listing=task.listing)

    def parse(self, line: FetchLogLine) -> tuple[PageLine, PageLinks]:
        """Return what a line of the fetch log holds, and the links that were taken from it."""
        links = self._outlinks.page_links()
        parse_line = self._redirect if line.outcome is FetchOutcome.REDIRECT else self._page
        return parse_line(line, links), links

    def failed(self, line: FetchLogLine, cause: str) -> tuple[PageLine, PageLinks]:
        """Return what stands for a line that could not be parsed."""
        page = PageLine(fp=line.fp, url=line.url, failed=cause)
        if line.outcome is FetchOutcome.REDIRECT:
            page.redirect = line.redirect
        else:
            page.content_type = line.content_type
        return page, self._outlinks.page_links()

    def _redirect(self, line: FetchLogLine, links: PageLinks) -> PageLine:
        out = PageLine(fp=line.fp, url=line.url, redirect=line.redirect)
        link = Link(url=line.redirect or "", kind="redirect", anchor=None, rel=(), position=0)
        self._outlinks.take_redirect(links, out, line, link)
        return out

    def _page(self, line: FetchLogLine, links: PageLinks) -> PageLine:
        out = PageLine(fp=line.fp, url=line.url, content_type=line.content_type)
        page = self._reader.read(line)
        if page.kind is UrlKind.PAGE:
            self._take_page(line, page, out, links)
            return out
        out.kind, out.charset, out.cut = page.kind, page.charset, page.cut
        out.failed, out.signature = page.failed, None if page.signature is None else page.signature.hex()
        self._outlinks.refuse(links, out, page)
        self._outlinks.take_listed(links, out, self._outlinks.lister(line), page.links)
        return out

    def _take_page(self, line: FetchLogLine, page: Page, out: PageLine, links: PageLinks) -> None:
        _fill(out, page, text_bytes_max=self._text_bytes_max, near=self._near)
        way = self._outlinks.way_from(line)
        self._outlinks.refuse(links, out, page)
        self._outlinks.take(links, out, way, page.links, nofollow=says_nofollow(page.robots))
        if page.refresh is not None:
            self._outlinks.take(links, out, way, [page.refresh])


def _fill(out: PageLine, page: Page, *, text_bytes_max: int, near: bool) -> None:
    out.media_type, out.failed = page.media_type, page.failed
    out.charset, out.title, out.description, out.language = page.charset, page.title, page.description, page.language
    out.canonical, out.robots, out.words = page.canonical, list(page.robots), page.words
    out.unavailable_at = page.unavailable_at
    out.text = _cut(page.text, text_bytes_max) if page.text or page.charset is not None else None
    if page.words:  # pages without a text are not copies of one another
        out.signature = text_signature(page.text).hex()
        out.simhash = simhash(page.tokens).hex() if near else None


def _cut(text: str, bytes_max: int) -> str:
    if len(text) * _UTF8_BYTES_MAX <= bytes_max:
        return text
    return text.encode()[:bytes_max].decode("utf-8", "ignore")
