"""Outlinks: from what a page, a sitemap or a robots.txt names to link lines, or to rejections that are counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.sitemaps import may_speak_of
from batchcrawl.store.parse_output import Buckets
from batchcrawl.web.dates import DAY_S, DateSpan
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.listings.sitemap import is_below
from batchcrawl.web.page import Link
from batchcrawl.web.urls import host_key, host_name, requested_url

TARGETS_REMEMBERED = 50_000
"""Links of a site repeat from page to page; so many targets are kept with what was found of them."""
_REMEMBERED_CHARACTERS_MAX = 500

Way = tuple[int, int]
"""Depth of the targets of a page, and their hops where they are not on the crawl's own hosts."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where links to sitemaps come from."""

    host: str
    """Host key."""
    depth: int
    hops: int
    sites: Sequence[str] = ()
    """Registered domains beside its own that it may speak for."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A link's target, as far as it depends on the way of the page alone."""

    canonical: str
    site: str
    depth: int
    hops: int
    fingerprint: str
    partition: int
    linked: str | None
    """What to ask for, where it differs from the canonical URL."""
    rejection: Rejection | None


class Outlinks:
    """Makes the lines of one page's links after another's; what it remembers makes pages of one site cheap."""

    def __init__(self, crawl: Crawl) -> None:
        self._strict = crawl.job.settings.sitemaps.strict
        self._follow_nofollow = crawl.job.settings.scope.follow_nofollow
        self._partitions = crawl.partitions
        self._canonical = crawl.canonical
        self._fingerprinter = crawl.fingerprinter()
        self._registered = crawl.domains().registered_private
        self._scope = crawl.scope()
        self._targets: dict[Way, dict[str, _Target]] = {}
        self._room = TARGETS_REMEMBERED

    def buckets(self) -> Buckets:
        """Return a bucket for each target partition, empty."""
        return [[] for _ in range(self._partitions)]

    def way(self, *, host: str, depth: int, hops: int, further: int = 1) -> Way:
        """Return the way of what something on the host key `host` leads to.

        `depth` is that of the targets, `hops` are those of the source, from which the targets are `further` links away.
        """
        return depth, 1 if self._scope.owns(host) else max(1, hops) + further

    def take(self, buckets: Buckets, page: PageLine, way: Way, links: Iterable[Link]) -> None:
        """Add the lines of the links that belong to the crawl; the others are counted on the page."""
        targets = self._targets_of(way)
        for link in links:
            target = targets.get(link.url) or self._remember(targets, link.url, way)
            rejection = target.rejection
            if link.rel and not self._follow_nofollow and "nofollow" in link.rel:
                rejection = Rejection.NOFOLLOW
            if rejection is not None:
                page.rejected[rejection.value] = page.rejected.get(rejection.value, 0) + 1
                continue
            page.links += 1
            buckets[target.partition].append(_line(page.fp, link, target))

    def take_listed(self, buckets: Buckets, page: PageLine, line: FetchLogLine, links: Iterable[Link]) -> None:
        """Do the same for what a sitemap or feed lists that was fetched by a line of the fetch log.

        A sitemap speaks of its own site and of those in the line; a feed links anywhere, and dates pages of its own.
        Pages are one link further than what lists them, the sitemaps of an index are not.
        """
        own_site, read_at = self._site(line.url), int(line.ended_at or 0)
        way = self.way(host=line.host, depth=line.depth + 1, hops=line.hops)
        index_way = self.way(host=line.host, depth=line.depth, hops=line.hops, further=0)
        for link in links:
            is_sitemap = link.kind == "index"
            target = self._target(link.url, index_way if is_sitemap else way)
            foreign = not may_speak_of(target.site, own_site=own_site, sites=line.sites)
            elsewhere = self._strict and link.kind == "sitemap" and not is_below(link.url, line.url)
            rejection = _forgiven(target, own_site) if is_sitemap else target.rejection
            if (foreign and link.kind != "feed") or elsewhere:
                rejection = Rejection.FOREIGN
            out = self._take_one(buckets, page, link, target, rejection)
            if out is None:
                continue
            if is_sitemap:
                out.leads_to, out.sites = UrlKind.SITEMAP, line.sites
            if link.lastmod is not None and not foreign:
                _date(out, link.lastmod, read_at)

    def take_sitemaps(self, buckets: Buckets, page: PageLine, source: Source, links: Iterable[Link]) -> None:
        """Do the same for links to sitemaps that may speak for their source: those of a robots.txt, or a redirect.

        They are as deep as their source.
        """
        own_site = self._site(source.host)
        way = self.way(host=source.host, depth=source.depth, hops=source.hops, further=0)
        for link in links:
            target = self._target(link.url, way)
            out = self._take_one(buckets, page, link, target, _forgiven(target, own_site))
            if out is not None:
                out.leads_to, out.sites = UrlKind.SITEMAP, sorted({own_site, *source.sites} - {target.site})

    def _take_one(
        self, buckets: Buckets, page: PageLine, link: Link, target: _Target, rejection: Rejection | None
    ) -> LinkLine | None:
        if rejection is not None:
            page.rejected[rejection.value] = page.rejected.get(rejection.value, 0) + 1
            return None
        page.links += 1
        line = _line(page.fp, link, target)
        buckets[target.partition].append(line)
        return line

    def _targets_of(self, way: Way) -> dict[str, _Target]:
        if self._room < 0:
            self._targets.clear()
            self._room = TARGETS_REMEMBERED
        return self._targets.setdefault(way, {})

    def _target(self, url: str, way: Way) -> _Target:
        targets = self._targets_of(way)
        return targets.get(url) or self._remember(targets, url, way)

    def _remember(self, targets: dict[str, _Target], url: str, way: Way) -> _Target:
        asked, canonical = requested_url(url), self._canonical(url)
        fp, host = self._fingerprinter.of(canonical), host_key(canonical)
        hops = 0 if self._scope.owns(host) else way[1]
        target = _Target(
            canonical=canonical,
            site=self._registered(host_name(host)),
            depth=way[0],
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

    def _site(self, url: str) -> str:
        """Return the registered domain by the whole suffix list: who shares a host with strangers is none of them."""
        return self._registered(host_name(host_key(url)))


def _line(source: str, link: Link, target: _Target) -> LinkLine:
    return LinkLine(
        fp=target.fingerprint,
        url=target.canonical,
        source=source,
        depth=target.depth,
        hops=target.hops,
        kind=link.kind,
        linked=target.linked,
        anchor=link.anchor,
        rel=link.rel,
        position=link.position,
    )


def _forgiven(target: _Target, site: str) -> Rejection | None:
    """Return why a sitemap is not taken: it need not match what pages must, nor be on a host of the crawl.

    Then it must be of the site that names it.
    """
    off_host = target.rejection is Rejection.OFF_HOST and target.site == site
    return None if off_host or target.rejection is Rejection.NOT_INCLUDED else target.rejection


def _date(line: LinkLine, lastmod: DateSpan, read_at: int) -> None:
    """Write down when the target last changed; what is told of the future is no date."""
    if lastmod.at > read_at + DAY_S:
        return
    until = max(lastmod.at, min(lastmod.until, read_at))
    line.lastmod_at, line.lastmod_until = lastmod.at, until if until != lastmod.at else None
