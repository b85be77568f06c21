"""Which URLs there are: hosts, their pages, and the URLs that faults add.

The pages 0 to n-1 of a host form a tree with page 0, the front page, as its root; all of them answer
with content, so all are reachable. A page may have one extra URL of another kind beside it, which
carries the page's number. Both directions, resource to URL and back, take bounded time.
"""

import re
from enum import Enum
from functools import lru_cache
from math import isqrt
from typing import NamedTuple
from urllib.parse import quote

from batchcrawl.fakeweb.rolls import roll
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.traps import Spot, trap_path, trap_spot

HOSTS_PER_DOMAIN = 4
CHAIN_STEPS = 3
SITEMAP_PAGES = 200
"""Pages of a host that one sitemap speaks of."""
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,18}(?![0-9])")
_HOST = re.compile(r"h([0-9]{4,8})\.d([0-9]{3,8})\.test")
_TRACKING = re.compile(r"(?:utm_[a-z]+|gclid|fbclid)=")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_WORD_PATHS = tuple(quote(word) for word in ("größe", "čas", "città", "почта", "日本"))


class Kind(Enum):
    """What stands at a URL; the value is its path, where {} is the number of its page, or the name of a trap."""

    PAGE = "page"
    MOVED = "/moved/{}"
    AWAY = "/away/{}"
    CHAIN = "/chain/{}"
    LOOP = "/loop/{}"
    NOWHERE = "/nowhere/{}"
    REFRESH = "/refresh/{}.html"
    MISSING = "/missing/{}.html"
    GONE = "/gone/{}.html"
    ERROR = "/error/{}"
    FORBIDDEN = "/forbidden/{}.html"
    PRIVATE = "/private/{}.html"
    OPEN = "/private/open/{}.html"
    FILE = "/files/{}"
    PRINT = "/print/{}.html"
    UNFOLLOWED = "/unfollowed/{}.html"
    CALENDAR = "calendar"
    SESSION = "session_paths"
    REPEATING = "repeating_paths"
    GROWING = "growing_parameters"
    FACETS = "facets"
    HIDDEN = "/hidden/{}.html"
    SITEMAP_INDEX = "/sitemap.xml"
    SITEMAP = "/sitemap/{}.xml.gz"
    FEED = "/feed.xml"


class Resource(NamedTuple):
    """A URL by what it is. `step` counts down a redirect chain, or tells a loop's sides or a trap's places."""

    host: int
    kind: Kind
    page: int
    step: int = 0


TRAP_KINDS = (Kind.CALENDAR, Kind.SESSION, Kind.REPEATING, Kind.GROWING, Kind.FACETS)
_SINGLE = {"/": Kind.PAGE, Kind.SITEMAP_INDEX.value: Kind.SITEMAP_INDEX, Kind.FEED.value: Kind.FEED}
FILE_TYPES = (("pdf", "application/pdf"), ("png", "image/png"), ("zip", "application/zip"))

_EXTRAS: tuple[tuple[Kind, str, int], ...] = (
    (Kind.MOVED, "redirects", 10),
    (Kind.AWAY, "redirects", 3),
    (Kind.CHAIN, "redirects", 4),
    (Kind.LOOP, "redirects", 2),
    (Kind.NOWHERE, "redirects", 1),
    (Kind.REFRESH, "redirects", 2),
    (Kind.MISSING, "missing", 12),
    (Kind.GONE, "gone", 3),
    (Kind.ERROR, "errors", 3),
    (Kind.FORBIDDEN, "forbidden", 2),
    (Kind.PRIVATE, "robots", 8),
    (Kind.OPEN, "robots", 4),
    (Kind.FILE, "types", 10),
    (Kind.PRINT, "duplicates", 10),
    (Kind.UNFOLLOWED, "nofollow", 4),
    (Kind.HIDDEN, "sitemaps", 10),
)
"""Kinds of extra URLs, the fault that brings each, and of how many pages in 256."""


class Layout:
    """The map of one web."""

    def __init__(self, spec: WebSpec) -> None:
        self._spec = spec
        self._extras = _extra_table(spec.faults)
        self.traps = tuple(kind for kind in TRAP_KINDS if kind.value in spec.faults)
        self._count = lru_cache(maxsize=4096)(self._pages_of)

    def host_name(self, host: int) -> str:
        """Return the name of a host by its number, as `h0007.d001.test`."""
        return f"h{host:04d}.d{host // HOSTS_PER_DOMAIN:03d}.test"

    def host_number(self, name: str) -> int | None:
        """Return the number of a host by its name, or None when the web has no such host."""
        match = _HOST.fullmatch(name)
        if match is None:
            return None
        host = int(match[1])
        return host if host < self._spec.hosts and self.host_name(host) == name else None

    def page_count(self, host: int) -> int | None:
        """Return how many pages a host has; low numbers have more. None is endless."""
        return None if self._spec.pages is None else self._count(host)

    def has_page(self, host: int, page: int) -> bool:
        """Tell whether a host has a page of this number."""
        count = self.page_count(host)
        return count is None or page < count

    def extra(self, host: int, page: int) -> Resource | None:
        """Return the URL that a fault puts beside a page, or None."""
        kind = self._extras[roll(self._spec.seed, "extra", host, page) % 256]
        if kind is None:
            return None
        return Resource(host, kind, page, CHAIN_STEPS if kind is Kind.CHAIN else 0)

    def has_lists(self, host: int) -> bool:
        """Tell whether a host has sitemaps and a feed: not one that is endless."""
        return "sitemaps" in self._spec.faults and self.page_count(host) is not None

    def sitemaps(self, host: int) -> int:
        """Return how many sitemaps the index of a host lists."""
        return -(-(self.page_count(host) or 0) // SITEMAP_PAGES) if self.has_lists(host) else 0

    def path(self, resource: Resource) -> str:
        """Return path and query of a resource, as a canonical URL has them."""
        _, kind, page, step = resource
        if kind is Kind.PAGE:
            return self._page_path(resource.host, page)
        if kind is Kind.FILE:
            return f"/files/{page}.{FILE_TYPES[page % len(FILE_TYPES)][0]}"
        if kind is Kind.CHAIN:
            return f"/chain/{page}/{step}"
        if kind is Kind.LOOP:
            return f"/loop/{page}/{'ab'[step]}"
        if kind in TRAP_KINDS:
            return trap_path(kind.value, Spot(page, step))
        return str(kind.value).format(page)

    def url(self, resource: Resource) -> str:
        """Return the canonical URL of a resource."""
        return f"http://{self.host_name(resource.host)}{self.path(resource)}"

    def find(self, host: int, path_query: str) -> Resource | None:
        """Return what stands at a path and query in any of its spellings, or None."""
        path = canonical_path(path_query)
        if path in _SINGLE and (path == "/" or self.has_lists(host)):
            return Resource(host, _SINGLE[path], 0)
        for kind in self.traps:
            spot = trap_spot(kind.value, path)
            if spot is not None and (kind is not Kind.SESSION or self.has_page(host, spot.page)):
                return Resource(host, kind, *spot)
        for number in _NUMBER.findall(path):
            resource = self._with_number(host, path, int(number))
            if resource is not None:
                return resource
        return None

    def _pages_of(self, host: int) -> int:
        return self._pages_before(host + 1) - self._pages_before(host)

    def _pages_before(self, host: int) -> int:
        # Half of the pages evenly, half by the square root of the host's number: many small hosts, some
        # large ones. In integers, so that every machine rounds alike.
        hosts, spare = self._spec.hosts, (self._spec.pages or 0) - self._spec.hosts
        share = (host << 20) + isqrt(host * hosts << 40)
        return host + spare * share // (hosts << 21)

    def _page_path(self, host: int, page: int) -> str:
        if page == 0:
            return "/"
        form = roll(self._spec.seed, "path", host, page)
        faults = self._spec.faults
        if form % 8 == 0 and "queries" in faults:
            return f"/read?id={page}"
        if form % 8 == 1 and "queries" in faults:
            return f"/list?id={page}&page={1 + form // 8 % 3}"
        if form % 8 == 2 and "paths" in faults:
            return f"/{_WORD_PATHS[form // 8 % len(_WORD_PATHS)]}/p{page}.html"
        if form % 8 <= 4:
            return f"/a{form // 8 % 5}/b{form // 64 % 7}/p{page}/"
        return f"/s{form // 8 % 9}/p{page}.html"

    def _with_number(self, host: int, path: str, page: int) -> Resource | None:
        if not self.has_page(host, page):
            return None
        if page and self._page_path(host, page) == path:
            return Resource(host, Kind.PAGE, page)
        if page < self.sitemaps(host) and path == self.path(Resource(host, Kind.SITEMAP, page)):
            return Resource(host, Kind.SITEMAP, page)
        extra = self.extra(host, page)
        if extra is None:
            return None
        steps = {Kind.CHAIN: range(CHAIN_STEPS + 1), Kind.LOOP: range(2)}.get(extra.kind, range(1))
        candidates = (extra._replace(step=step) for step in steps)
        return next((resource for resource in candidates if self.path(resource) == path), None)


def canonical_path(path_query: str) -> str:
    """Undo the spellings of links: dot segments, needless percent-encoding, tracking parameters, fragment."""
    text = _PERCENT.sub(_plain, path_query.partition("#")[0])
    path, _, query = text.partition("?")
    kept = [part for part in query.split("&") if part and not _TRACKING.match(part)]
    path = _without_dots(path) if "/." in path else path
    return f"{path}?{'&'.join(kept)}" if kept else path


def _plain(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter in _UNRESERVED else match[0].upper()


def _without_dots(path: str) -> str:
    segments = path.split("/")[1:]
    out: list[str] = []
    for segment in segments:
        if segment == "..":
            del out[-1:]
        elif segment != ".":
            out.append(segment)
    if segments[-1:] in (["."], [".."]):
        out.append("")
    return "/" + "/".join(out)


def _extra_table(faults: frozenset[str]) -> list[Kind | None]:
    table: list[Kind | None] = []
    for kind, fault, share in _EXTRAS:
        table += [kind if fault in faults else None] * share
    return table + [None] * (256 - len(table))
