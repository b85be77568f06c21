"""A page of HTML: parsed by lxml, read in one pass."""

from collections.abc import Sequence

from batchcrawl.web.charset import decode
from batchcrawl.web.found import NOTHING_MORE, Found, FoundLink, Wanted
from batchcrawl.web.html.refresh import parse_refresh
from batchcrawl.web.html.walk import walk
from batchcrawl.web.links import Resolver, Resolvers, reject, take_links
from batchcrawl.web.page import Link, Page
from batchcrawl.web.urls import requested_url

__all__ = ["Link", "Page", "parse_page"]

TITLE_CHARACTERS_MAX = 1000
DESCRIPTION_CHARACTERS_MAX = 2000
LANGUAGE_CHARACTERS_MAX = 35


def parse_page(
    body: bytes,
    *,
    url: str,
    content_type: str | None,
    links_max: int,
    links_of_head: Sequence[FoundLink] = (),
    wanted: Wanted = NOTHING_MORE,
    resolvers: Resolvers | None = None,
) -> Page:
    """Return what a page holds; never raises but for want of memory.

    `body` is without its content codings, `url` the page's own URL as serialised, `content_type` the header. Links
    after the `links_max`-th that is taken are only counted. `links_of_head` come first, and are resolved against the
    page's own URL. With the same `resolvers` for all pages of a site, links that they share cost less.
    """
    resolvers = resolvers or Resolvers()
    text, charset = decode(body, content_type)
    found = walk(text, wanted)
    resolver = resolvers.of_page(url=url, base_href=found.base_href, encoding=charset)
    page = Page(
        charset=charset,
        base=resolver.base,
        title=_collapsed(found.title, TITLE_CHARACTERS_MAX),
        description=_collapsed(found.description, DESCRIPTION_CHARACTERS_MAX),
        language=_collapsed(found.language, LANGUAGE_CHARACTERS_MAX) or one_language(found.language_of_meta),
        robots=tuple(found.robots),
        text=found.text,
        words=found.words,
        tokens=found.tokens,
        refused=[] if wanted.refused else None,
    )
    own = None if wanted.places else requested_url(url)
    if links_of_head:
        of_head = resolvers.of_page(url=url, base_href=None, encoding="utf-8")
        take_links(page, links_of_head, of_head, links_max=links_max, own_document=own)
    take_links(page, found.links, resolver, links_max=links_max, first=len(links_of_head), own_document=own)
    page.canonical = _canonical(found, resolver)
    page.refresh = _refresh(page, found, resolver, position=len(links_of_head) + len(found.links))
    return page


def one_language(value: str | None) -> str | None:
    """Return the language of a Content-Language, or None where it names several (HTML standard, "pragma-set")."""
    if value is None or "," in value:
        return None
    return _collapsed(value, LANGUAGE_CHARACTERS_MAX)


def _collapsed(text: str | None, characters_max: int) -> str | None:
    if text is None:
        return None
    return " ".join(text.split())[:characters_max].rstrip() or None


def _canonical(found: Found, resolver: Resolver) -> str | None:
    target = None if found.canonical is None else resolver.resolve(found.canonical)
    return target if isinstance(target, str) else None


def _refresh(page: Page, found: Found, resolver: Resolver, *, position: int) -> Link | None:
    for content in found.refreshes:
        refresh = parse_refresh(content)
        if refresh is None:
            continue
        if not refresh.target:
            return None
        target = resolver.resolve(refresh.target)
        if isinstance(target, str):
            return Link(target, "meta", None, (), position)
        reject(page, target, refresh.target)
        return None
    return None
