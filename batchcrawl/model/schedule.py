"""Why a URL comes again when it does: what `schedule` tells of it."""

import msgspec


class Weight(msgspec.Struct, kw_only=True):
    """What multiplies the value of a refetch, and its parts."""

    weight: float
    depth: float
    score: float
    inlinks: float
    costly: float
    kind: float
    """1 of a page; of a sitemap or feed what makes up for its own first interval."""
    rule: float
    """By the rule of the job that gives it one; else 1."""


class OwnRule(msgspec.Struct, kw_only=True):
    """A rule of the job that decides something of a URL's schedule."""

    number: int
    """Its place in `recrawl.rules`, from 1."""
    text: str
    place: str
    decides: list[str]
    """Of interval, interval_min, interval_max and weight."""


class Rise(msgspec.Struct, kw_only=True):
    """A level and when it is reached."""

    level: int
    at: int


class Prior(msgspec.Struct, kw_only=True):
    """What is believed of a page that was never refetched, and where that comes from; rates are changes a day."""

    changes_a_day: float
    host_pages: int
    """Pages of its host that were refetched."""
    host_rate: float | None
    """Their mean; None where there is none."""
    crawl_pages: int
    crawl_rate: float
    """The mean that the host's is drawn towards: of the crawl's pages, and a fixed one while they are few."""
    in_force: bool
    """The page was never refetched; else its own history has gone on from it."""


class Value(msgspec.Struct, kw_only=True):
    """What is known of a page that goes by value; values are weighted days."""

    worth: float
    """What a refetch is worth now."""
    level: int
    """The level of that."""
    still_right: float
    """Chance that the copy is still right."""
    due_at: int
    """When it is worth the floor, within the job's bounds."""
    clipped: str | None
    """The setting that bounds that, and the rule of the job that gives it, or None."""
    rises: list[Rise]
    """The next levels and when they are reached."""


class Schedule(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Why a URL comes again when it does."""

    url: str
    status: str
    place: str
    level: int
    policy: str
    why: str
    """What sets when it may be taken."""
    next_fetch_at: int | None = None
    """When the URL becomes or became ready, or rises."""
    last_fetch_at: int | None = None
    interval_s: int | None = None
    """As last set."""
    a: float
    """Shape of the belief about its change rate."""
    b: float
    """Its rate parameter, in days."""
    changes_a_day: float
    prior: Prior
    dated: bool
    """The Last-Modified of its host has proved right: it tells when the content changed."""
    fetches: int
    changes: int
    weight: Weight
    price: float
    floor: float
    value: Value | None = None
    """None for a URL that waits for an instant."""
    rules: list[OwnRule] = []
    """Those of the job that decide something of it."""
