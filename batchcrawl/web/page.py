"""What is taken from a page."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.rejection import Rejection
from batchcrawl.web.dates import DateSpan


class Link(msgspec.Struct, frozen=True, gc=False):
    """One link of a page."""

    url: str
    """Resolved and serialised by the WHATWG standard; the fragment is kept."""
    kind: str
    """What holds it: an element (a, area, frame, iframe, link, meta, or one of RESOURCE_KINDS) or the header of the
    answer (header); of a listing: sitemap, feed, index."""
    anchor: str | None
    """Its text, white space collapsed, at most 200 characters."""
    rel: tuple[str, ...]
    """Lower case."""
    position: int
    """Number of the link among all links of its page, also those not taken, from 0."""
    lastmod: DateSpan | None = None
    """When its target last changed, as a sitemap or feed says."""


@dataclass(slots=True)
class Page:
    """A parsed page. Texts have their white space collapsed."""

    charset: str | None = None
    """The encoding that was found, by its WHATWG name; None for what is no text."""
    base: str = ""
    """The URL that the links of an HTML page are resolved against."""
    media_type: str | None = None
    """What the body was taken for."""
    failed: str | None = None
    """Why it could not be read."""
    title: str | None = None
    description: str | None = None
    language: str | None = None
    """What the page or the head of its answer declares, as written."""
    canonical: str | None = None
    """Target of the first link of rel canonical, serialised."""
    robots: tuple[str, ...] = ()
    """Directives for this crawler, of all meta robots and then of the head, lower case, in their order."""
    unavailable_at: int | None = None
    """When an `unavailable_after` of them says that the page will be gone."""
    text: str = ""
    """The visible text, a line for each block."""
    words: int = 0
    """Runs between white space, all of them."""
    tokens: Counter[str] = field(default_factory=Counter)
    """How often each of the first 65,536 stands in the text."""
    links: list[Link] = field(default_factory=list)
    refresh: Link | None = None
    """Where a meta refresh leads, unless to the page itself. Not among `links`."""
    rejected: dict[str, int] = field(default_factory=dict)
    """Links not taken, counted by the value of their `Rejection`."""
    refused: list[tuple[str, Rejection]] | None = None
    """Those links as written; None where they are not asked for."""
    kind: UrlKind = UrlKind.PAGE
    cut: str | None = None
    """Why not all of a sitemap or feed was read: `bytes`, `entries` or `tags`, for the limit that was reached."""
    signature: bytes | None = None
    """Exact signature of a sitemap or feed, 16 bytes; a page's is one of its text."""
