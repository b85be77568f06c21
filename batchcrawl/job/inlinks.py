"""Inlinks: what the links of a segment do to the URLs that they lead to; update takes them one after another."""

from collections import Counter

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord, is_known_as
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.admission import costliness, domain_refusal, host_refusal, new_host
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.lastmod import trust_of
from batchcrawl.policy.linking import joined
from batchcrawl.policy.priority import COSTLY_LEVEL, link_level
from batchcrawl.policy.recrawl import come_at_once
from batchcrawl.policy.signals import hear
from batchcrawl.policy.sitemaps import joined_sites, name_sitemap
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.store.crawldb import Batch, Entry
from batchcrawl.store.segment_events import LinkBrief
from batchcrawl.web.urls import host_key


class Inlinks:
    """Lets new URLs in, and tells known ones what a link says of them."""

    def __init__(self, crawl: Crawl, rules: UpdateRules, counts: Counter[str], priors: Priors, at: int) -> None:
        """`counts` takes up what happens; `at` is the instant at which new URLs enter."""
        self._priors = priors
        self._rules = rules
        self._counts = counts
        self._at = at
        self._domains = crawl.domains()
        self._budgets = crawl.job.budgets
        self._host_sitemaps_max = crawl.job.settings.sitemaps.host_sitemaps_max

    def is_no_news(self, data: bytes, link: LinkBrief) -> bool:
        """Tell whether a link says nothing new of a URL whose stored record is `data`; then it is taken with that."""
        if link.lastmod_at is not None or link.leads_to is not UrlKind.PAGE:
            return False
        if not is_known_as(data, link.url, depth=link.depth, hops=link.hops):
            return False
        self._counts["known"] += 1
        return True

    def take(self, batch: Batch, entry: Entry | None, link: LinkBrief, *, domains: int) -> None:
        """Let links act on the URL that they lead to; `entry` is None for one that is not known.

        `domains` is the sketch of the other registered domains that they come from.
        """
        if entry is None:
            self._enter(batch, link, domains)
        elif entry.record.url != link.url:
            self._counts["collisions"] += 1
        else:
            heard = self._hear(batch, entry, link)
            named = link.leads_to is UrlKind.SITEMAP and self._name(batch, entry, link)
            counted = joined(entry.record.inlinks, domains)
            more = counted != entry.record.inlinks
            entry.record.inlinks = counted
            if _come_nearer(entry.record, link) or heard or named or more:
                batch.put(entry)
            self._counts["known"] += 1

    def _hear(self, batch: Batch, entry: Entry, link: LinkBrief) -> bool:
        """Take in when a sitemap or feed says that a known URL last changed; return whether that is news."""
        if link.lastmod_at is None:
            return False
        host, until = batch.host(entry.host_part), link.lastmod_until or link.lastmod_at
        trust = trust_of(None if host is None else host.lastmod)
        intervals, prices = self._rules.of(entry.record, self._priors.of(host)), self._rules.in_force
        return hear(entry.record, intervals, prices, at=link.lastmod_at, until=until, now=self._at, trust=trust)

    def _name(self, batch: Batch, entry: Entry, link: LinkBrief) -> bool:
        """Let a known URL count as a sitemap; return whether that changed anything."""
        record, host = entry.record, batch.host(entry.host_part)
        was_page = record.kind is UrlKind.PAGE
        if host is not None and was_page and host.sitemaps >= self._host_sitemaps_max:
            self._counts[f"rejected_{Rejection.SITEMAPS_MAX.value}"] += 1
            return False
        changed = name_sitemap(record, link.sites)
        if changed:
            record.body_at = None  # to be parsed again
        if was_page and record.kind is UrlKind.SITEMAP:
            if host is not None:
                host.sitemaps += 1
            come_at_once(record, self._at)  # what was asked for as a page is asked for anew
        return changed

    def _enter(self, batch: Batch, link: LinkBrief, domains: int) -> None:
        """Let a new URL in, unless a budget is spent."""
        entry = Entry.new(bytes.fromhex(link.fp), _new_record(link, self._at))
        entry.record.inlinks = domains
        host = batch.host(entry.host_part) or new_host(host_key(link.url), self._domains, at=self._at)
        domain = batch.domain(entry.host_part, host)
        refusal = domain_refusal(domain, self._budgets)
        if refusal is not None:
            self._refuse(domain.rejected, refusal)
            return
        host = batch.enter_host(entry.host_part, host)
        costly = costliness(link.url, host, self._budgets)
        refusal = host_refusal(host, costly, self._budgets)
        is_sitemap = link.leads_to is UrlKind.SITEMAP
        if is_sitemap and host.sitemaps >= self._host_sitemaps_max:
            refusal = Rejection.SITEMAPS_MAX
        if refusal is not None:
            self._refuse(host.rejected, refusal)
            return
        host.sitemaps += is_sitemap
        if costly is not None:
            entry.record.costly, entry.record.level = True, COSTLY_LEVEL
            host.costly[costly.value] = host.costly.get(costly.value, 0) + 1
            self._counts[f"costly_{costly.value}"] += 1
        batch.put(entry)
        self._counts["new"] += 1

    def _refuse(self, counts: dict[str, int], refusal: Rejection) -> None:
        counts[refusal.value] = counts.get(refusal.value, 0) + 1
        self._counts[f"rejected_{refusal.value}"] += 1


def _new_record(link: LinkBrief, at: int) -> UrlRecord:
    return UrlRecord(
        url=link.url,
        fetch_url=link.linked,
        place=Place.READY,
        level=link_level(link.depth),
        depth=link.depth,
        hops=link.hops,
        source=bytes.fromhex(link.source) or None,
        first_seen_at=at,
        next_fetch_at=at,
        kind=link.leads_to,
        lastmod_at=link.lastmod_at,
        sites=joined_sites(None, link.sites),
    )


def _come_nearer(record: UrlRecord, link: LinkBrief) -> bool:
    """Take over depth and hops of a link where they are less; return whether one is."""
    if link.depth >= record.depth and link.hops >= record.hops:
        return False
    record.depth, record.hops = min(record.depth, link.depth), min(record.hops, link.hops)
    record.body_at = None  # to be parsed again: its links count as nearer now
    fresh = record.place is Place.READY and record.status is PageStatus.UNFETCHED
    if fresh and not record.costly:
        record.level = max(record.level, link_level(record.depth))
    return True
