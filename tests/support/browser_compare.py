"""Holds what the crawler finds in a page against what a browser's DOM has, and finds the rule behind a difference."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from batchcrawl.web.found import RESOURCE_KINDS, Wanted
from batchcrawl.web.html.parse import parse_page
from tests.support.browser import Seen, SeenLink
from tests.support.browser_documents import Document

UNEXPLAINED = "UNEXPLAINED"
_LINKS_MAX = 10**6
_Judge = Callable[[Document, Seen, Seen], bool]


@dataclass(frozen=True)
class Difference:
    """What the two make of one page."""

    url: str
    aspects: tuple[str, ...]
    """Which of base, charset, links and refresh are not equal."""
    rule: str
    """What caused it; UNEXPLAINED where nothing was found."""
    told: str
    """Both sides in one line, for people."""


def found_by_us(document: Document) -> Seen:
    """Return what the crawler finds in a page, all kinds of links switched on."""
    page = parse_page(
        document.body,
        url=document.url,
        content_type=document.content_type,
        links_max=_LINKS_MAX,
        wanted=Wanted(resources=RESOURCE_KINDS),
    )
    links = tuple(SeenLink(link.kind, link.url, link.rel) for link in page.links)
    refresh = None if page.refresh is None else page.refresh.url
    return Seen(page.base, page.charset, links, None if refresh == document.url else refresh)


def taken_of(seen: Seen, document: Document) -> Seen:
    """Return the part of what a browser has that a crawler takes: link elements that lead somewhere, and no reload."""
    links = (SeenLink(kind, link.url, link.rel) for link in seen.links if (kind := _kind(link)) is not None)
    return Seen(seen.base, seen.charset, tuple(links), None if seen.refresh == document.url else seen.refresh)


def _kind(link: SeenLink) -> str | None:
    if link.kind != "link":
        return link.kind
    rels = set(link.rel)
    if "stylesheet" in rels:
        return "stylesheet"
    if rels & {"alternate", "canonical", "next", "prev"}:
        return "link"
    return "icon" if rels & {"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"} else None


def difference(document: Document, seen: Seen) -> Difference | None:
    """Return how the crawler's view of a page differs from what a browser has seen, or None where they are equal.

    Links are equal when kind, URL and rel are, in the same order and as often.
    """
    return compare(document, found_by_us(document), taken_of(seen, document))


def compare(document: Document, ours: Seen, theirs: Seen) -> Difference | None:
    """Return how two views of a page differ, or None where they are equal."""
    aspects = tuple(name for name in Seen.__struct_fields__ if getattr(ours, name) != getattr(theirs, name))
    if not aspects:
        return None
    rule = next((name for name, holds in _RULES.items() if holds(document, ours, theirs)), UNEXPLAINED)
    return Difference(document.url, aspects, rule, "; ".join(_told(name, ours, theirs) for name in aspects))


def _told(aspect: str, ours: Seen, theirs: Seen) -> str:
    if aspect != "links":
        return f"{aspect}: {getattr(ours, aspect)}, browser: {getattr(theirs, aspect)}"
    only_ours, only_theirs = Counter(ours.links) - Counter(theirs.links), Counter(theirs.links) - Counter(ours.links)
    return f"links only ours: {_some(only_ours)}, only the browser's: {_some(only_theirs)}"


def _some(links: Counter[SeenLink]) -> str:
    shown = [f"{link.kind} {link.url}" for link in list(links)[:3]]
    return ", ".join(shown) + (f" and {len(links) - 3} more" if len(links) > 3 else "") or "none"


def _repeats_links(document: Document, ours: Seen, theirs: Seen) -> bool:
    more = Counter(theirs.links) - Counter(ours.links)
    is_more = bool(more) and Counter(ours.links) <= Counter(theirs.links)
    return _alike(ours, theirs) and is_more and set(more) <= set(ours.links)


def _moves_links(document: Document, ours: Seen, theirs: Seen) -> bool:
    return _alike(ours, theirs) and Counter(ours.links) == Counter(theirs.links) and b"<table" in document.body


def _undeclared(document: Document, ours: Seen, theirs: Seen) -> bool:
    return ours.charset != theirs.charset and not _CHARSET.search(document.content_type.encode() + document.body)


def _declared_elsewhere(document: Document, ours: Seen, theirs: Seen) -> bool:
    return ours.charset != theirs.charset and _CHARSET.search(document.body) is not None


def _base_is_no_url(document: Document, ours: Seen, theirs: Seen) -> bool:
    return theirs.base == "about:blank" and ours.base == document.url


def _serialised_otherwise(document: Document, ours: Seen, theirs: Seen) -> bool:
    """Chromium encodes the vertical bar in a path, and takes a host with a space."""
    known = {link.url for link in ours.links}
    other = [link.url for link in theirs.links if link.url not in known]
    return _alike(ours, theirs) and bool(other) and all("%7C" in url or "%20" in url[:20] for url in other)


def _refresh_only(document: Document, ours: Seen, theirs: Seen) -> bool:
    return ours.refresh != theirs.refresh and (ours.base, ours.charset, ours.links) == (
        theirs.base,
        theirs.charset,
        theirs.links,
    )


def _links_only(document: Document, ours: Seen, theirs: Seen) -> bool:
    return _alike(ours, theirs)


def _alike(ours: Seen, theirs: Seen) -> bool:
    """All but the links is equal."""
    return (ours.base, ours.charset, ours.refresh) == (theirs.base, theirs.charset, theirs.refresh)


def _holds(pattern: bytes, also: _Judge = lambda document, ours, theirs: True) -> _Judge:
    found = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda document, ours, theirs: found.search(document.body) is not None and also(document, ours, theirs)


_CHARSET = re.compile(rb"charset|encoding=|\A(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)", re.IGNORECASE)
_RULES: dict[str, _Judge] = {
    "a misnested anchor stands in the DOM more than once": _repeats_links,
    "a DOM has in another order what is misnested in a table": _moves_links,
    "nothing declares the charset: we take for UTF-8 what is that, and both guess": _undeclared,
    "Chromium looks for a declaration by tags, to the end of the head; the standard by bytes, we in 16 KiB":
        _declared_elsewhere,
    "a base that is no URL leaves Chromium without one; the standard falls back on the page's own URL": _base_is_no_url,
    "Chromium serialises not as the URL standard says": _serialised_otherwise,
    "a NUL is dropped, where the standard puts U+FFFD": _holds(rb"\0", _links_only),
    "a refresh behind noscript is not taken: it is for browsers without scripts": _holds(rb"<noscript", _refresh_only),
    "Chromium takes the soonest of several refreshes, the standard the first":
        _holds(rb"refresh.*refresh", _refresh_only),
    "a refresh before the base is resolved by the standard without it": _holds(rb"refresh.*<base", _refresh_only),
    "a script that closes itself is open for a browser": _holds(rb"<script[^>]*/>", _links_only),
    "a frameset takes the place of what a browser found before it": _holds(rb"<frameset"),
    "the parser does not know which end tags a template lets through": _holds(rb"<template"),
    "the parser reads raw text, CDATA and end tags in svg and math as if it were HTML": _holds(rb"<(?:svg|math)"),
}  # fmt: skip
