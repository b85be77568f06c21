"""Outlinks: from what a page, a sitemap or a robots.txt names to link lines, or to rejections that are counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.scope_rules import DEFAULT
from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine, RejectedLink
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.scope import Decision
from batchcrawl.policy.sitemaps import may_speak_of
from batchcrawl.store.page_links import URL_CHARACTERS_MAX, PageLinks
from batchcrawl.web.dates import DAY_S, DateSpan
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.listings.sitemap import is_below
from batchcrawl.web.page import Link, Page
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
class Target:
    """A link's target, as far as it depends on the way of the page alone."""

    canonical: str
    host: str
    """Host key."""
    site: str
    """Registered domain, by the whole suffix list."""
    depth: int
    hops: int
    fingerprint: str
    """In hex."""
    partition: int
    linked: str | None
    """What to ask for, where it differs from the canonical URL."""
    decision: Decision
    """What the scope says of it."""


class Judged(NamedTuple):
    """A link, and whether it is taken."""

    target: Target
    decision: Decision


@dataclass(frozen=True, kw_only=True)
class Lister:
    """A sitemap or feed, as far as its links depend on it."""

    line: FetchLogLine
    site: str
    """Registered domain."""
    way: Way
    index_way: Way
    """Of the sitemaps that an index lists."""

    def may_speak_of(self, target: Target) -> bool:
        """Tell whether it may say of a target that it is there, and when it changed."""
        return may_speak_of(target.site, own_site=self.site, sites=self.line.sites)


class Outlinks:
    """Makes the lines of one page's links after another's; what it remembers makes pages of one site cheap."""

    def __init__(self, crawl: Crawl, *, listing: bool = False) -> None:
        """`listing`: the links that are not taken are listed, and not only counted."""
        self._listing = listing
        self._strict = crawl.job.settings.sitemaps.strict
        self._follow_nofollow = crawl.job.settings.scope.follow_nofollow
        sources = crawl.job.sources
        self._nofollow = Decision(Rejection.NOFOLLOW, "follow_nofollow = false", sources["scope.follow_nofollow"])
        links_max = f"links_max = {crawl.job.settings.parse.links_max}"
        self._unresolved = _UNRESOLVED | {
            Rejection.LINKS_MAX: Decision(Rejection.LINKS_MAX, links_max, sources["parse.links_max"])
        }
        self._foreign = Decision(Rejection.FOREIGN, "strict = true", sources["sitemaps.strict"])
        self._partitions = crawl.partitions
        self._canonical = crawl.canonical
        self._fingerprinter = crawl.fingerprinter()
        self._registered = crawl.domains().registered_private
        self._scope = crawl.scope()
        self._targets: dict[Way, dict[str, Target]] = {}
        self._room = TARGETS_REMEMBERED

    def page_links(self) -> PageLinks:
        """Return what takes the links of a page, empty."""
        return PageLinks([[] for _ in range(self._partitions)], listed=[] if self._listing else None)

    def way(self, *, host: str, depth: int, hops: int, further: int = 1) -> Way:
        """Return the way of what something on the host key `host` leads to.

        `depth` is that of the targets, `hops` are those of the source, from which the targets are `further` links away.
        """
        return depth, 1 if self._scope.owns(host) else max(1, hops) + further

    def way_from(self, line: FetchLogLine) -> Way:
        """Return the way of the links of a page that was fetched by a line of the fetch log."""
        return self.way(host=line.host, depth=line.depth + 1, hops=line.hops)

    def take(self, out: PageLinks, page: PageLine, way: Way, links: Iterable[Link], *, nofollow: bool = False) -> None:
        """Add the lines of the links that belong to the crawl; the others are counted on the page.

        `nofollow` says that the page asks for none of them to be followed.
        """
        targets = self._targets_of(way)
        for link in links:
            target = targets.get(link.url) or self._remember(targets, link.url, way)
            decision = self._decide(page.fp, link, target, nofollow=nofollow)
            if decision.rejection is not None:
                _reject(out, page, link.url, decision, target.host)
                continue
            page.links += 1
            out.buckets[target.partition].append(_line(page.fp, link, target))

    def judge(self, fp: str, way: Way, link: Link, *, nofollow: bool = False) -> Judged:
        """Return what `take` does with a link of the page with a fingerprint."""
        target = self._target(link.url, way)
        return Judged(target, self._decide(fp, link, target, nofollow=nofollow))

    def refuse(self, out: PageLinks, page: PageLine, read: Page) -> None:
        """Count the links that were not even resolved; they are counted with the host of their page."""
        host = host_key(page.url)
        for reason, links in read.rejected.items():
            page.rejected[reason] = page.rejected.get(reason, 0) + links
            out.rejected[reason, host] += links
        if out.listed is not None:
            out.listed.extend(_rejected(page, href, self._unresolved[reason]) for href, reason in read.refused or ())

    def _decide(self, fp: str, link: Link, target: Target, *, nofollow: bool) -> Decision:
        if target.fingerprint == fp:
            return _SELF
        if (nofollow or (link.rel and "nofollow" in link.rel)) and not self._follow_nofollow:
            return self._nofollow
        return target.decision

    def lister(self, line: FetchLogLine) -> Lister:
        """Return the sitemap or feed that was fetched by a line of the fetch log."""
        return Lister(
            line=line,
            site=self._site(line.url),
            way=self.way_from(line),
            index_way=self.way(host=line.host, depth=line.depth, hops=line.hops, further=0),
        )

    def take_listed(self, out: PageLinks, page: PageLine, lister: Lister, links: Iterable[Link]) -> None:
        """Do the same for what a sitemap or feed lists.

        A sitemap speaks of its own site and of those in its line; a feed links anywhere, and dates pages of its own.
        Pages are one link further than what lists them, the sitemaps of an index are not.
        """
        read_at = int(lister.line.ended_at or 0)
        for link in links:
            judged = self.judge_listed(lister, link)
            taken = _take_one(out, page, link, judged)
            if taken is None:
                continue
            if link.kind == "index":
                taken.leads_to, taken.sites = UrlKind.SITEMAP, lister.line.sites
            if link.lastmod is not None and lister.may_speak_of(judged.target):
                _date(taken, link.lastmod, read_at)

    def judge_listed(self, lister: Lister, link: Link) -> Judged:
        """Return what `take_listed` does with a link."""
        is_sitemap = link.kind == "index"
        target = self._target(link.url, lister.index_way if is_sitemap else lister.way)
        elsewhere = self._strict and link.kind == "sitemap" and not is_below(link.url, lister.line.url)
        if elsewhere:
            return Judged(target, self._foreign)
        if link.kind != "feed" and not lister.may_speak_of(target):
            return Judged(target, _FOREIGN)
        return Judged(target, _forgiving(target, lister.site) if is_sitemap else target.decision)

    def take_redirect(self, out: PageLinks, page: PageLine, line: FetchLogLine, link: Link) -> None:
        """Do the same for the target of a redirect.

        It is one link further, but a site that moved to another host or scheme stays a seed's.
        """
        if line.kind is UrlKind.SITEMAP:
            source = Source(host=line.host, depth=line.depth, hops=line.hops, sites=line.sites)
            self.take_sitemaps(out, page, source, [link])
        else:
            self.take(out, page, self._way_of_redirect(line), [link])

    def judge_redirect(self, line: FetchLogLine, link: Link) -> Judged:
        """Return what `take_redirect` does with a link."""
        if line.kind is UrlKind.SITEMAP:
            return self._judge_sitemap(Source(host=line.host, depth=line.depth, hops=line.hops), link)
        return self.judge(line.fp, self._way_of_redirect(line), link)

    def take_sitemaps(self, out: PageLinks, page: PageLine, source: Source, links: Iterable[Link]) -> None:
        """Do the same for links to sitemaps that may speak for their source: those of a robots.txt, or a redirect.

        They are as deep as their source.
        """
        for link in links:
            judged = self._judge_sitemap(source, link)
            taken = _take_one(out, page, link, judged)
            if taken is not None:
                sites = {self._site(source.host), *source.sites}
                taken.leads_to, taken.sites = UrlKind.SITEMAP, sorted(sites - {judged.target.site})

    def _judge_sitemap(self, source: Source, link: Link) -> Judged:
        way = self.way(host=source.host, depth=source.depth, hops=source.hops, further=0)
        target = self._target(link.url, way)
        return Judged(target, _forgiving(target, self._site(source.host)))

    def _way_of_redirect(self, line: FetchLogLine) -> Way:
        moved = line.depth == 0 and host_key(line.redirect or "") != line.host
        return self.way(host=line.host, depth=0 if moved else line.depth + 1, hops=line.hops)

    def _targets_of(self, way: Way) -> dict[str, Target]:
        if self._room < 0:
            self._targets.clear()
            self._room = TARGETS_REMEMBERED
        return self._targets.setdefault(way, {})

    def _target(self, url: str, way: Way) -> Target:
        targets = self._targets_of(way)
        return targets.get(url) or self._remember(targets, url, way)

    def _remember(self, targets: dict[str, Target], url: str, way: Way) -> Target:
        asked, canonical = requested_url(url), self._canonical(url)
        fp, host = self._fingerprinter.of(canonical), host_key(canonical)
        hops = 0 if self._scope.owns(host) else way[1]
        target = Target(
            canonical=canonical,
            host=host,
            site=self._registered(host_name(host)),
            depth=way[0],
            hops=hops,
            fingerprint=fp.hex(),
            partition=partition_of(fp, self._partitions),
            linked=asked if asked != canonical else None,
            decision=self._scope.decide(canonical, host=host, depth=way[0], hops=hops),
        )
        if len(url) <= _REMEMBERED_CHARACTERS_MAX:
            targets[url] = target
            self._room -= 1
        return target

    def _site(self, url: str) -> str:
        """Return the registered domain by the whole suffix list: who shares a host with strangers is none of them."""
        return self._registered(host_name(host_key(url)))


def _line(source: str, link: Link, target: Target) -> LinkLine:
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


def _take_one(out: PageLinks, page: PageLine, link: Link, judged: Judged) -> LinkLine | None:
    if judged.decision.rejection is not None:
        _reject(out, page, link.url, judged.decision, judged.target.host)
        return None
    page.links += 1
    line = _line(page.fp, link, judged.target)
    out.buckets[judged.target.partition].append(line)
    return line


def _reject(out: PageLinks, page: PageLine, url: str, decision: Decision, host: str) -> None:
    assert decision.rejection is not None
    reason = decision.rejection.value
    page.rejected[reason] = page.rejected.get(reason, 0) + 1
    out.rejected[reason, host] += 1
    if out.listed is not None:
        out.listed.append(_rejected(page, url, decision))


def _rejected(page: PageLine, url: str, decision: Decision) -> RejectedLink:
    return RejectedLink(
        url=url[:URL_CHARACTERS_MAX],
        source=page.url,
        reason="" if decision.rejection is None else decision.rejection.value,
        rule=decision.rule,
        place=decision.place,
    )


_SELF = Decision(Rejection.SELF, "leads to its own page", DEFAULT)
_UNRESOLVED = {
    Rejection.SELF: _SELF,
    Rejection.INVALID: Decision(Rejection.INVALID, "no URL by the URL standard", DEFAULT),
    Rejection.SCHEME: Decision(Rejection.SCHEME, "neither http nor https", DEFAULT),
    Rejection.TOO_LONG: Decision(Rejection.TOO_LONG, "too long to be resolved", DEFAULT),
}
_FOREIGN = Decision(Rejection.FOREIGN, "a sitemap speaks of its own site, and of those that name it", DEFAULT)
_FORGIVEN = Decision(None, "a sitemap of a site may lie anywhere on it", DEFAULT)


def _forgiving(target: Target, site: str) -> Decision:
    """Return whether a sitemap is taken: it need not match what pages must, nor be on a host of the crawl.

    Then it must be of the site that names it.
    """
    rejection = target.decision.rejection
    off_host = rejection is Rejection.OFF_HOST and target.site == site
    return _FORGIVEN if off_host or rejection is Rejection.NOT_INCLUDED else target.decision


def _date(line: LinkLine, lastmod: DateSpan, read_at: int) -> None:
    """Write down when the target last changed; what is told of the future is no date."""
    if lastmod.at > read_at + DAY_S:
        return
    until = max(lastmod.at, min(lastmod.until, read_at))
    line.lastmod_at, line.lastmod_until = lastmod.at, until if until != lastmod.at else None
