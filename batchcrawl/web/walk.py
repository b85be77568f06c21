"""One pass over the tree of a page: metadata, links as written, visible text."""

from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

ANCHOR_CHARACTERS_MAX = 200
_ANCHOR_PIECES_MAX = 64
_REFRESHES_MAX = 16
_ROBOTS_MAX = 32


class FoundLink(NamedTuple):
    """A link as written."""

    href: str
    kind: str
    anchor: str | None
    rel: tuple[str, ...]


@dataclass(slots=True)
class Found:
    """What the pass finds; nothing is resolved yet."""

    title: str | None = None
    description: str | None = None
    language: str | None = None
    base_href: str | None = None
    canonical: str | None = None
    robots: list[str] = field(default_factory=list)
    refreshes: list[str] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    text: str = ""
    words: int = 0


def walk(text: str) -> Found:
    """Return what a page's text holds. Malformed, cut or hostile text gives what the parser made of it."""
    found = Found()
    root = _tree(text)
    if root is None:
        return found
    pieces = _Walker(found).walk(root)
    lines = [words for line in "".join(pieces).split(_BREAK) if (words := line.split())]
    found.text = "\n".join(map(" ".join, lines))
    found.words = sum(map(len, lines))
    return found
