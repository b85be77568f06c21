"""What a synthetic web is made from: a seed, its size, and the difficulties that it holds."""

import difflib
from dataclasses import dataclass

from batchcrawl.errors import UsageError

FAULTS: dict[str, str] = {
    "redirects": "redirects of every code, to other hosts, in chains, in loops, without a target, by meta refresh",
    "missing": "links to pages that are not there (404)",
    "gone": "links to pages removed for good (410)",
    "errors": "pages on which the server fails (500)",
    "forbidden": "pages that the server refuses (403)",
    "slow": "hosts that wait before each answer",
    "duplicates": "pages whose text is that of another page",
    "robots": "robots.txt with denied areas, closed hosts, redirected, refused and absent files",
    "crawl_delay": "hosts whose robots.txt asks for a Crawl-delay",
    "base": "pages with a base element",
    "relative": "links relative to page, path, host and scheme",
    "queries": "pages addressed by query strings",
    "paths": "paths with letters outside of ASCII",
    "tracking": "links with tracking parameters",
    "fragments": "links with fragments",
    "spellings": "links with upper-case hosts, default ports, dot segments and needless percent-encoding",
    "decoys": "links in comments and scripts, links of other schemes, broken links",
    "types": "files that are not HTML",
    "nofollow": "pages that are linked with rel=nofollow alone",
    "gzip": "bodies coded with gzip",
    "chunked": "bodies sent in chunks",
    "charsets": "pages in other charsets than UTF-8",
    "changes": "pages that change, each at its own rate",
    "sitemaps": "a sitemap index, sitemaps and a feed on each host, and pages that the sitemap alone leads to",
}
"""The difficulties by name, each with what it adds."""

TRAPS: dict[str, str] = {
    "calendar": "a calendar of all months, without a first and a last one",
    "session_paths": "the pages once more below a session number in the path, a new one behind every link",
    "repeating_paths": "a link that adds the same segment to the path again and again",
    "growing_parameters": "a parameter that holds the URL of its page, encoded over again",
    "facets": "lists that are chosen and sorted in a hundred million ways",
}
"""The traps by name, each with what it adds to every host. No part of `all`: with one of them a web has no end."""

HOSTS_MAX = 10_000_000
PAGE_BYTES_MAX = 16_000_000
LINKS_MAX = 10_000


@dataclass(frozen=True, kw_only=True)
class WebSpec:
    """A whole synthetic web: equal specs give equal bytes. Raises UsageError for values that cannot be."""

    hosts: int = 10
    pages: int | None = 1000
    """Pages with content in the whole web, spread over the hosts; None is endless. Faults come on top."""
    seed: int = 1
    page_bytes: int = 4000
    """Approximate size of a page before any content coding; its links need about 85 bytes each at least."""
    links: int = 40
    """Approximate number of links of a page."""
    faults: frozenset[str] = frozenset(FAULTS)
    slow_s: float = 0.5
    """How long a slow host waits before each answer."""

    def __post_init__(self) -> None:
        _check("hosts", self.hosts, low=1, high=HOSTS_MAX)
        _check("page bytes", self.page_bytes, low=1, high=PAGE_BYTES_MAX)
        _check("links", self.links, low=1, high=LINKS_MAX)
        if self.pages is not None and self.pages < self.hosts:
            raise UsageError(f"{self.pages} pages are too few for {self.hosts} hosts; each host has at least one")
        if not 0 <= self.slow_s <= 3600:
            raise UsageError(f"a slow host's wait must be from 0 to 3600 seconds, not {self.slow_s}")
        for name in self.faults:
            _require_known(name)

    @property
    def endless(self) -> bool:
        """The web has more URLs than could be listed."""
        return self.pages is None or not self.faults.isdisjoint(TRAPS)


def parse_faults(text: str) -> frozenset[str]:
    """Return the faults of a comma-separated list of faults, traps, `all`, `none` and `traps`.

    Raises UsageError for an unknown one.
    """
    groups = {"all": FAULTS.keys(), "none": (), "traps": TRAPS.keys()}
    names: set[str] = set()
    for name in filter(None, map(str.strip, text.split(","))):
        if name not in groups:
            _require_known(name)
        names.update(groups.get(name, (name,)))
    return frozenset(names)


def _check(name: str, value: int, *, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low} to {high}, not {value}")


def _require_known(name: str) -> None:
    known = [*FAULTS, *TRAPS]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(known)}"
        raise UsageError(f"there is no fault {name!r}; {hint}")
