"""From the attributes of a page to URLs, as a browser resolves them."""

import re

from batchcrawl.model.rejection import Rejection
from batchcrawl.web.encodings import python_codec
from batchcrawl.web.urls import Base, parse_url

_WEB = ("http://", "https://")
_NOT_OF_QUERIES = frozenset({"utf-8", "utf-16le", "utf-16be", "replacement"})


class Resolver:
    """Resolves the links of one page; a link that is repeated is resolved once.

    `url` is the page's own URL, `base_href` the href of its first base element that has one, `encoding` the page's
    encoding: where it is not a Unicode one, queries are encoded in it (URL standard, "query state").
    """

    def __init__(self, *, url: str, base_href: str | None, encoding: str) -> None:
        self._base = Base(_base_url(url, base_href))
        self._codec = None if encoding in _NOT_OF_QUERIES else python_codec(encoding)
        self._known: dict[str, str | Rejection] = {}

    def resolve(self, href: str) -> str | Rejection:
        """Return the serialised http or https URL of an attribute, or why it is not taken."""
        found = self._known.get(href)
        if found is None:
            found = self._known[href] = self._resolve(href)
        return found

    def _resolve(self, href: str) -> str | Rejection:
        scheme = _SCHEME.match(href)
        if scheme is not None and scheme[1].lower() not in {"http", "https"}:
            return Rejection.SCHEME
        if self._codec is not None and not href.isascii():
            href = _encode_query(href, self._codec)
        url = self._base.join(href)
        if url is None:
            return Rejection.INVALID
        return url if url.startswith(_WEB) else Rejection.SCHEME


# Spares the parser the long ones, such as data: with a whole image behind it.
_SCHEME = re.compile(r"[\x00-\x20]*+([A-Za-z][A-Za-z0-9+.-]*+):")


def _base_url(url: str, href: str | None) -> str:
    if href is None:
        return url
    base = parse_url(href, url)
    # The standard refuses these two (HTML, "set the frozen base URL").
    return url if base is None or base.startswith(("data:", "javascript:")) else base


def _encode_query(href: str, codec: str) -> str:
    before, mark, fragment = href.partition("#")
    path, question, query = before.partition("?")
    if query.isascii():
        return href
    return path + question + _FOREIGN.sub(lambda run: _percent_encode(run[0], codec), query) + mark + fragment


_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def _percent_encode(text: str, codec: str) -> str:
    try:
        return _octets(text.encode(codec))
    except UnicodeEncodeError:
        return "".join(_octets_or_reference(character, codec) for character in text)


def _octets_or_reference(character: str, codec: str) -> str:
    try:
        return _octets(character.encode(codec))
    except UnicodeEncodeError:
        return f"%26%23{ord(character)}%3B"


def _octets(encoded: bytes) -> str:
    return "".join(
        chr(octet) if 0x21 <= octet < 0x7F and octet not in b"\"#<>'" else f"%{octet:02X}" for octet in encoded
    )
