"""What a stored answer holds: the body of a line of the fetch log, read as what it is."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.store.warc_reader import read_exchange
from batchcrawl.web.codings import decode_body
from batchcrawl.web.document import Head, Reading, read_document
from batchcrawl.web.found import Wanted
from batchcrawl.web.links import Resolvers
from batchcrawl.web.listings.parse import parse_listing
from batchcrawl.web.listings.sitemap import is_called_sitemap
from batchcrawl.web.page import Page


class PageReader:
    """Reads one body after another; what it remembers makes pages of one site cheap."""

    def __init__(self, crawl: Crawl, fetch_dir: Path, *, listing: bool = False, places: bool = False) -> None:
        """`fetch_dir` is the folder of a segment that has the WARC files.

        `listing`: the links that are not taken are listed, and not only counted. `places`: links to a place on the page
        itself are among the links in any case.
        """
        job = crawl.job
        self._fetch_dir = fetch_dir
        self._decoded_bytes_max = job.settings.parse.decoded_bytes_max
        self._limits = replace(job.settings.sitemaps.limits(), refused=listing)
        self._reading = _reading(crawl, listing=listing, places=places)
        self._resolvers = Resolvers()

    def read(self, line: FetchLogLine) -> Page:
        """Return the page, or the sitemap or feed, that a line tells of; `failed` says why it cannot be read.

        Raises CorruptData when its answer is not stored where the line says.
        """
        if line.warc is None or line.offset is None:
            raise CorruptData(f"{self._fetch_dir}: the fetch log does not say where {line.url} is stored")
        stored = read_exchange(self._fetch_dir / line.warc, line.offset, length=line.length)
        return self.read_answer(line, stored.headers, stored.body)

    def read_answer(self, line: FetchLogLine, headers: Sequence[tuple[str, str]], body: bytes) -> Page:
        """Return the same of an answer that is at hand, with its header fields and its body as sent."""
        named, bytes_max = line.kind is UrlKind.SITEMAP, self._decoded_bytes_max
        if named:
            bytes_max = max(bytes_max, self._limits.bytes_max + 1)
        coding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
        decoded = decode_body(body, coding, bytes_max=bytes_max)
        if decoded is None:
            return Page(failed=f"content coding {coding} cannot be undone")
        listing = parse_listing(decoded, url=line.url, content_type=line.content_type, named=named, limits=self._limits)
        if listing is not None:
            return listing
        if named and is_called_sitemap(line.url):
            return Page(kind=UrlKind.SITEMAP, failed="it is no sitemap")
        head = Head(url=line.url, content_type=line.content_type, headers=headers)
        return read_document(decoded, head, self._reading, self._resolvers)


def _reading(crawl: Crawl, *, listing: bool, places: bool) -> Reading:
    parse = crawl.job.settings.parse
    wanted = Wanted(
        product_token=crawl.job.product_token,
        resources=frozenset(parse.resources),
        places=places or "fragment" not in crawl.identity.canonical_steps,
        refused=listing,
    )
    return Reading(links_max=parse.links_max, wanted=wanted)
