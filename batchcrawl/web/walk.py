"""One pass over a page as the parser reads it: metadata, links as written, visible text.

No tree is built: lxml hands over each tag and each run of text. So a page costs what its bytes cost, where building a
tree takes a minute for one element with 100,000 attributes and stops at 2,048 nested elements.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

import msgspec
from lxml import etree

ANCHOR_CHARACTERS_MAX = 200
_ANCHOR_PIECES_MAX = 64
_ANCHOR_PIECE_CHARACTERS_MAX = 1000
_TITLE_PIECES_MAX = 64
_REFRESHES_MAX = 16
_ROBOTS_TOKENS_MAX = 64
_TOKENS_COUNTED_MAX = 65_536
_BREAK = "\0"  # between two blocks; the text itself holds none
_SPACED_BREAK = f" {_BREAK} "


class FoundLink(msgspec.Struct, gc=False):
    """A link as written."""

    href: str
    kind: str
    rel: tuple[str, ...] = ()
    anchor: str | None = None


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
    """One space between two tokens, one line feed between two blocks."""
    words: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    """How often each token stands among the first of the text."""


def walk(text: str) -> Found:
    """Return what the text of a page holds. Malformed, cut or hostile text gives what the parser made of it."""
    walker = _Walker()
    # The stubs ask for methods that lxml calls only where a target has them.
    parser = etree.HTMLParser(target=cast(Any, walker), encoding="utf-8", huge_tree=True)
    with suppress(etree.LxmlError):  # what was read before the error counts
        etree.fromstring(text.replace("\0", "").encode("utf-8", "replace"), parser)
    return walker.result()


class _Walker:
    """Target of the parser: start, end and data are its calls."""

    def __init__(self) -> None:
        self._found = Found()
        self._pieces: list[str] = []
        self._title: list[str] | None = None
        self._hidden = 0
        self._inert = 0
        self._anchors: list[tuple[FoundLink | None, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        if tag in _BLOCKS:
            self._pieces.append(_SPACED_BREAK)
            return
        start = _STARTS.get(tag)
        if start is not None:
            start(self, attributes)

    def end(self, tag: str) -> None:
        """Take an end tag, written or implied."""
        if tag in _BLOCKS:
            self._pieces.append(_SPACED_BREAK)
            return
        end = _ENDS.get(tag)
        if end is not None:
            end(self)

    def data(self, text: str) -> None:
        """Take a run of text."""
        if not self._hidden:
            self._pieces.append(text)
        elif self._title is not None and len(self._title) < _TITLE_PIECES_MAX:
            self._title.append(text)

    def close(self) -> None:
        """Take the end of the page."""

    def result(self) -> Found:
        """Return what was found."""
        while self._anchors:
            self.end_a()
        found = self._found
        tokens = "".join(self._pieces).split()
        lines = (line.strip(" ") for line in " ".join(tokens).split(_BREAK))
        found.text = "\n".join(filter(None, lines))
        found.tokens = Counter(islice(tokens, _TOKENS_COUNTED_MAX))
        del found.tokens[_BREAK]
        found.words = len(tokens) - self._pieces.count(_SPACED_BREAK)
        return found

    def start_a(self, attributes: Mapping[str, str]) -> None:
        link = self._add_link("a", attributes.get("href"), attributes.get("rel"))
        self._anchors.append((link, len(self._pieces)))

    def end_a(self) -> None:
        if not self._anchors:
            return
        link, start = self._anchors.pop()
        if link is not None:
            pieces = self._pieces[start : start + _ANCHOR_PIECES_MAX]
            link.anchor = _short("".join([piece[:_ANCHOR_PIECE_CHARACTERS_MAX] for piece in pieces]))

    def start_area(self, attributes: Mapping[str, str]) -> None:
        link = self._add_link("area", attributes.get("href"), attributes.get("rel"))
        if link is not None:
            link.anchor = _short(attributes.get("alt", ""))

    def _add_link(self, kind: str, href: str | None, rel: str | None = None) -> FoundLink | None:
        if href is None or self._inert:
            return None
        link = FoundLink(href, kind, tuple(rel.lower().split()) if rel else ())
        self._found.links.append(link)
        return link

    def start_base(self, attributes: Mapping[str, str]) -> None:
        if self._found.base_href is None:
            self._found.base_href = attributes.get("href")

    def start_frame(self, attributes: Mapping[str, str]) -> None:
        self._add_link("frame", attributes.get("src") or None)

    def start_iframe(self, attributes: Mapping[str, str]) -> None:
        self._add_link("iframe", attributes.get("src") or None)
        self._hidden += 1

    def start_html(self, attributes: Mapping[str, str]) -> None:
        if self._found.language is None:
            self._found.language = attributes.get("lang") or attributes.get("xml:lang")

    def start_link(self, attributes: Mapping[str, str]) -> None:
        href, rel = attributes.get("href"), attributes.get("rel")
        if not href or not rel or self._inert:
            return
        tokens = set(rel.lower().split())
        if "canonical" in tokens:
            if self._found.canonical is None:
                self._found.canonical = href
        elif tokens & _FOLLOWED_RELS and "stylesheet" not in tokens:
            self._add_link("link", href, rel)

    def start_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content")
        if content is None or self._inert:
            return
        name = attributes.get("name", "").strip().lower()
        if name == "description" and self._found.description is None:
            self._found.description = content
        elif name == "robots":
            self._add_robots(content)
        elif attributes.get("http-equiv", "").lower() == "refresh":
            self._add_refresh(content)

    def _add_robots(self, content: str) -> None:
        robots = self._found.robots
        tokens = (token.strip().lower() for token in content.split(",", _ROBOTS_TOKENS_MAX))
        robots.extend([token for token in tokens if token][: _ROBOTS_TOKENS_MAX - len(robots)])

    def _add_refresh(self, content: str) -> None:
        # Behind noscript a refresh is for browsers that lack scripts, and leads to a page that says so.
        if not self._hidden and len(self._found.refreshes) < _REFRESHES_MAX:
            self._found.refreshes.append(content)

    def start_title(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1
        if self._found.title is None:
            self._title = []

    def end_title(self) -> None:
        self.end_hidden()
        if self._title is not None:
            self._found.title = "".join(self._title)
            self._title = None

    def start_template(self, attributes: Mapping[str, str]) -> None:
        self._inert += 1
        self._hidden += 1

    def end_template(self) -> None:
        self._inert = max(0, self._inert - 1)
        self.end_hidden()

    def start_hidden(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1

    def end_hidden(self) -> None:
        self._hidden = max(0, self._hidden - 1)


def _short(text: str) -> str | None:
    return " ".join(text.replace(_BREAK, " ").split())[:ANCHOR_CHARACTERS_MAX].rstrip() or None


_FOLLOWED_RELS = frozenset({"alternate", "next", "prev"})
_HIDDEN = ("noembed", "noframes", "noscript", "plaintext", "script", "style")
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option",
    "p", "pre", "section", "select", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_STARTS: dict[str, Callable[[_Walker, Mapping[str, str]], None]] = {
    "a": _Walker.start_a,
    "area": _Walker.start_area,
    "base": _Walker.start_base,
    "frame": _Walker.start_frame,
    "html": _Walker.start_html,
    "iframe": _Walker.start_iframe,
    "link": _Walker.start_link,
    "meta": _Walker.start_meta,
    "template": _Walker.start_template,
    "title": _Walker.start_title,
}
_STARTS |= dict.fromkeys(_HIDDEN, _Walker.start_hidden)
_ENDS: dict[str, Callable[[_Walker], None]] = {
    "a": _Walker.end_a,
    "iframe": _Walker.end_hidden,
    "template": _Walker.end_template,
    "title": _Walker.end_title,
}
_ENDS |= dict.fromkeys(_HIDDEN, _Walker.end_hidden)
