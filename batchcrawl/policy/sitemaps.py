"""Which URLs count as sitemaps before they are fetched, and of which sites a sitemap may speak.

sitemaps.org lets a sitemap speak of its own host, and of another one whose robots.txt names it. Here what counts is the
registered domain, since hosts of one domain trust one another; `strict` jobs keep to the sitemap's own folder.
"""

from collections.abc import Collection

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.web.robots.rules import RobotsRules
from batchcrawl.web.urls import parse_url, requested_url

NAMED_MAX = 1000
"""Sitemaps taken from one robots.txt."""
GUESSES = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap_index.xml.gz",
    "/wp-sitemap.xml",
    "/sitemaps.xml",
    "/sitemap.txt",
)
"""Where sitemaps mostly lie that robots.txt does not name."""
ANY_SITE = "*"
"""In a list of sites: all of them."""
SITES_MAX = 100
"""Sites beside its own that one sitemap may speak for."""


def named_sitemaps(robots_text: str | None, host: str) -> list[str]:
    """Return the URLs that a robots.txt names as sitemaps, each once, without fragment, in its order.

    `host` is the host key that the file is of; an address without scheme and host is one of that host.
    """
    found: dict[str, None] = {}
    for value in RobotsRules(robots_text).sitemaps():
        url = parse_url(value, f"{host}/robots.txt")
        if url is not None and url.startswith(("http://", "https://")):
            found[requested_url(url)] = None
        if len(found) == NAMED_MAX:
            break
    return list(found)


def guessed_sitemaps(host: str) -> list[str]:
    """Return the usual names of sitemaps on a host key."""
    return [host + path for path in GUESSES]


def may_speak_of(site: str, *, own_site: str, sites: Collection[str]) -> bool:
    """Tell whether a sitemap may speak of URLs of a registered domain: its own, or one of `sites`."""
    return site == own_site or site in sites or ANY_SITE in sites


def name_sitemap(record: UrlRecord, sites: Collection[str]) -> bool:
    """Let a known URL count as a sitemap that may speak for sites; return whether that changed anything.

    What was fetched of a URL says more of it than what it is named as, so that a page stays a page.
    """
    before = record.kind, record.sites
    if record.kind is UrlKind.PAGE and record.status not in (PageStatus.FETCHED, PageStatus.DUPLICATE):
        record.kind = UrlKind.SITEMAP
    if record.kind is UrlKind.SITEMAP:
        record.sites = joined_sites(record.sites, sites)
    return (record.kind, record.sites) != before


def joined_sites(known: list[str] | None, more: Collection[str]) -> list[str] | None:
    """Return the sites that a sitemap may speak for when more name it: sorted, at most SITES_MAX, None for none.

    Those that are known stay, so that nobody can push them out.
    """
    kept = set(known or ())
    new = sorted(set(more) - kept)[: max(0, SITES_MAX - len(kept))]
    return sorted(kept.union(new)) or None
