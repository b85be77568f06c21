"""XML read tag by tag, leniently and with no more memory than a tag takes.

Not lxml: where a sitemap is not well-formed, as many are, libxml2 goes on and loses every `&amp;` behind the first
error, so that other URLs come out; and it ends at a stray end tag. Here there is no document type: no entity but the
five of XML is known, nothing is expanded or loaded, and nothing nests.
"""

import re
from collections.abc import Iterable
from typing import Protocol

TAG_CHARACTERS_MAX = 65_536
"""A longer tag is taken as text."""
_SPECIAL_CHARACTERS_MAX = len("<![CDATA[")
_REFERENCE_CHARACTERS_MAX = 40


class Target(Protocol):
    """Takes what is read. Names are as written, prefix included; attributes are the text behind the name."""

    full: bool
    """Nothing more is wanted."""
    text_wanted: bool
    """Text is wanted now."""

    def start(self, name: str, attributes: str) -> None:
        """Take a start tag."""

    def end(self, name: str) -> None:
        """Take an end tag; one that is part of an empty element's tag, too."""

    def data(self, text: str) -> None:
        """Take a piece of text, its references resolved."""


def scan_xml(parts: Iterable[str], target: Target, *, tags_max: int) -> bool:
    """Give what the parts hold, joined, to a target; return whether `tags_max` was enough. Never raises."""
    scanner = _Scanner(target)
    for part in parts:
        scanner.feed(part, tags_max=tags_max)
        if target.full:
            return True
        if scanner.tags >= tags_max:
            return False
    scanner.finish(tags_max=tags_max)
    return True


def attribute(attributes: str, name: str) -> str | None:
    """Return the value of an attribute by its name as written, or None."""
    if name not in attributes:
        return None
    values = (unescape(found[2] or found[3] or "") for found in _ATTRIBUTE.finditer(attributes) if found[1] == name)
    return next(values, None)


def unescape(text: str) -> str:
    """Resolve references to characters and to the five entities of XML.

    References to other entities are dropped, and an ampersand that begins no reference stays one.
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


class _Scanner:
    def __init__(self, target: Target) -> None:
        self.tags = 0
        self._target = target
        self._rest = ""
        """The end of what was fed, if something may begin there."""
        self._closing: str | None = None
        """What ends the comment, CDATA section, instruction or declaration that was begun."""

    def feed(self, part: str, *, tags_max: int) -> None:
        text = self._rest + part
        # What a `<` begins can be told from its first nine characters.
        cut = text.rfind("<", max(0, len(text) - _SPECIAL_CHARACTERS_MAX))
        text, tail = (text, "") if cut < 0 else (text[:cut], text[cut:])
        at = self._scan(text, tags_max)
        if not self._target.full and self.tags < tags_max:
            self._rest = self._held(text, at) + tail

    def finish(self, *, tags_max: int) -> None:
        """Take what was held back; a tag that was cut is none."""
        at = self._scan(self._rest, tags_max)
        if not self._target.full and self.tags < tags_max:
            rest = self._rest[at:]
            self._give(rest if self._closing is not None else rest.partition("<")[0])

    def _scan(self, text: str, tags_max: int) -> int:
        """Give the target what is whole; return up to where."""
        at, target, search = 0, self._target, _MARKUP.search
        while not target.full and self.tags < tags_max:
            if self._closing is not None:
                end = text.find(self._closing, at)
                if end < 0:
                    return at
                self._give(text[at:end])
                at, self._closing = end + len(self._closing), None
            found = search(text, at)
            if found is None:
                return at
            self._give(text[at : found.start()])
            at = found.end()
            special, slash, name, attributes = found.groups()
            self.tags += 1
            if special is not None:
                self._closing = _CLOSING[special]
                continue
            if slash:
                target.end(name)
                continue
            target.start(name, attributes)
            if attributes.endswith("/"):
                target.end(name)
        return at

    def _give(self, text: str) -> None:
        if not text or not self._target.text_wanted:
            return
        if self._closing is None:
            self._target.data(unescape(text))
        elif self._closing == _CDATA_END:
            self._target.data(text)

    def _held(self, text: str, at: int) -> str:
        """Give the target the text behind `at`, but for an end that what follows may belong to; return that."""
        if self._closing is not None:
            cut = max(at, len(text) - len(self._closing) + 1)
        else:
            cut = text.rfind("<", max(at, len(text) - TAG_CHARACTERS_MAX))
            cut = text.rfind("&", max(at, len(text) - _REFERENCE_CHARACTERS_MAX)) if cut < 0 else cut
            cut = len(text) if cut < 0 else cut
        self._give(text[at:cut])
        return text[cut:]


_CDATA_END = "]]>"
_CLOSING = {"!--": "-->", "![CDATA[": _CDATA_END, "?": "?>", "!": ">"}
# An attribute's value holds no `<`, so that a quotation mark that is never closed costs no more than up to the next.
_MARKUP = re.compile(
    r"""<(?:(!--|!\[CDATA\[|[?!])|(/?)([^\s<>/!?"'=&]++)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>)""",
)
_ATTRIBUTE = re.compile(r"""([^\s<>/"'=]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9.-]{0,31}));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def _character(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _ENTITIES.get(found[3], "")
    number = int(found[1]) if found[1] is not None else int(found[2], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
