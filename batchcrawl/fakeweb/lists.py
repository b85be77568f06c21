"""Sitemaps and feeds: what each host says of its own pages.

A host has a sitemap index, the gzip-compressed sitemaps that it lists, and an RSS feed of its last pages. One host in
four dates all its pages anew each day, whatever has changed.
"""

import gzip
import math
from datetime import UTC, datetime
from email.utils import formatdate
from html import escape
from typing import NamedTuple

from batchcrawl.fakeweb.changes import DAY_S, WEB_BORN_AT, version_at
from batchcrawl.fakeweb.layout import Kind, Layout, Resource
from batchcrawl.fakeweb.links import Links
from batchcrawl.fakeweb.rolls import roll
from batchcrawl.fakeweb.spec import WebSpec

LISTS = frozenset({Kind.SITEMAP_INDEX, Kind.SITEMAP, Kind.FEED})
_XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


class WrittenList(NamedTuple):
    """A sitemap or feed as it is sent."""

    body: bytes
    content_type: str
    valid_until: float


class _Dated(NamedTuple):
    url: str
    changed_at: float
    valid_until: float


class ListWriter:
    """Writes the sitemaps and feeds of one web."""

    def __init__(self, spec: WebSpec, layout: Layout, links: Links) -> None:
        self._spec = spec
        self._layout = layout
        self._links = links

    def write(self, resource: Resource, now: float) -> WrittenList:
        """Return the bytes of a sitemap or feed at an instant."""
        entries = [self._dated(link.target, now) for link in self._links.of(resource)]
        until = min((entry.valid_until for entry in entries), default=math.inf)
        if resource.kind is Kind.FEED:
            return WrittenList(_feed(entries).encode(), "application/rss+xml", until)
        if resource.kind is Kind.SITEMAP_INDEX:
            return WrittenList(_index(entries).encode(), "text/xml; charset=utf-8", math.inf)
        exact = resource.host % 2 == 0
        return WrittenList(gzip.compress(_sitemap(entries, exact).encode(), mtime=0), "application/x-gzip", until)

    def tells_the_truth(self, host: int) -> bool:
        """Tell whether a host's dates are those of the last changes. Those of the first host are."""
        return host == 0 or roll(self._spec.seed, "dates", host) % 4 != 0

    def _dated(self, resource: Resource, now: float) -> _Dated:
        url = self._layout.url(resource)
        if resource.kind in LISTS:
            return _Dated(url, WEB_BORN_AT, math.inf)
        if not self.tells_the_truth(resource.host):
            today = now // DAY_S * DAY_S
            return _Dated(url, today, today + DAY_S)
        if "changes" not in self._spec.faults:
            return _Dated(url, WEB_BORN_AT, math.inf)
        version = version_at(self._spec.seed, host=resource.host, page=resource.page, now=now)
        return _Dated(url, version.changed_at, version.valid_until)


def _index(entries: list[_Dated]) -> str:
    items = "".join(f"<sitemap><loc>{escape(entry.url)}</loc></sitemap>\n" for entry in entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{_XMLNS}">\n{items}</sitemapindex>\n'


def _sitemap(entries: list[_Dated], exact: bool) -> str:
    items = "".join(
        f"<url><loc>{escape(entry.url)}</loc><lastmod>{_w3c(entry.changed_at, exact)}</lastmod></url>\n"
        for entry in entries
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{_XMLNS}">\n{items}</urlset>\n'


def _w3c(at: float, exact: bool) -> str:
    return datetime.fromtimestamp(math.floor(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ" if exact else "%Y-%m-%d")


def _feed(entries: list[_Dated]) -> str:
    items = "".join(
        f"<item><title>news</title><link>{escape(entry.url)}</link>"
        f"<pubDate>{formatdate(math.floor(entry.changed_at), usegmt=True)}</pubDate></item>\n"
        for entry in entries
    )
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>news</title>\n{items}</channel></rss>\n'
