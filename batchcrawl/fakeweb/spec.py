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
}
"""The difficulties by name, each with what it adds."""

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
            if name not in FAULTS:
                raise UsageError(_unknown(name))


def parse_faults(text: str) -> frozenset[str]:
    """Return the faults of `all`, `none` or a comma-separated list. Raises UsageError for an unknown one."""
    names = frozenset(part.strip() for part in text.split(",") if part.strip())
    if names == {"all"}:
        return frozenset(FAULTS)
    if names == {"none"}:
        return frozenset()
    for name in sorted(names):
        if name not in FAULTS:
            raise UsageError(_unknown(name))
    return names


def _check(name: str, value: int, *, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low} to {high}, not {value}")


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, FAULTS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are: {', '.join(FAULTS)}"
    return f"there is no fault {name!r}; {hint}"
