"""What parse makes of an answer: the line of its page, and its links as they were taken or not."""

from collections.abc import Sequence
from pathlib import Path

from batchcrawl.engine.isolated import Limits
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.outlinks import Outlinks
from batchcrawl.job.page_reader import PageReader
from batchcrawl.job.settings import ParseSettings
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.page_links import PageLinks
from batchcrawl.web.directives import says_nofollow
from batchcrawl.web.page import Link, Page
from batchcrawl.web.signature import simhash, text_signature

_UTF8_BYTES_MAX = 4
"""Of one character."""


def worker_limits(settings: ParseSettings) -> Limits:
    """Return what a page may take of the process that parses it."""
    return Limits(cpu_s=settings.page_cpu_s, wall_s=settings.page_time_s, memory_bytes=settings.worker_memory_bytes_max)


class PageParser:
    """Parses one page after another; what it remembers makes pages of one site cheap."""

    def __init__(self, crawl: Crawl, fetch_dir: Path, *, listing: bool = False) -> None:
        """`fetch_dir` has the WARC files; `listing`: the links that are not taken are listed, and not only counted."""
        self._text_bytes_max = crawl.job.settings.parse.text_bytes_max
        self._near = crawl.job.settings.parse.near_duplicates
        self._reader = PageReader(crawl, fetch_dir, listing=listing)
        self._outlinks = Outlinks(crawl, listing=listing)

    def parse(self, line: FetchLogLine) -> tuple[PageLine, PageLinks]:
        """Return what a line of the fetch log holds, and the links that were taken from it."""
        links = self._outlinks.page_links()
        if line.outcome is FetchOutcome.REDIRECT:
            return self._redirect(line, links), links
        return self._page(line, self._reader.read(line), links), links

    def parse_answer(
        self, line: FetchLogLine, headers: Sequence[tuple[str, str]], body: bytes
    ) -> tuple[PageLine, PageLinks]:
        """Return the same of an answer that is at hand, its body as sent, and not in a WARC file."""
        links = self._outlinks.page_links()
        return self._page(line, self._reader.read_answer(line, headers, body), links), links

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

    def _page(self, line: FetchLogLine, page: Page, links: PageLinks) -> PageLine:
        out = PageLine(fp=line.fp, url=line.url, content_type=line.content_type)
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
