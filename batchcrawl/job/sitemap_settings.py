"""The settings of sitemaps and feeds."""

from typing import Annotated

from msgspec import Meta, field

from batchcrawl.job.setting_types import Bytes, Count, Section, UrlText, WholeSeconds, means
from batchcrawl.job.units import DAY, HOUR
from batchcrawl.web.listings.parse import ListingLimits


class SitemapSettings(Section, frozen=True, kw_only=True):
    """Sitemaps and feeds: lists of pages, with the dates of their last changes."""

    use: Annotated[bool, means("Take the sitemaps that the robots.txt of a host names.")] = True
    urls: Annotated[
        tuple[UrlText, ...],
        means(
            "Sitemaps to begin with; each counts as a seed, and may list pages of any site.",
            example=["https://example.org/sitemap.xml"],
        ),
    ] = ()
    probe: Annotated[
        bool, means("Ask hosts whose robots.txt names no sitemap for the usual names, as /sitemap.xml.")
    ] = False
    strict: Annotated[
        bool, means("Take of a sitemap only pages below its own folder, and only elements in the protocol's namespace.")
    ] = False
    host_sitemaps_max: Annotated[Count, means("Most sitemaps of one host.")] = 10_000
    entries_max: Annotated[Annotated[int, Meta(ge=1, le=10**6)], means("Most entries read of one sitemap or feed.")] = (
        50_000
    )
    bytes_max: Annotated[Bytes, means("Most bytes read of one sitemap or feed, once decompressed.")] = 52_428_800
    interval_s: Annotated[
        WholeSeconds, means("Fetch interval of a sitemap or feed before anything is known of it.")
    ] = field(default=DAY, name="interval")
    interval_min_s: Annotated[WholeSeconds, means("Least fetch interval of a sitemap or feed.")] = field(
        default=HOUR, name="interval_min"
    )
    interval_max_s: Annotated[WholeSeconds, means("Longest fetch interval of a sitemap or feed.")] = field(
        default=30 * DAY, name="interval_max"
    )

    def limits(self) -> ListingLimits:
        """Return how much is read of one, and how strictly."""
        return ListingLimits(bytes_max=self.bytes_max, entries_max=self.entries_max, strict_namespace=self.strict)
