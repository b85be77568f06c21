"""One pass over a page as the parser reads it: metadata, links as written, visible text.

No tree is built: lxml hands over each tag and each run of text. So a page costs what its bytes cost, where building a
tree takes a minute for one element with 100,000 attributes and stops at 2,048 nested elements.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import Any, Protocol, cast

from lxml import etree

from batchcrawl.web.directives import DIRECTIVES_MAX, directives_of_meta
from batchcrawl.web.found import NOTHING_MORE, Found, FoundLink, Wanted
from batchcrawl.web.html.elements import BLOCKS, FOLLOWED_RELS, HIDDEN, ICON_RELS, SOURCES
from batchcrawl.web.html.foreign import Foreign
from batchcrawl.web.html.srcset import srcset_urls
from batchcrawl.web.html.templates import has_more_behind_template, with_templates_in_tables
from batchcrawl.web.signature import count_tokens

ANCHOR_CHARACTERS_MAX = 200
_ANCHOR_PIECES_MAX = 64
_ANCHOR_PIECE_CHARACTERS_MAX = 1000
_TITLE_PIECES_MAX = 64
_REFRESHES_MAX = 16
_REL_CHARACTERS_MAX = 500
_CONTENT_CHARACTERS_MAX = 10_000
"""Of a meta element."""
_BREAK = "\0"  # between two blocks; the text itself holds none
_SPACED_BREAK = f" {_BREAK} "


def walk(text: str, wanted: Wanted = NOTHING_MORE) -> Found:
    """Return what the text of a page holds. Malformed, cut or hostile text gives what the parser made of it.

    Raises MemoryError where the parser found no memory, rather than return what came before.
    """
    walker = _parsed(text, wanted)
    if walker.is_silent_behind_template(text):
        walker = _parsed(with_templates_in_tables(text), wanted)
    return walker.result()


def _parsed(text: str, wanted: Wanted) -> "_Walker":
    walker = _Walker(wanted)
    # The stubs ask for methods that lxml calls only where a target has them.
    parser = etree.HTMLParser(target=cast(Any, walker), encoding="utf-8", huge_tree=True)
    with suppress(etree.LxmlError):  # what was read before the error counts
        etree.fromstring(text.replace("\0", "").encode("utf-8", "replace"), parser)
    # Out of memory, the parser ends the page there and says so nowhere else.
    if any(error.type == etree.ErrorTypes.ERR_NO_MEMORY for error in parser.error_log.filter_from_fatals()):
        raise MemoryError
    return walker


class _Walker:
    """Target of the parser: start, end and data are its calls.

    What a tag means is in tables; within a frameset, and within svg and math, others are in force.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._found = Found()
        self._pieces: list[str] = []
        self._title: list[str] | None = None
        self._hidden = 0
        self._inert = 0
        self._anchors: list[tuple[FoundLink | None, int]] = []
        self._robots_names = {"robots", wanted.product_token.lower()} - {""}
        self._resources = wanted.resources
        self._has_body = False
        self._framesets = 0
        self._foreign = Foreign()
        self._noscripts = 0
        self._left: tuple[int, int] | None = None
        self._blocks = BLOCKS
        self._starts: _Starts = _html_starts(wanted.resources)
        self._ends: _Ends = _ENDS

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        if tag in self._blocks:
            self._pieces.append(_SPACED_BREAK)
            return
        start = self._starts.get(tag)
        if start is not None:
            start(self, attributes)

    def end(self, tag: str) -> None:
        """Take an end tag, written or implied."""
        if tag in self._blocks:
            self._pieces.append(_SPACED_BREAK)
            return
        end = self._ends.get(tag)
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
        found.tokens = count_tokens(tokens)
        del found.tokens[_BREAK]
        found.words = len(tokens) - self._pieces.count(_SPACED_BREAK)
        return found

    def is_silent_behind_template(self, text: str) -> bool:
        """Tell whether nothing was found behind the last template or noscript, where the text has something."""
        if self._left is None or self._left[0] != len(self._found.links):
            return False
        if any(piece is not _SPACED_BREAK for piece in islice(self._pieces, self._left[1], None)):
            return False
        return has_more_behind_template(text)

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
        link = FoundLink(href, kind, _tokens(rel) if rel else ())
        self._found.links.append(link)
        return link

    def start_base(self, attributes: Mapping[str, str]) -> None:
        if self._found.base_href is None and not self._inert:
            self._found.base_href = attributes.get("href")

    def start_iframe(self, attributes: Mapping[str, str]) -> None:
        self._add_source("iframe", attributes.get("src"))
        self._hidden += 1

    def start_link(self, attributes: Mapping[str, str]) -> None:
        href, rel = attributes.get("href"), attributes.get("rel")
        if not href or not rel or self._inert or href.isspace():
            return
        tokens = set(_tokens(rel))
        if "canonical" in tokens and self._found.canonical is None:
            self._found.canonical = href
        if "stylesheet" in tokens:
            kind = "stylesheet"
        elif tokens & FOLLOWED_RELS:
            kind = "link"
        elif tokens & ICON_RELS:
            kind = "icon"
        else:
            return
        if kind == "link" or kind in self._resources:
            self._add_link(kind, href, rel)

    def start_resource(self, attributes: Mapping[str, str], *, kind: str) -> None:
        for name in SOURCES[kind]:
            self._add_source(kind, attributes.get(name))
        srcset = attributes.get("srcset") if kind in {"img", "source"} else None
        for url in srcset_urls(srcset or ""):
            self._add_link(kind, url)

    def _add_source(self, kind: str, source: str | None) -> None:
        """Add a link where its attribute is not blank, which browsers take as absent."""
        if source and not source.isspace():
            self._add_link(kind, source)

    def start_html(self, attributes: Mapping[str, str]) -> None:
        if self._found.language is None:
            self._found.language = attributes.get("lang") or attributes.get("xml:lang")

    def start_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content")
        if content is None or self._inert:
            return
        content, found = content[:_CONTENT_CHARACTERS_MAX], self._found
        name = attributes.get("name", "").strip().lower()
        if name in self._robots_names:
            found.robots.extend(directives_of_meta(content)[: DIRECTIVES_MAX - len(found.robots)])
        elif name == "description" and found.description is None:
            found.description = content
        elif "http-equiv" in attributes:
            self._take_header(attributes["http-equiv"].lower(), content)

    def _take_header(self, name: str, content: str) -> None:
        if name == "content-language" and self._found.language_of_meta is None:
            self._found.language_of_meta = content
        # Behind noscript a refresh is for browsers that lack scripts, and leads to a page that says so.
        elif name == "refresh" and not self._noscripts and len(self._found.refreshes) < _REFRESHES_MAX:
            self._found.refreshes.append(content)

    def start_title(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1
        if self._found.title is None and not self._inert:
            self._title = []

    def end_title(self) -> None:
        self.end_hidden()
        if self._title is not None:
            self._found.title = "".join(self._title)
            self._title = None

    def start_hidden(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1

    def end_hidden(self) -> None:
        self._hidden = max(0, self._hidden - 1)

    def start_script(self, attributes: Mapping[str, str]) -> None:
        self.start_resource(attributes, kind="script")
        self._hidden += 1

    def start_noscript(self, attributes: Mapping[str, str]) -> None:
        self._hidden += 1
        self._noscripts += 1

    def end_noscript(self) -> None:
        self._noscripts = max(0, self._noscripts - 1)
        self._leave_template()

    def _leave_template(self) -> None:
        self.end_hidden()
        self._left = len(self._found.links), len(self._pieces)

    def start_template(self, attributes: Mapping[str, str]) -> None:
        self._inert += 1
        self._hidden += 1

    def end_template(self) -> None:
        self._inert = max(0, self._inert - 1)
        self._leave_template()

    def start_body(self, attributes: Mapping[str, str]) -> None:
        self._has_body = True
        self._pieces.append(_SPACED_BREAK)

    def end_body(self) -> None:
        self._pieces.append(_SPACED_BREAK)

    def start_frameset(self, attributes: Mapping[str, str]) -> None:
        """Behind the start of a body there are no framesets, and within one there is nothing but frames."""
        if self._has_body or self._inert:
            return
        self._framesets += 1
        self._hidden += 1
        self._starts, self._ends, self._blocks = _FRAMESET_STARTS, _FRAMESET_ENDS, frozenset()

    def end_frameset(self) -> None:
        self._framesets -= 1
        if not self._framesets:
            self._starts, self._ends = {}, {}

    def start_frame(self, attributes: Mapping[str, str]) -> None:
        self._add_source("frame", attributes.get("src"))

    def start_foreign(self, attributes: Mapping[str, str], *, tag: str) -> None:
        """Take a start tag from an svg or math on, until their elements are left."""
        if not self._foreign:
            self._starts, self._ends, self._blocks = _EVERY_START, _EVERY_END, frozenset()
        unseen = self._foreign.unseen
        if not self._foreign.start(tag, attributes):
            self._set_foreign(unseen)
            self._start_html(tag, attributes)
            return
        self._set_foreign(unseen)
        if tag == "a":
            href = attributes.get("href", attributes.get("xlink:href")) if self._foreign.root == "svg" else None
            self._anchors.append((self._add_link("a", href, attributes.get("rel")), len(self._pieces)))

    def end_foreign(self, *, tag: str) -> None:
        unseen = self._foreign.unseen
        is_foreign = self._foreign.end(tag)
        self._set_foreign(unseen)
        if not is_foreign and tag in BLOCKS:
            self._pieces.append(_SPACED_BREAK)
        elif not is_foreign or tag == "a":
            _ENDS.get(tag, _no_end)(self)

    def _set_foreign(self, unseen_before: int) -> None:
        self._hidden = max(0, self._hidden + self._foreign.unseen - unseen_before)
        if not self._foreign:
            self._starts, self._ends, self._blocks = _html_starts(self._resources), _ENDS, BLOCKS

    def _start_html(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in BLOCKS:
            self._pieces.append(_SPACED_BREAK)
        else:
            start = _html_starts(self._resources).get(tag)
            if start is not None:
                start(self, attributes)


class _Every:
    """A table that has one entry for whatever tag."""

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take

    def get(self, tag: str) -> Callable[..., None]:
        return partial(self._take, tag=tag)


def _no_end(walker: _Walker) -> None:
    """Take an end tag that means nothing."""


def _tokens(rel: str) -> tuple[str, ...]:
    return tuple(rel[:_REL_CHARACTERS_MAX].lower().split())


def _short(text: str) -> str | None:
    return " ".join(text.replace(_BREAK, " ").split())[:ANCHOR_CHARACTERS_MAX].rstrip() or None


class _Starts(Protocol):
    def get(self, tag: str, /) -> Callable[[_Walker, Mapping[str, str]], None] | None: ...


class _Ends(Protocol):
    def get(self, tag: str, /) -> Callable[[_Walker], None] | None: ...


_STARTS: dict[str, Callable[[_Walker, Mapping[str, str]], None]] = {
    "a": _Walker.start_a,
    "area": _Walker.start_area,
    "base": _Walker.start_base,
    "body": _Walker.start_body,
    "frameset": _Walker.start_frameset,
    "html": _Walker.start_html,
    "iframe": _Walker.start_iframe,
    "link": _Walker.start_link,
    "math": partial(_Walker.start_foreign, tag="math"),
    "meta": _Walker.start_meta,
    "noscript": _Walker.start_noscript,
    "svg": partial(_Walker.start_foreign, tag="svg"),
    "template": _Walker.start_template,
    "title": _Walker.start_title,
}
_STARTS |= dict.fromkeys(HIDDEN, _Walker.start_hidden)
_RESOURCE_STARTS: dict[str, Callable[[_Walker, Mapping[str, str]], None]] = {
    kind: partial(_Walker.start_resource, kind=kind) for kind in SOURCES
} | {"script": _Walker.start_script}
_FRAMESET_STARTS = {"frame": _Walker.start_frame, "frameset": _Walker.start_frameset}
_EVERY_START = _Every(_Walker.start_foreign)
_ENDS: dict[str, Callable[[_Walker], None]] = {
    "a": _Walker.end_a,
    "body": _Walker.end_body,
    "iframe": _Walker.end_hidden,
    "noscript": _Walker.end_noscript,
    "template": _Walker.end_template,
    "title": _Walker.end_title,
}
_ENDS |= dict.fromkeys(HIDDEN, _Walker.end_hidden)
_FRAMESET_ENDS = {"frameset": _Walker.end_frameset}
_EVERY_END = _Every(_Walker.end_foreign)


@cache
def _html_starts(resources: frozenset[str]) -> dict[str, Callable[[_Walker, Mapping[str, str]], None]]:
    """Return the table of start tags for the kinds of resources that are links."""
    starts = _STARTS | {kind: start for kind, start in _RESOURCE_STARTS.items() if kind in resources}
    return starts | {"image": starts["img"]} if "img" in resources else starts  # browsers take one for the other
