"""What one pass over a page finds; nothing is resolved yet."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the pass looks for beside what it always does."""

    product_token: str = ""
    """A meta of this name counts as one for robots."""
    resources: frozenset[str] = frozenset()
    """Kinds of RESOURCE_KINDS that are links."""
    places: bool = True
    """Links to a place on the page itself are links; else they are only counted."""
    refused: bool = False
    """What is no link to be taken is listed, and not only counted."""


NOTHING_MORE = Wanted()

RESOURCE_KINDS = frozenset(("img", "source", "video", "audio", "script", "object", "embed", "stylesheet", "icon"))
"""Kinds of links to what a page is made of; each is an element, but the last two, which are of `link`."""


class FoundLink(msgspec.Struct, gc=False):
    """A link as written."""

    href: str
    kind: str
    rel: tuple[str, ...] = ()
    anchor: str | None = None


@dataclass(slots=True)
class Found:
    """What the page says of itself, where it leads, and its text."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    """The lang attribute of the html element."""
    language_of_meta: str | None = None
    """The first meta that stands for the header Content-Language."""
    base_href: str | None = None
    canonical: str | None = None
    robots: list[str] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    text: str = ""
    """One space between two tokens, one line feed between two blocks."""
    words: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    """How often each token stands among the first of the text."""
