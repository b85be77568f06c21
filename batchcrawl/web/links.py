"""From the attributes of a page to URLs, as a browser resolves them."""

import re
from collections.abc import Sequence

from batchcrawl.model.rejection import Rejection
from batchcrawl.web.encodings import encode_for_query, query_codec
from batchcrawl.web.found import FoundLink
from batchcrawl.web.page import Link, Page
from batchcrawl.web.urls import Base, parse_url

_WEB = ("http://", "https://")
HREF_CHARACTERS_MAX = 65_536
"""A longer link is not resolved: no job takes so long a URL."""
BASE_CHARACTERS_MAX = 8192
"""Nothing is resolved against a longer base, which would stand in each of the page's links."""
LINKS_REMEMBERED = 50_000
"""How many links are kept for the pages that follow."""

_Known = dict[str, str | Rejection]


class Resolvers:
    """Makes the resolvers of page after page; what one finds is kept for the others of its site, as they link alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Known] = {}
        self._last: Resolver | None = None
        self._kept = 0

    def of_page(self, *, url: str, base_href: str | None, encoding: str) -> "Resolver":
        """Return the resolver of a page.

        `url` is the page's own URL, `base_href` the href of its first base element that has one, `encoding` the page's
        encoding: where it is not a Unicode one, queries are encoded in it (URL standard, "query state").
        """
        base = Base(_base_url(url, base_href))
        if base.origin is None or len(base.url) > BASE_CHARACTERS_MAX:
            return Resolver(base, encoding, of_site={}, of_folder={})
        self._kept += self._last.resolved if self._last is not None else 0
        if self._kept >= LINKS_REMEMBERED:
            self._known.clear()
            self._kept = 0
        of_site = self._known.setdefault((base.origin, encoding), {})
        of_folder = self._known.setdefault((base.folder, encoding), {})
        self._last = Resolver(base, encoding, of_site=of_site, of_folder=of_folder)
        return self._last


class Resolver:
    """Resolves the links of one page; a link that is repeated is resolved once."""

    def __init__(self, base: Base, encoding: str, *, of_site: _Known, of_folder: _Known) -> None:
        """`of_site` is shared by the pages whose base has this origin, `of_folder` by those in one folder of it."""
        self._base = base
        self._codec = query_codec(encoding)
        self._is_too_long = len(base.url) > BASE_CHARACTERS_MAX
        self._joins = base.origin is not None and not self._is_too_long
        self._of_site, self._of_folder = of_site, of_folder
        self._of_page: _Known = {}
        self.resolved = 0
        """Links that were not known."""

    @property
    def base(self) -> str:
        """The URL that is resolved against."""
        return self._base.url

    @property
    def document(self) -> str:
        """That URL without its fragment."""
        return self._base.document

    def resolve(self, href: str) -> str | Rejection:
        """Return the serialised http or https URL of an attribute, or why it is not taken."""
        if href.startswith("#"):
            return self._resolve(href)  # no look-up is faster
        shared = self._of_site if href.startswith(_OF_SITE) else self._of_folder
        found = shared.get(href) or self._of_page.get(href)
        if found is None:
            found = self._resolve(href)
            self.resolved += 1
            (shared if _SHARED.match(href) else self._of_page)[href] = found
        return found

    def _resolve(self, href: str) -> str | Rejection:
        if self._joins and _PLAIN_FRAGMENT.match(href):
            return self._base.document + href
        scheme = _SCHEME.match(href)
        if scheme is not None and scheme[1].lower() not in {"http", "https"}:
            return Rejection.SCHEME
        if len(href) > HREF_CHARACTERS_MAX:
            href = href.strip(_STRIPPED)
        if len(href) > HREF_CHARACTERS_MAX or (scheme is None and self._is_too_long):
            return Rejection.TOO_LONG
        if self._codec is not None and not href.isascii():
            href = _encode_query(href, self._codec)
        url = self._base.join(href)
        if url is None:
            return Rejection.INVALID
        return url if url.startswith(_WEB) else Rejection.SCHEME


_PLAIN_FRAGMENT = re.compile(r"#[A-Za-z0-9_~!$&'()*+,;=:@/?.-]*+\Z")


def take_links(
    page: Page,
    found: Sequence[FoundLink],
    resolver: Resolver,
    *,
    links_max: int,
    first: int = 0,
    own_document: str | None = None,
) -> None:
    """Add the links found to a page that has fewer than `links_max`; the others are counted by their reason.

    `first` is the number of the first of them among all of the page. With `own_document`, the page's URL without its
    fragment, links to places on it are among the others.
    """
    links = page.links
    own = own_document is not None and resolver.document == own_document
    for position, link in enumerate(found, first):
        href = link.href
        if own and href[:1] == "#":
            reject(page, Rejection.SELF, href)
            continue
        if len(links) >= links_max:
            _reject_rest(page, found[position - first :], own=own)
            return
        target = resolver.resolve(href)
        if isinstance(target, Rejection):
            reject(page, target, href)
        else:
            links.append(Link(target, link.kind, link.anchor, link.rel, position))


def _reject_rest(page: Page, found: Sequence[FoundLink], *, own: bool) -> None:
    """Count the links behind the last that is taken."""
    for link in found:
        reject(page, Rejection.SELF if own and link.href[:1] == "#" else Rejection.LINKS_MAX, link.href)


def reject(page: Page, reason: Rejection, href: str) -> None:
    """Count a link of a page that is not taken."""
    page.rejected[reason.value] = page.rejected.get(reason.value, 0) + 1
    if page.refused is not None:
        page.refused.append((href, reason))


# Links that mean the same on every page of the site, or of the folder where they begin otherwise. Those of a colon may
# be scheme-relative ("http:#top"), and long ones would fill the memory.
_OF_SITE = ("/", "http://", "https://")
_SHARED = re.compile(r"(?:https?://|[/.]|(?=[A-Za-z0-9_][^:]*+\Z)).{0,500}\Z", re.DOTALL)

_STRIPPED = "".join(map(chr, range(0x21)))
"""What the URL parser drops at both ends."""

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
    """Encode what can be; another character becomes a reference (Encoding standard, "html" error mode)."""
    parts = encode_for_query(text, codec)
    return "".join(f"%26%23{ord(part)}%3B" if isinstance(part, str) else _octets(part) for part in parts)


def _octets(encoded: bytes) -> str:
    return "".join(
        chr(octet) if 0x21 <= octet < 0x7F and octet not in b"\"#<>'" else f"%{octet:02X}" for octet in encoded
    )
