"""Hosts and path patterns whose pages are nearly all copies of others: session numbers in paths, mirrors, soft errors.

A host's record counts its pages by status, so its own share of duplicates is known. Path patterns are watched from
their first duplicate on, the few of a host with the most.
"""

import re
from dataclasses import dataclass

from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.traps import path_segments

PATTERNS_MAX = 32
"""Path patterns watched on one host."""
PATTERN_SEGMENTS_MAX = 4
PATTERN_NAMES_MAX = 8
PATTERN_CHARACTERS_MAX = 100


@dataclass(frozen=True)
class CopyLimits:
    """When pages count as copies: of so many at least, a share that are duplicates."""

    pages: int = 50
    share: float = 0.95

    def is_reached(self, *, pages: int, copies: int) -> bool:
        """Tell whether of so many pages enough are copies."""
        return pages >= self.pages and copies >= self.share * pages


def path_pattern(url: str) -> str:
    """Return what a canonical URL has in common with its like: its path with marks for numbers and keys, and its names.

    `/s-8f3a91c2/read/12.html?b=1&a=2` is `/s-*/read/#.html?a&b`.
    """
    segments = path_segments(url)
    shown = [_RUN.sub(_mark, segment) for segment in segments[:PATTERN_SEGMENTS_MAX]]
    path = "/" + "/".join(shown) + ("/.." if len(segments) > PATTERN_SEGMENTS_MAX else "")
    query = url.partition("#")[0].partition("?")[2]
    names = sorted({pair.partition("=")[0] for pair in query.split("&")}) if query else []
    end = f"?{'&'.join(names[:PATTERN_NAMES_MAX])}" if names else ""
    return (path + end)[:PATTERN_CHARACTERS_MAX]


def note_page(host: HostRecord, url: str, *, copy: bool) -> None:
    """Count a page that was fetched for the first time under the pattern of its path."""
    pattern = path_pattern(url)
    known = host.patterns.get(pattern)
    if known is None and not copy:
        return
    if known is None and len(host.patterns) >= PATTERNS_MAX:
        del host.patterns[min(host.patterns, key=lambda watched: (host.patterns[watched][1], watched))]
    pages, copies = known or (0, 0)
    host.patterns[pattern] = (pages + 1, copies + copy)


def has_copies(host: HostRecord, url: str, limits: CopyLimits) -> bool:
    """Tell whether the pages of a host, or those whose path is like this URL's, are nearly all copies."""
    copies = host.urls.get(PageStatus.DUPLICATE, 0)
    if limits.is_reached(pages=host.urls.get(PageStatus.FETCHED, 0) + copies, copies=copies):
        return True
    counts = host.patterns.get(path_pattern(url)) if host.patterns else None
    return counts is not None and limits.is_reached(pages=counts[0], copies=counts[1])


_RUN = re.compile(r"[A-Za-z0-9]*[0-9][A-Za-z0-9]*")
_DIGITS = re.compile(r"[0-9]+")
_KEY_CHARACTERS_MIN = 8


def _mark(match: re.Match[str]) -> str:
    run = match[0]
    return "*" if len(run) >= _KEY_CHARACTERS_MIN else _DIGITS.sub("#", run)
