"""One pass over a page as the parser reads it: metadata, links as written, visible text.

No tree is built: lxml hands over each tag and each run of text. So a page costs what its bytes cost, where building a tree takes
a minute for one element with 100,000 attributes and stops at 2,048 nested elements.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lxml import etree

ANCHOR_CHARACTERS_MAX = 200
_ANCHOR_PIECES_MAX = 64
_ANCHOR_PIECE_CHARACTERS_MAX = 1000
_TITLE_PIECES_MAX = 64
_METAS_MAX = 64
_BREAK = "\0"  # between two blocks; the text itself holds none


@dataclass(slots=True)
class FoundLink:
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
    words: int = 0


def walk(text: str) -> Found:
    """Return what the text of a page holds. Malformed, cut or hostile text gives what the parser made of it."""
    walker = _Walker()
    parser = etree.HTMLParser(target=walker, encoding="utf-8", huge_tree=True)
    try:
        etree.fromstring(text.replace("\0", "").encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        pass  # what was read before the error counts
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
        self._starts: dict[str, Callable[[Mapping[str, str]], None]] = {
            "a": self._start_a,
            "area": self._start_area,
            "base": self._start_base,
            "frame": lambda attributes: self._start_frame("frame", attributes),
            "html": self._start_html,
            "iframe": self._start_iframe,
            "link": self._start_link,
            "meta": self._start_meta,
            "noscript": self._start_hidden,
            "template": self._start_template,
            "title": self._start_title,
        } | dict.fromkeys(_HIDDEN, self._start_hidden)
        self._ends: dict[str, Callable[[], None]] = {
            "a": self._end_a,
            "iframe": self._end_hidden,
            "noscript": self._end_hidden,
            "template": self._end_template,
            "title": self._end_title,
        } | dict.fromkeys(_HIDDEN, self._end_hidden)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        start = self._starts.get(tag)
        if start is not None:
            start(attributes)

    def end(self, tag: str) -> None:
        """Take an end tag, written or implied."""
        end = self._ends.get(tag)
        if end is not None:
            end()

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
            self._end_a()
        lines = [words for line in "".join(self._pieces).split(_BREAK) if (words := line.split())]
        self._found.text = "\n".join(map(" ".join, lines))
        self._found.words = sum(map(len, lines))
        return self._found

    def _start_a(self, attributes: Mapping[str, str]) -> None:
        link = self._add_link("a", attributes.get("href"), attributes.get("rel"))
        self._anchors.append((link, len(self._pieces)))

    def _end_a(self) -> None:
        if not self._anchors:
            return
        link, start = self._anchors.pop()
        if link is not None:
            pieces = self._pieces[start : start + _ANCHOR_PIECES_MAX]
            text = " ".join("".join(piece[:_ANCHOR_PIECE_CHARACTERS_MAX] for piece in pieces).replace(_BREAK, " ").split())
            link.anchor = text[:ANCHOR_CHARACTERS_MAX].rstrip() or None

    def _start_area(self, attributes: Mapping[str, str]) -> None:
        link = self._add_link("area", attributes.get("href"), attributes.get("rel"))
        if link is not None:
            link.anchor = " ".join(attributes.get("alt", "").split())[:ANCHOR_CHARACTERS_MAX].rstrip() or None

    def _add_link(self, kind: str, href: str | None, rel: str | None = None) -> FoundLink | None:
        if href is None or self._inert:
            return None
        link = FoundLink(href, kind, tuple(rel.lower().split()) if rel else ())
        self._found.links.append(link)
        return link

    def _start_base(self, attributes: Mapping[str, str]) -> None:
        if self._found.base_href is None:
            self._found.base_href = attributes.get("href")

    def _start_frame(self, kind: str, attributes: Mapping[str, str]) -> None:
        self._add_link(kind, attributes.get("src") or None)

    def _start_iframe(self, attributes: Mapping[str, str]) -> None:
        self._start_frame("iframe", attributes)
        self._hidden += 1

    def _start_html(self, attributes: Mapping[str, str]) -> None:
        if self._found.language is None:
            self._found.language = attributes.get("lang") or attributes.get("xml:lang")

    def _start_link(self, attributes: Mapping[str, str]) -> None:
        href, rel = attributes.get("href"), attributes.get("rel")
        if not href or not rel or self._inert:
            return
        tokens = set(rel.lower().split())
        if "canonical" in tokens:
            if self._found.canonical is None:
                self._found.canonical = href
        elif tokens & _FOLLOWED_RELS and "stylesheet" not in tokens:
            self._add_link("link", href, rel)

    def _start_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content")
        if content is None or self._inert:
            return
        name = attributes.get("name", "").strip().lower()
        if name == "description":
            if self._found.description is None:
                self._found.description = content
        elif name == "robots":
            tokens = (token.strip().lower() for token in content.split(",", _METAS_MAX))
            self._found.robots.extend([token for token in tokens if token][: _METAS_MAX - len(self._found.robots)])
        elif attributes.get("http-equiv", "").lower() == "refresh" and not self._hidden:
            self._found.refreshes.append(content)

    def _start_title(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1
        if self._found.title is None:
            self._title = []

    def _end_title(self) -> None:
        self._end_hidden()
        if self._title is not None:
            self._found.title = "".join(self._title)
            self._title = None

    def _start_template(self, attributes: Mapping[str, str]) -> None:
        self._inert += 1
        self._hidden += 1

    def _end_template(self) -> None:
        self._inert = max(0, self._inert - 1)
        self._end_hidden()

    def _start_hidden(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1

    def _end_hidden(self) -> None:
        self._hidden = max(0, self._hidden - 1)


_HIDDEN = ("script", "style", "noembed", "noframes", "plaintext")
_FOLLOWED_RELS = frozenset({"alternate", "next", "prev"})
_BLOCKS = frozenset(
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr legend li main menu nav ol optgroup option p pre"
    " section select summary table tbody td textarea tfoot th thead tr ul".split()
)
