"""Any body that was fetched, read by its type, and what the head of its answer says of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from batchcrawl.web.directives import directives_of_headers, unavailable_at
from batchcrawl.web.found import NOTHING_MORE, FoundLink, Wanted
from batchcrawl.web.header_text import as_utf8
from batchcrawl.web.html.elements import FOLLOWED_RELS
from batchcrawl.web.html.parse import one_language, parse_page
from batchcrawl.web.link_header import parse_link_headers
from batchcrawl.web.links import Resolvers, take_links
from batchcrawl.web.media import PDF, PLAIN, is_html, media_type_of
from batchcrawl.web.page import Page
from batchcrawl.web.pdf import read_pdf
from batchcrawl.web.plain import read_plain

_KIND = "header"


@dataclass(frozen=True, kw_only=True)
class Head:
    """What an answer says of its body."""

    url: str
    """URL of the page, as serialised."""
    content_type: str | None = None
    headers: Sequence[tuple[str, str]] = ()
    """All header fields, values decoded as latin-1."""

    def values(self, name: str) -> list[str]:
        """Return the values of a header field, whose name must be lower-case; as UTF-8 where their bytes are that."""
        return [as_utf8(value) for field, value in self.headers if field.lower() == name]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is read of a document, the same for all of a crawl."""

    links_max: int
    wanted: Wanted = NOTHING_MORE


def read_document(body: bytes, head: Head, reading: Reading, resolvers: Resolvers | None = None) -> Page:
    """Return what a body holds; never raises but for want of memory.

    HTML is read whole, plain text and PDF as text; of all else only the type is told. `body` is without its content
    codings. Links of the head come before those of the page, and are resolved against its own URL. With the same
    `resolvers` for all pages of a site, links that they share cost less.
    """
    resolvers = resolvers or Resolvers()
    media_type = media_type_of(body, head.content_type)
    links = _links_of(head)
    if is_html(body, media_type):
        page = parse_page(
            body,
            url=head.url,
            content_type=head.content_type,
            links_max=reading.links_max,
            links_of_head=links,
            wanted=reading.wanted,
            resolvers=resolvers,
        )
    else:
        page = _read_other(body, media_type, head.content_type)
        page.refused = [] if reading.wanted.refused else None
        resolver = resolvers.of_page(url=head.url, base_href=None, encoding="utf-8")
        take_links(page, links, resolver, links_max=reading.links_max)
    page.media_type = media_type
    _add_head(page, head, reading)
    return page


def _links_of(head: Head) -> list[FoundLink]:
    found = parse_link_headers(head.values("link"))
    return [FoundLink(link.target, _KIND, link.rel) for link in found if not FOLLOWED_RELS.isdisjoint(link.rel)]


def _read_other(body: bytes, media_type: str, content_type: str | None) -> Page:
    if media_type == PLAIN:
        return read_plain(body, content_type)
    return read_pdf(body) if media_type == PDF else Page()


def _add_head(page: Page, head: Head, reading: Reading) -> None:
    found = directives_of_headers(head.values("x-robots-tag"), product_token=reading.wanted.product_token)
    page.robots = tuple(dict.fromkeys((*page.robots, *found)))
    page.unavailable_at = unavailable_at(page.robots)
    if page.canonical is None:
        named = (link.url for link in page.links if link.kind == _KIND and "canonical" in link.rel)
        page.canonical = next(named, None)
    if page.language is None:
        page.language = one_language(", ".join(head.values("content-language")) or None)
