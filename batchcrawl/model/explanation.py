"""What `explain` tells of a URL: how it came to its canonical form, what decides on it, and what became of it."""

from typing import Any

import msgspec


class Told(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Base of what is told; absent fields are left out. Instants (`_at`) are seconds since 1970 UTC."""


class Step(Told, kw_only=True):
    """A step of canonicalisation that changed the URL."""

    step: str
    """Its name, or `serialised` for the writing of the URL standard, which comes first."""
    url: str
    """What it left."""


class Ruling(Told, kw_only=True):
    """Whether a link to the URL is taken, and what says so."""

    taken: bool
    rejection: str | None = None
    rule: str
    place: str
    """`file:line` of the rule, or `default`."""
    depth: int
    hops: int


class Check(Told, kw_only=True):
    """What one check for traps finds."""

    trap: str
    number: int
    most: int
    """More is a trap."""
    trapped: bool


class Admission(Told, kw_only=True):
    """What update does with the URL if it is new: budgets and costly URLs."""

    host_urls: int
    """Known URLs of its host."""
    host_urls_max: int | None = None
    domain_urls: int
    """Those of its registered domain."""
    domain_urls_max: int | None = None
    costly: str | None = None
    """Why it is taken last."""
    refusal: str | None = None
    """Why it does not enter."""


class Robots(Told, kw_only=True):
    """What the known copy of robots.txt says of the URL that is asked for."""

    url: str
    allowed: bool | None = None
    """None while no copy is known."""
    why: str
    line: int | None = None
    """Number of the deciding line, from 1."""
    source: str | None = None
    fetched_at: float | None = None


class Stay(Told, kw_only=True):
    """A segment that the URL was in."""

    segment: str
    next: str | None = None
    """The command that is next for the segment."""
    outcome: str | None = None
    """None while there is none."""
    status: int | None = None
    ended_at: float | None = None
    detail: str | None = None
    redirect: str | None = None


class Turn(Told, kw_only=True):
    """When the URL may be taken next, and why not before."""

    at: float | None = None
    why: str
    before: int | None = None
    """Ready URLs of its host that come before it; counted up to a limit."""
    host_limit: int | None = None
    """A segment takes no more URLs of its host."""


class LinkFound(Told, kw_only=True):
    """A link on the page to the URL."""

    position: int
    kind: str
    url: str
    anchor: str | None = None
    rel: tuple[str, ...] = ()
    ruling: Ruling


class FromPage(Told, kw_only=True):
    """What the page that was asked about has of the URL."""

    page: str
    """Its canonical URL."""
    segment: str | None = None
    """The segment whose answer was read."""
    note: str | None = None
    """Why none was."""
    base: str
    """What links are resolved against."""
    depth: int
    hops: int
    nofollow: bool = False
    """The page asks for no link to be followed."""
    rejected: dict[str, int] = {}
    """Links of the page that are no URLs of the web, or too many, by reason."""
    links: list[LinkFound] = []


class Explanation(Told, kw_only=True):
    """All that is known of a URL and of what decides on it."""

    url: str
    """As given."""
    source: FromPage | None = None
    steps: list[Step]
    canonical: str
    fp: str
    partition: int
    scope: Ruling
    traps: list[Check]
    admission: Admission
    robots: Robots
    record: dict[str, Any] | None = None
    """What the crawldb knows of it."""
    segments: list[Stay]
    due: Turn
