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
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import ParseSettings
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.rejection import Rejection
from batchcrawl.store.disk import Disk
from batchcrawl.store.parse_output import Buckets, ChunkWriter, PageBrief, chunk_files, chunk_pages
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import FileInfo, read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.sorted_names import add_names
from batchcrawl.store.warc_reader import read_exchange
from batchcrawl.web.codings import decode_body
from batchcrawl.web.document import Head, Reading, read_document
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.found import Wanted
from batchcrawl.web.links import Resolvers
from batchcrawl.web.page import Link, Page
from batchcrawl.web.signature import simhash, text_signature
from batchcrawl.web.urls import host_key, host_name, requested_url

TARGETS_REMEMBERED = 50_000
"""Links of a site repeat from page to page; so many targets are kept with what was found of them."""
HELD_BYTES_MAX = 64_000_000
"""A chunk ends when the links that it holds take more; a page's own may come on top."""
_REMEMBERED_CHARACTERS_MAX = 500
_UTF8_BYTES_MAX = 4
"""Of one character."""


@dataclass(frozen=True)
class Task:
    """What a partition needs to know."""

    crawl: Crawl
    segment: Segment
    partition: int
    disk: Disk


@dataclass
class Parsed:
    """What one chunk holds."""

    counts: Counter[str] = field(default_factory=Counter)
    files: dict[str, FileInfo] = field(default_factory=dict)
    lines: int = 0
    """Number of the last line of the fetch log in it, from 1."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A link's target, as far as it depends on the way of the page alone."""

    canonical: str
    hops: int
    fingerprint: str
    partition: int
    linked: str | None
    """What to ask for, where it differs from the canonical URL."""
    rejection: Rejection | None


def parse(crawl: Crawl, segment: Segment, *, disk: Disk, clock: Clock, control: Control) -> Counter[str]:
    """Parse what a segment fetched and return what was counted. Raises CorruptData when something of it is lost."""
    segment.require("fetch", partitions=crawl.partitions)
    for names in (crawl.layout.seed_hosts, crawl.layout.seed_domains):
        size_stored(names)  # without them, no link would be in scope
    _list_seed_redirects(crawl, segment, disk)
    tasks = [Task(crawl, segment, p, disk) for p in range(crawl.partitions)]
    limits = _limits(crawl.job.settings.parse)
    counts: Counter[str] = Counter()
    files: dict[str, FileInfo] = {}
    for parts in run_isolated(parse_partition, tasks, parallel=crawl.cores, limits=limits, control=control):
        for part in parts:
            counts.update(part.counts)
            files |= part.files
    segment.finish(disk, "parsed", StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items()))), files)
    return counts


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
    partitions = task.crawl.partitions
    with ChunkWriter(task.disk, task.segment.paths, task.partition, number, partitions=partitions) as writer:
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


def _parse_line(line: FetchLogLine, at: int, items: Items[Parsed], parser: "_PageParser") -> tuple[PageLine, Buckets]:
    """Return what a line of the log leads to; a page that cannot be parsed takes none of the others with it."""
    parsed = items.attempt(at, parser.parse, line)
    return parser.failed(line, parsed.cause) if isinstance(parsed, GivenUp) else parsed


def _count(counts: Counter[str], page: PageLine | PageBrief) -> None:
    counts["pages" if page.redirect is None else "redirects"] += 1
    counts["links"] += page.links
    if page.failed is not None:
        counts["parse_failed"] += 1
    for reason, times in page.rejected.items():
        counts[f"rejected_{reason}"] += times


_Way = tuple[int, int]
"""Depth of the targets of a page, and their hops where they are not on the crawl's own hosts."""


class _PageParser:
    """Parses one page after another; what it remembers makes pages of one site cheap."""

    def __init__(self, task: Task) -> None:
        crawl = task.crawl
        self._fetch_dir = task.segment.paths.fetch_dir
        self._settings = crawl.job.settings.parse
        self._follow_nofollow = crawl.job.settings.scope.follow_nofollow
        self._partitions = crawl.partitions
        self._canonical = crawl.canonical
        self._fingerprinter = crawl.fingerprinter()
        self._scope = crawl.scope()
        self._reading = Reading(
            links_max=self._settings.links_max,
            wanted=Wanted(product_token=crawl.job.product_token, resources=frozenset(self._settings.resources)),
        )
        self._resolvers = Resolvers()
        self._targets: dict[_Way, dict[str, _Target]] = {}
        self._room = TARGETS_REMEMBERED

    def parse(self, line: FetchLogLine) -> tuple[PageLine, Buckets]:
        """Return what a line of the fetch log holds, and the links that were taken from it."""
        buckets = self._no_links()
        parse_line = self._redirect if line.outcome is FetchOutcome.REDIRECT else self._page
        return parse_line(line, buckets), buckets

    def failed(self, line: FetchLogLine, cause: str) -> tuple[PageLine, Buckets]:
        """Return what stands for a line that could not be parsed."""
        page = PageLine(fp=line.fp, url=line.url, failed=cause)
        if line.outcome is FetchOutcome.REDIRECT:
            page.redirect = line.redirect
        else:
            page.content_type = line.content_type
        return page, self._no_links()

    def _no_links(self) -> Buckets:
        return [[] for _ in range(self._partitions)]

    def _redirect(self, line: FetchLogLine, buckets: Buckets) -> PageLine:
        """A redirect's target is one link further, but a site that moved to another host or scheme stays a seed's."""
        out = PageLine(fp=line.fp, url=line.url, redirect=line.redirect)
        link = Link(url=line.redirect or "", kind="redirect", anchor=None, rel=(), position=0)
        moved = line.depth == 0 and host_key(line.redirect or "") != line.host
        self._take(buckets, out, self._way(line, depth=0 if moved else line.depth + 1), [link])
        return out

    def _page(self, line: FetchLogLine, buckets: Buckets) -> PageLine:
        out = PageLine(fp=line.fp, url=line.url, content_type=line.content_type)
        if line.warc is None or line.offset is None:
            raise CorruptData(f"{self._fetch_dir}: the fetch log does not say where {line.url} is stored")
        stored = read_exchange(self._fetch_dir / line.warc, line.offset, length=line.length)
        body = decode_body(stored.body, stored.header("content-encoding"), bytes_max=self._settings.decoded_bytes_max)
        if body is None:
            out.failed = f"content coding {stored.header('content-encoding')} cannot be undone"
            return out
        head = Head(url=line.url, content_type=line.content_type, headers=stored.headers)
        page = read_document(body, head, self._reading, self._resolvers)
        _fill(out, page, text_bytes_max=self._settings.text_bytes_max)
        nofollow = not self._follow_nofollow and ("nofollow" in page.robots or "none" in page.robots)
        links = [] if nofollow else list(page.links)
        if nofollow and page.links:
            out.rejected[Rejection.NOFOLLOW.value] = len(page.links)
        if page.refresh is not None:
            links.append(page.refresh)
        self._take(buckets, out, self._way(line, depth=line.depth + 1), links)
        return out

    def _way(self, line: FetchLogLine, *, depth: int) -> _Way:
        return depth, 1 if self._scope.owns(line.host) else max(1, line.hops) + 1

    def _take(self, buckets: Buckets, page: PageLine, way: _Way, links: Iterable[Link]) -> None:
        """Add the lines of the links that belong to the crawl; the others are counted on the page."""
        if self._room < 0:
            self._targets.clear()
            self._room = TARGETS_REMEMBERED
        targets = self._targets.setdefault(way, {})
        for link in links:
            target = targets.get(link.url) or self._remember(targets, link.url, way)
            rejection = target.rejection
            if link.rel and not self._follow_nofollow and "nofollow" in link.rel:
                rejection = Rejection.NOFOLLOW
            if rejection is not None:
                page.rejected[rejection.value] = page.rejected.get(rejection.value, 0) + 1
                continue
            page.links += 1
            buckets[target.partition].append(
                LinkLine(
                    fp=target.fingerprint,
                    url=target.canonical,
                    source=page.fp,
                    depth=way[0],
                    hops=target.hops,
                    kind=link.kind,
                    linked=target.linked,
                    anchor=link.anchor,
                    rel=link.rel,
                    position=link.position,
                )
            )

    def _remember(self, targets: dict[str, _Target], url: str, way: _Way) -> _Target:
        asked, canonical = requested_url(url), self._canonical(url)
        fp, host = self._fingerprinter.of(canonical), host_key(canonical)
        hops = 0 if self._scope.owns(host) else way[1]
        target = _Target(
            canonical=canonical,
            hops=hops,
            fingerprint=fp.hex(),
            partition=partition_of(fp, self._partitions),
            linked=asked if asked != canonical else None,
            rejection=self._scope.decide(canonical, host=host, depth=way[0], hops=hops).rejection,
        )
        if len(url) <= _REMEMBERED_CHARACTERS_MAX:
            targets[url] = target
            self._room -= 1
        return target


def _fill(out: PageLine, page: Page, *, text_bytes_max: int) -> None:
    out.media_type, out.failed = page.media_type, page.failed
    out.charset, out.title, out.description, out.language = page.charset, page.title, page.description, page.language
    out.canonical, out.robots, out.words = page.canonical, list(page.robots), page.words
    out.unavailable_at = page.unavailable_at
    out.text = _cut(page.text, text_bytes_max) if page.text or page.charset is not None else None
    if page.words:  # pages without a text are not copies of one another
        out.signature, out.simhash = text_signature(page.text).hex(), simhash(page.tokens).hex()
    out.rejected = dict(page.rejected)


def _cut(text: str, bytes_max: int) -> str:
    if len(text) * _UTF8_BYTES_MAX <= bytes_max:
        return text
    return text.encode()[:bytes_max].decode("utf-8", "ignore")
