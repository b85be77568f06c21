"""Parse: stored pages become text, signatures and links.

Reads: fetch log, WARC files. Writes: pages, and links in a bucket per target partition.
Commits by: the rename of a chunk's pages file, after those of its links; the stamp `.parsed`.
If killed: chunks whose pages file is there are done; the same command parses the rest.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.rejection import Rejection
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.reading import size_stored
from batchcrawl.store.records import FileInfo, LineWriter, line_file_info, read_lines, read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.store.sorted_names import add_names
from batchcrawl.store.warc_reader import read_exchange
from batchcrawl.web.codings import decode_body
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.html import Link, Page, parse_page
from batchcrawl.web.links import Resolvers
from batchcrawl.web.signature import simhash, text_signature
from batchcrawl.web.urls import host_key, host_name, requested_url

TARGETS_REMEMBERED = 50_000
"""Links of a site repeat from page to page; so many targets are kept with what was found of them."""
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
    """What one partition wrote."""

    counts: Counter[str] = field(default_factory=Counter)
    files: dict[str, FileInfo] = field(default_factory=dict)


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
    parts = run_partitions(parse_partition, tasks, parallel=crawl.cores, control=control)
    counts: Counter[str] = Counter()
    files: dict[str, FileInfo] = {}
    for part in parts:
        counts.update(part.counts)
        files |= part.files
    segment.finish(disk, "parsed", StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items()))), files)
    return counts


def parse_partition(task: Task, control: Control) -> Parsed:
    """Parse the chunks of one partition that are not parsed yet."""
    result = Parsed()
    log = task.segment.paths.fetch_log(task.partition)
    size = task.crawl.job.settings.parse.chunk_pages
    total = task.segment.entry(f"{log.parent.name}/{log.name}").lines
    numbered = enumerate(read_log(log, FetchLogLine, sealed=True), 1)
    with_links = ((at, line) for at, line in numbered if _has_links(line))
    parser = _PageParser(task)
    for number in count():
        read = list(islice(with_links, size))
        if not read:
            return result
        chunk = [line for _, line in read]
        if not _take_in(result, task, number, chunk):
            control.raise_if_stopping()
            _write_chunk(result, task, number, parser.parse_all(chunk))
        control.report(Progress(read[-1][0], total))
    return result


_Way = tuple[int, int]
"""Depth of the targets of a page, and their hops where they are not on the crawl's own hosts."""
_Buckets = list[list[LinkLine]]
"""Links by target partition."""
_FP = attrgetter("fp")


@dataclass
class _Chunk:
    """The lines of a chunk, before they are written."""

    pages: list[PageLine]
    links: _Buckets
    """Sorted by fingerprint, then source and position."""


def _has_links(line: FetchLogLine) -> bool:
    return line.revisit is None and line.outcome in (FetchOutcome.FETCHED, FetchOutcome.REDIRECT)


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


def _write_chunk(result: Parsed, task: Task, number: int, chunk: _Chunk) -> None:
    paths = task.segment.paths
    for target, links in enumerate(chunk.links):
        _write_lines(result, task, paths.links(task.partition, number, target), links, LinkLine)
    failpoint("parse.links_written")
    _write_lines(result, task, paths.pages(task.partition, number), chunk.pages, PageLine)
    for page in chunk.pages:
        _count(result.counts, page)


def _write_lines(result: Parsed, task: Task, path: Path, lines: Sequence[Struct], line_type: type[Struct]) -> None:
    with LineWriter(task.disk, path, line_type) as writer:
        writer.write_all(lines)
        result.files[f"{path.parent.name}/{path.name}"] = writer.finish()


def _take_in(result: Parsed, task: Task, number: int, lines: Sequence[FetchLogLine]) -> bool:
    """Count a chunk that an earlier run has written; return False when it has not.

    Chunks of another size, from before a change of the job, hold other pages and are removed.
    """
    paths = task.segment.paths
    pages = paths.pages(task.partition, number)
    if not pages.exists():
        return False
    found = list(read_lines(pages, PageLine))
    if [page.fp for page in found] != [line.fp for line in lines]:
        task.disk.remove(pages)
        return False
    for path in (*(paths.links(task.partition, number, q) for q in range(task.crawl.partitions)), pages):
        result.files[f"{path.parent.name}/{path.name}"] = line_file_info(path)
    for page in found:
        _count(result.counts, page)
    return True


def _count(counts: Counter[str], page: PageLine) -> None:
    counts["pages" if page.redirect is None else "redirects"] += 1
    counts["links"] += page.links
    if page.failed is not None:
        counts["parse_failed"] += 1
    for reason, times in page.rejected.items():
        counts[f"rejected_{reason}"] += times


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
        self._resolvers = Resolvers()
        self._targets: dict[_Way, dict[str, _Target]] = {}
        self._room = TARGETS_REMEMBERED

    def parse_all(self, lines: Sequence[FetchLogLine]) -> _Chunk:
        """Return the pages of a chunk of the fetch log, in its order, and their links."""
        pages: dict[str, PageLine] = {}
        links: _Buckets = [[] for _ in range(self._partitions)]
        for line in sorted(lines, key=_FP):  # then the links of a target, too, come in the order of their sources
            parse_line = self._redirect if line.outcome is FetchOutcome.REDIRECT else self._page
            pages[line.fp] = parse_line(line, links)
        for bucket in links:
            bucket.sort(key=_FP)
        return _Chunk([pages[line.fp] for line in lines], links)

    def _redirect(self, line: FetchLogLine, buckets: _Buckets) -> PageLine:
        """A redirect's target is one link further, but a site that moved to another host or scheme stays a seed's."""
        out = PageLine(fp=line.fp, url=line.url, redirect=line.redirect)
        link = Link(url=line.redirect or "", kind="redirect", anchor=None, rel=(), position=0)
        moved = line.depth == 0 and host_key(line.redirect or "") != line.host
        self._take(buckets, out, self._way(line, depth=0 if moved else line.depth + 1), [link])
        return out

    def _page(self, line: FetchLogLine, buckets: _Buckets) -> PageLine:
        out = PageLine(fp=line.fp, url=line.url, content_type=line.content_type)
        if line.warc is None or line.offset is None:
            raise CorruptData(f"{self._fetch_dir}: the fetch log does not say where {line.url} is stored")
        stored = read_exchange(self._fetch_dir / line.warc, line.offset, length=line.length)
        body = decode_body(stored.body, stored.header("content-encoding"), bytes_max=self._settings.decoded_bytes_max)
        if body is None:
            out.failed = f"content coding {stored.header('content-encoding')} cannot be undone"
            return out
        page = parse_page(
            body,
            url=line.url,
            content_type=line.content_type,
            links_max=self._settings.links_max,
            resolvers=self._resolvers,
        )
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

    def _take(self, buckets: _Buckets, page: PageLine, way: _Way, links: Iterable[Link]) -> None:
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
    out.charset, out.title, out.description, out.language = page.charset, page.title, page.description, page.language
    out.canonical, out.robots, out.words = page.canonical, list(page.robots), page.words
    out.text = _cut(page.text, text_bytes_max)
    if page.words:  # pages without a text are not copies of one another
        out.signature, out.simhash = text_signature(page.text).hex(), simhash(page.tokens).hex()
    out.rejected = dict(page.rejected)


def _cut(text: str, bytes_max: int) -> str:
    if len(text) * _UTF8_BYTES_MAX <= bytes_max:
        return text
    return text.encode()[:bytes_max].decode("utf-8", "ignore")
