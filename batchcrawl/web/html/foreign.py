"""Which elements of SVG and MathML are open in a page of HTML (HTML standard, "tree construction", foreign content)."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

_HTML_IN_SVG = frozenset({"foreignobject", "desc", "title"})
_HTML_IN_MATH = frozenset({"mi", "mo", "mn", "ms", "mtext"})
_MATH_IN_TEXT = frozenset({"mglyph", "malignmark"})
_ENDS_FOREIGN = frozenset((
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3",
    "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s",
    "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
))  # fmt: skip
_FONT = frozenset({"color", "face", "size"})
_ROOTS = frozenset({"svg", "math"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_UNSEEN = frozenset({"annotation", "annotation-xml", "desc", "metadata", "script", "style", "title"})


class _Open(NamedTuple):
    tag: str
    root: str
    """`svg` or `math`: the nearest that holds it."""
    holds_html: bool
    """Its content is HTML again."""


class Foreign:
    """The open elements from an `svg` or `math` on; those of HTML within them are not kept."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._by_tag: Counter[str] = Counter()
        self.unseen = 0
        """How many of them hide their text from a reader."""

    def __bool__(self) -> bool:
        """Tell whether any is open."""
        return bool(self._open)

    @property
    def root(self) -> str | None:
        """`svg` or `math`: what the innermost of them belongs to."""
        return self._open[-1].root if self._open else None

    def start(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Take a start tag and tell whether its element is a foreign one; if not, it is one of HTML."""
        if self._open and not self._open[-1].holds_html:
            if tag in _ENDS_FOREIGN or (tag == "font" and not _FONT.isdisjoint(attributes)):
                while self._open and not self._open[-1].holds_html:
                    self._close()
                return False
        elif tag not in _ROOTS and not self._is_math_in_text(tag):
            return False
        root = tag if tag in _ROOTS else self._open[-1].root
        self._open.append(_Open(tag, root, _holds_html(tag, root, attributes)))
        self._by_tag[tag] += 1
        self.unseen += tag in _UNSEEN
        return True

    def end(self, tag: str) -> bool:
        """Take an end tag and tell whether its element is a foreign one."""
        if not self._by_tag[tag]:
            return False
        while self._close() != tag:
            pass
        return True

    def _close(self) -> str:
        tag = self._open.pop().tag
        self._by_tag[tag] -= 1
        self.unseen -= tag in _UNSEEN
        return tag

    def _is_math_in_text(self, tag: str) -> bool:
        return tag in _MATH_IN_TEXT and bool(self._open) and self._open[-1].tag in _HTML_IN_MATH


def _holds_html(tag: str, root: str, attributes: Mapping[str, str]) -> bool:
    if tag == "annotation-xml":
        return root == "math" and attributes.get("encoding", "").lower() in _HTML_TYPES
    return tag in (_HTML_IN_SVG if root == "svg" else _HTML_IN_MATH)
