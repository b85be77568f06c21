"""Sitemaps and feeds: lists of pages and the dates of their last changes, known by root element or text."""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.rejection import Rejection
from batchcrawl.web.charset import xml_encoding
from batchcrawl.web.codings import decode_body
from batchcrawl.web.dates import parse_date
from batchcrawl.web.encodings import python_codec
from batchcrawl.web.links import Resolver, Resolvers, reject
from batchcrawl.web.listings.entry_reader import EntryReader, RawEntry
from batchcrawl.web.listings.feed import AtomReader, RssReader
from batchcrawl.web.listings.sitemap import NAMESPACES, SitemapReader, is_web_address, read_url_list
from batchcrawl.web.listings.xml_scan import attribute, scan_xml
from batchcrawl.web.page import Link, Page
from batchcrawl.web.signature import TEXT_SIGNATURE_BYTES

TAGS_MAX = 2_000_000
"""Start and end tags read of one document: forty an entry, where one has 50,000."""
HEAD_BYTES = 4096
"""Where the root element begins, if it is to be seen at the first glance."""
_PART_BYTES = 65_536


@dataclass(frozen=True, kw_only=True)
class ListingLimits:
    """How much is read of one sitemap or feed, and how strictly."""

    bytes_max: int = 52_428_800
    """Bytes, once decompressed: the protocol's own limit."""
    entries_max: int = 50_000
    strict_namespace: bool = False
    """An element counts as a sitemap's only in the namespace of the protocol."""
    refused: bool = False
    """What is no link to be taken is listed, and not only counted."""


@dataclass(frozen=True)
class _Root:
    """The root element."""

    name: str
    """Without its prefix."""
    prefix: str
    attributes: str
    at: int
    """Where its tag begins."""


def parse_listing(
    body: bytes, *, url: str, content_type: str | None, named: bool, limits: ListingLimits
) -> Page | None:
    """Return the links of a sitemap or feed, or None for a document that is none. Never raises.

    `body` is without its content codings; one that is a gzip file is read as what it holds. `named` tells that the URL
    is said to be a sitemap: then plain text counts as one if its first line is an address, and text before the root
    element is forgiven. Kinds of links: `sitemap` and `feed` for pages, `index` for sitemaps. The signature is one of
    the links, their dates and the URL, so that no listing is ever a copy of another.
    """
    if not named and not _may_be_one(body):
        return None
    body = decode_body(body, "gzip", bytes_max=limits.bytes_max + 1) or b""
    charset, mark = xml_encoding(body, content_type)
    texts = _texts(body, charset, at=mark, end=limits.bytes_max)
    first = next(texts, "")
    root = _root(first, anywhere=named)
    if root is not None and root.name in _FORMS:
        page = _read_xml(root, chain([first[root.at :]], texts), url, limits)
    elif named and root is None and is_web_address(first.lstrip("\ufeff \t\r\n")):
        page = _read_text(chain([first], texts), url, limits)
    else:
        page = None
    if page is not None:
        page.charset = charset
        page.cut = page.cut or ("bytes" if len(body) > limits.bytes_max else None)
    return page


def _may_be_one(body: bytes) -> bool:
    """Spare pages all but a glance: tell whether there may be a root element of a listing."""
    head = decode_body(body, "gzip", bytes_max=HEAD_BYTES) or b""
    return _ROOT_SEEN.search(head) is not None or head[:2] in _UTF16


_ROOT_SEEN = re.compile(rb"<(?:[\w.-]{1,64}:)?(?:urlset|sitemapindex|rss|RDF|feed)[\s>/]")
_UTF16 = frozenset({b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"})


def _texts(body: bytes, charset: str, *, at: int, end: int) -> Iterator[str]:
    """Yield the text of a document in parts; malformed bytes become U+FFFD."""
    decoder = codecs.getincrementaldecoder(python_codec(charset))("replace")
    for start in range(at, min(end, len(body)), _PART_BYTES):
        yield decoder.decode(body[start : min(start + _PART_BYTES, end)])
    yield decoder.decode(b"", final=True)


def _root(text: str, *, anywhere: bool) -> _Root | None:
    """Return the root element, whatever the document; None where none begins in the text.

    `anywhere`: where neither a listing nor an HTML page begins, the first element that could be a listing's root.
    """
    prolog = _PROLOG.match(text)
    found = _TAG.match(text, prolog.end() if prolog is not None else 0)
    if anywhere and (found is None or found["name"].lower() not in {*map(str.lower, _FORMS), "html"}):
        found = _LISTING_TAG.search(text) or found
    return None if found is None else _Root(found["name"], found["prefix"] or "", found["attributes"], found.start())


def _tag(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"""<(?:(?P<prefix>{_NAME}):)?(?P<name>{name})"""
        r"""(?P<attributes>(?:[\s/](?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)?)>"""
    )


_NAME = r"""[^\s<>/!?"'=&:]++"""
_TAG = _tag(_NAME)
_LISTING_TAG = _tag("urlset|sitemapindex|rss|RDF|feed")
_PROLOG = re.compile(
    r"(?:[\s\ufeff]++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*+(?:\[.*?\]\s*+)?>)*+", re.DOTALL | re.IGNORECASE
)


def _read_xml(root: _Root, parts: Iterable[str], url: str, limits: ListingLimits) -> Page | None:
    kind, link_kind = _FORMS[root.name]
    declared = dict(_declared_namespaces(root))
    namespace = declared.get(root.prefix)
    if kind is UrlKind.SITEMAP and limits.strict_namespace and namespace not in NAMESPACES:
        return None
    own = {prefix for prefix, uri in declared.items() if uri == namespace} | {root.prefix}
    reader = _reader(root, frozenset(own), limits.entries_max)
    whole = scan_xml(parts, reader, tags_max=TAGS_MAX)
    reader.close()
    page = _page(reader.entries, kind, link_kind, url, limits)
    page.cut = "entries" if reader.cut else None if whole else "tags"
    return page


_FORMS = {
    "urlset": (UrlKind.SITEMAP, "sitemap"),
    "sitemapindex": (UrlKind.SITEMAP, "index"),
    "rss": (UrlKind.FEED, "feed"),
    "RDF": (UrlKind.FEED, "feed"),
    "feed": (UrlKind.FEED, "feed"),
}
"""Root elements, with what they make of the document and of its links."""


def _declared_namespaces(root: _Root) -> Iterator[tuple[str, str]]:
    for name in _XMLNS.findall(root.attributes):
        uri = attribute(root.attributes, name)
        if uri is not None:
            yield name.partition(":")[2], uri


_XMLNS = re.compile(r"(?<!\S)(xmlns(?::[^\s=]+)?)\s*=")


def _reader(root: _Root, own_prefixes: frozenset[str], entries_max: int) -> EntryReader:
    if root.name == "feed":
        base = attribute(root.attributes, "xml:base")
        return AtomReader(own_prefixes, entries_max=entries_max, base=base)
    reader = SitemapReader if _FORMS[root.name][0] is UrlKind.SITEMAP else RssReader
    return reader(own_prefixes, entries_max=entries_max)


def _read_text(parts: Iterable[str], url: str, limits: ListingLimits) -> Page:
    lines = read_url_list(parts)
    page = _page(islice(lines, limits.entries_max), UrlKind.SITEMAP, "sitemap", url, limits)
    page.cut = None if next(lines, None) is None else "entries"
    return page


def _page(entries: Iterable[RawEntry], kind: UrlKind, link_kind: str, url: str, limits: ListingLimits) -> Page:
    """Resolve the entries; one that is there twice counts once, and those that are no web address are counted."""
    page = Page(charset="", kind=kind, refused=[] if limits.refused else None)
    resolver = Resolvers().of_page(url=url, base_href=None, encoding="utf-8")
    signature = blake2b(url.encode("utf-8", "replace"), digest_size=TEXT_SIGNATURE_BYTES)
    seen: set[str] = set()
    for position, entry in enumerate(entries):
        target = _resolver(resolver, entry, url).resolve(entry.location)
        if isinstance(target, Rejection):
            reject(page, target, entry.location)
        elif target not in seen:
            seen.add(target)
            date = parse_date(entry.date)
            page.links.append(Link(target, link_kind, None, (), position, date))
            signature.update(f"{target} {date and date.at}\n".encode("utf-8", "replace"))
    page.signature = signature.digest()
    return page


def _resolver(resolver: Resolver, entry: RawEntry, url: str) -> Resolver:
    if entry.base is None:
        return resolver
    return Resolvers().of_page(url=url, base_href=entry.base, encoding="utf-8")
