"""A page of HTML: parsed by lxml, read in one pass over the tree."""

from batchcrawl.model.rejection import Rejection
from batchcrawl.web.charset import decode
from batchcrawl.web.links import Resolver, Resolvers
from batchcrawl.web.page import Link, Page
from batchcrawl.web.refresh import parse_refresh
from batchcrawl.web.walk import Found, walk

__all__ = ["Link", "Page", "parse_page"]

TITLE_CHARACTERS_MAX = 1000
DESCRIPTION_CHARACTERS_MAX = 2000
LANGUAGE_CHARACTERS_MAX = 35


def parse_page(
    body: bytes, *, url: str, content_type: str | None, links_max: int, resolvers: Resolvers | None = None
) -> Page:
    """Return what a page holds; never raises.

    `body` is without its content codings, `url` the page's own URL as serialised, `content_type` the header. Links
    after the `links_max`-th that is taken are only counted. With the same `resolvers` for all pages of a site, links
    that they share cost less.
    """
    text, charset = decode(body, content_type)
    found = walk(text)
    page = Page(
        charset=charset,
        title=_collapsed(found.title, TITLE_CHARACTERS_MAX),
        description=_collapsed(found.description, DESCRIPTION_CHARACTERS_MAX),
        language=_collapsed(found.language, LANGUAGE_CHARACTERS_MAX),
        robots=tuple(found.robots),
        text=found.text,
        words=found.words,
        tokens=found.tokens,
    )
    resolver = (resolvers or Resolvers()).of_page(url=url, base_href=found.base_href, encoding=charset)
    _take_links(page, found, resolver, links_max)
    page.canonical = _canonical(found, resolver)
    page.refresh = _refresh(page, found, resolver)
    return page


def _collapsed(text: str | None, characters_max: int) -> str | None:
    if text is None:
        return None
    return " ".join(text.split())[:characters_max].rstrip() or None


def _take_links(page: Page, found: Found, resolver: Resolver, links_max: int) -> None:
    links = page.links
    for position, link in enumerate(found.links):
        if len(links) >= links_max:
            _reject(page, Rejection.LINKS_MAX, len(found.links) - position)
            return
        target = resolver.resolve(link.href)
        if isinstance(target, Rejection):
            _reject(page, target)
        else:
            links.append(Link(target, link.kind, link.anchor, link.rel, position))


def _reject(page: Page, reason: Rejection, count: int = 1) -> None:
    page.rejected[reason.value] = page.rejected.get(reason.value, 0) + count


def _canonical(found: Found, resolver: Resolver) -> str | None:
    target = None if found.canonical is None else resolver.resolve(found.canonical)
    return target if isinstance(target, str) else None


def _refresh(page: Page, found: Found, resolver: Resolver) -> Link | None:
    for content in found.refreshes:
        refresh = parse_refresh(content)
        if refresh is None:
            continue
        if not refresh.target:
            return None
        target = resolver.resolve(refresh.target)
        if isinstance(target, str):
            return Link(target, "meta", None, (), len(found.links))
        _reject(page, target)
        return None
    return None
