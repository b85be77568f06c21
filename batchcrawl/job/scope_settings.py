"""The settings of which links are taken: scope and traps."""

from typing import Annotated, Literal

from msgspec import Meta

from batchcrawl.job.setting_types import Count, Pattern, Section, ShortText, means
from batchcrawl.job.units import KB


class ScopeSettings(Section, frozen=True, kw_only=True):
    """Which links the crawl takes. Limits, filter files, rules, within, exclude, include: the first to decide wins."""

    rules: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=2000)], ...],
        means(
            "Rules in their order, each take or reject, then host NAME..., domain NAME... (with all hosts below it), "
            "prefix URL, regex PATTERN (searched in the canonical URL), extension NAME..., depth > N, depth <= N "
            "(links from a seed), hops > N, hops <= N (links since the crawl left its own hosts), or any.",
            example=["reject extension zip iso", "reject regex [?&]replytocom=", "take domain example.net"],
        ),
    ] = ()
    regex_urlfilters: Annotated[
        tuple[ShortText, ...],
        means(
            "Files in the format of Nutch's regex-urlfilter.txt, seen from the job file; all must accept a URL.",
            example=["regex-urlfilter.txt"],
        ),
    ] = ()
    suffix_urlfilters: Annotated[
        tuple[ShortText, ...],
        means("The same in the format of its suffix-urlfilter.txt.", example=["suffix-urlfilter.txt"]),
    ] = ()
    within: Annotated[
        Literal["seed-host", "seed-domain", "any"],
        means("Links are taken that stay on a seed's host, on a seed's registered domain, or on any host."),
    ] = "seed-host"
    hosts: Annotated[
        tuple[ShortText, ...], means("Host names that are taken besides.", example=["docs.example.org"])
    ] = ()
    include: Annotated[
        tuple[Pattern, ...],
        means(
            "Regular expressions, searched in the canonical URL; where there are any, one of them must be found.",
            example=["^https://example\\.org/docs/"],
        ),
    ] = ()
    exclude: Annotated[
        tuple[Pattern, ...],
        means(
            "Regular expressions, searched in the canonical URL; none of them may be found.",
            example=["/calendar/", "\\.pdf$"],
        ),
    ] = ()
    depth_max: Annotated[
        Annotated[int, Meta(ge=0, le=65535)] | None, means("Most links away from a seed; not set: no limit.", example=5)
    ] = None
    url_bytes_max: Annotated[
        Annotated[int, Meta(ge=64, le=64 * KB, extra={"unit": "size"})], means("Longest URL taken.")
    ] = 2048
    host_urls_max: Annotated[Count | None, means("Most known URLs of one host; not set: no limit.", example=10_000)] = (
        None
    )
    domain_urls_max: Annotated[
        Count | None,
        means(
            "Most known URLs of one domain, a.github.io being one and b.github.io another; not set: no limit.",
            example=50_000,
        ),
    ] = None
    follow_nofollow: Annotated[bool, means("Take links, too, that the link or its page marks nofollow.")] = True


class TrapSettings(Section, frozen=True, kw_only=True):
    """What goes on without end: refused by the URL's shape, or costly: lowest priority, a share of the host's URLs."""

    path_depth_max: Annotated[Annotated[int, Meta(ge=1, le=10**6)], means("Most segments of a path.")] = 30
    path_repeats_max: Annotated[
        Annotated[int, Meta(ge=1, le=10**6)],
        means("Most times that a segment stands in a path at equal distances of 1 to 4 segments."),
    ] = 3
    parameters_max: Annotated[Annotated[int, Meta(ge=1, le=10**6)], means("Most parameters of a query.")] = 50
    nesting_max: Annotated[
        Annotated[int, Meta(ge=0, le=10**6)],
        means("Most times that a parameter holds itself, comes again with its value, or is encoded over again."),
    ] = 3
    costly: Annotated[
        tuple[Literal["calendar", "facets", "duplicates"], ...],
        means(
            "What is costly: URLs that look like a calendar, URLs that choose or sort by several parameters, and URLs "
            "of a host or path pattern whose pages are nearly all copies."
        ),
    ] = ("calendar", "facets", "duplicates")
    costly_urls_max: Annotated[
        Annotated[int, Meta(ge=0, le=10**12)], means("Most known costly URLs of one host, unless its share is more.")
    ] = 1000
    costly_share: Annotated[
        Annotated[float, Meta(ge=0, le=1)], means("Part of a host's known URLs that may be costly in any case.")
    ] = 0.25
    duplicates_min: Annotated[
        Count, means("So many pages of a host or path pattern are looked at before they count as copies.")
    ] = 50
    duplicates_share: Annotated[
        Annotated[float, Meta(gt=0, le=1)], means("Part of them that must be copies of other pages.")
    ] = 0.95
