"""Traps: parts of the web that go on without end, told by the canonical URL alone.

The shape of a URL is refused where no site needs it: too many path segments, segments that come again and again, too
many parameters, a parameter that holds itself. What a site may well mean is made costly instead: calendars and
choices of facets get the lowest priority level and a share of their host's known URLs (`CostlyShare`).
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote

from batchcrawl.model.rejection import Rejection

PERIOD_MAX = 4
"""A repeated segment comes again within so many segments."""


@dataclass(frozen=True, kw_only=True)
class TrapLimits:
    """How far a URL's shape may go; generous, since what is refused is lost."""

    path_depth_max: int = 30
    path_repeats_max: int = 3
    parameters_max: int = 50
    nesting_max: int = 3


class Costly(Enum):
    """Why a URL is costly; the value is its name in settings and records."""

    CALENDAR = "calendar"
    FACETS = "facets"
    DUPLICATES = "duplicates"

    @property
    def rejection(self) -> Rejection:
        """The reason under which it is counted when the host has had its share."""
        return Rejection(f"trap_{self.value}")


@dataclass(frozen=True)
class CostlyShare:
    """How many of a host's known URLs may be costly: `urls` in any case, beyond them a share of all."""

    urls: int = 1000
    share: float = 0.25

    def is_spent(self, *, costly: int, known: int) -> bool:
        """Tell whether a host with so many known URLs, so many of them costly, takes no more of those."""
        return costly >= self.urls and costly >= self.share * known


def trap_of(url: str, limits: TrapLimits) -> Rejection | None:
    """Return which trap the shape of a canonical URL belongs to, or None."""
    # Most URLs have neither as many slashes nor a query: one look is all that they cost.
    if url.count("/") - 2 > min(limits.path_repeats_max, limits.path_depth_max):
        segments = path_segments(url)
        if len(segments) > limits.path_depth_max:
            return Rejection.TRAP_PATH_DEPTH
        if repeats(segments) > limits.path_repeats_max:
            return Rejection.TRAP_REPEATING_PATH
    if "?" not in url:
        return None
    query = url.partition("?")[2]
    if query.count("&") >= limits.parameters_max:
        return Rejection.TRAP_PARAMETERS
    return Rejection.TRAP_GROWING_PARAMETER if nesting(query) > limits.nesting_max else None


class Measure(NamedTuple):
    """What one check of `trap_of` looks at."""

    reason: Rejection
    """The trap that it is when `number` is above `most`."""
    number: int
    most: int


def measures(url: str, limits: TrapLimits) -> list[Measure]:
    """Return the measures of a canonical URL, in the order in which `trap_of` takes them: the first above its most."""
    segments, (_, mark, query) = path_segments(url), url.partition("?")
    return [
        Measure(Rejection.TRAP_PATH_DEPTH, len(segments), limits.path_depth_max),
        Measure(Rejection.TRAP_REPEATING_PATH, repeats(segments), limits.path_repeats_max),
        Measure(Rejection.TRAP_PARAMETERS, query.count("&") + 1 if mark else 0, limits.parameters_max),
        Measure(Rejection.TRAP_GROWING_PARAMETER, nesting(query), limits.nesting_max),
    ]


def path_segments(url: str) -> list[str]:
    """Return the segments of a URL's path; an empty one at its end does not count."""
    path = url.partition("#")[0].partition("?")[0]
    segments = path.split("/")[3:]
    if segments and not segments[-1]:
        segments.pop()
    return segments


def repeats(segments: list[str]) -> int:
    """Return how often one segment stands at most in a row of equal distances of 1 to 4 segments."""
    if len(set(segments)) == len(segments):
        return min(len(segments), 1)
    longest = 1
    for period in range(1, PERIOD_MAX + 1):
        rows = [1] * len(segments)
        for at in range(period, len(segments)):
            if segments[at] == segments[at - period]:
                rows[at] = rows[at - period] + 1
                longest = max(longest, rows[at])
    return longest


def nesting(query: str) -> int:
    """Return how often a parameter holds itself, comes again with the same value, or is encoded over again."""
    if "%" not in query and query.count("=") <= query.count("&") + 1 and query.count("&") < 2:
        return 0  # too little for any of it
    encoded = max((len(run) // 2 for run in _ENCODED_AGAIN.findall(query)), default=0)
    pairs = [pair for pair in query.split("&") if pair]
    again = max(Counter(pairs).values(), default=1) - 1
    return max(encoded, again, *(_inner(*pair.partition("=")[::2]) for pair in pairs), 0)


def costly_of(url: str) -> Costly | None:
    """Return why a canonical URL is costly by its looks, or None."""
    if _CALENDAR_PATH.search(url):
        return Costly.CALENDAR
    if "?" not in url:
        return None
    query = url.partition("?")[2].lower()
    if _DATE_PARAMETER.search(query):
        return Costly.CALENDAR
    facets = _FACET_PARAMETER.findall(query)
    return Costly.FACETS if len(facets) >= FACETS_MIN or query.count("&") >= FACET_PAIRS_MIN else None


FACETS_MIN = 2
"""So many parameters that choose or sort make a URL one of facets."""
FACET_PAIRS_MIN = 7
"""So many ampersands do, whatever the parameters are called."""

_ENCODED_AGAIN = re.compile(r"%((?:25)+)(?=[0-9A-Fa-f]{2})")


def _inner(name: str, value: str) -> int:
    """Return how often a parameter's name stands as a parameter in its own value, however that is encoded."""
    if not name or (f"{name}=" not in value and "%" not in value):
        return 0
    for _ in range(_DECODINGS_MAX):
        decoded = unquote(value, errors="replace")
        if decoded == value:
            break
        value = decoded
    return len(re.findall(rf"[?&]{re.escape(name)}=", value))


_DECODINGS_MAX = 10

_CALENDAR_PATH = re.compile(
    r"/(?:calendars?|events?|agenda|schedule|kalender|termine|veranstaltungen|calendrier|evenements|calendario|eventos)"
    r"/(?:[^?#]*/)?(?:19|20|21)[0-9]{2}[-/]?(?:0?[1-9]|1[0-2])(?![0-9])",
    re.IGNORECASE,
)
_DATE_PARAMETER = re.compile(
    r"(?:^|&)(?:[a-z0-9]+[_-])*(?:event|start|end|from|to|cal|view|cur|current)?"
    r"(?:date|month|year|week|day|datum|monat|jahr|fecha|mes)"
    r"=(?:[0-9]{1,4}(?:-[0-9]{1,2}){0,2}|[0-9]{6}|[0-9]{8})(?:&|$)"
)
_FACET_PARAMETER = re.compile(
    r"(?:^|&)(?:(?:filter|facet|refine|attr|pa|f|fq|selected)(?:[_.-][^=&]*|(?:\[|%5b)[^=&]*)?"
    r"|[^=&]*(?:\[\]|%5b%5d)"
    r"|(?:sort|order)(?:[_-]?(?:by|dir|order))?|dir|direction|per_?page|limit|view|mode"
    r"|colou?rs?|sizes?|brands?|materials?|ratings?|prices?|(?:min|max)[_-]?price|price[_-]?(?:min|max|from|to))="
)
