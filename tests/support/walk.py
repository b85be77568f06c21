"""A plain breadth-first walk of web sites, to compare a crawl with: nothing of the crawler is used.

HTML by html.parser, URLs by urllib.parse, requests by http.client, one at a time. It knows no robots.txt, no limits,
no canonical form beyond a URL without its fragment. Only for servers on this machine.
"""

import hashlib
import re
import zlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import quote, urldefrag, urljoin, urlsplit, urlunsplit

AGENT = "walk"
"""User-Agent of every request."""
_ATTRIBUTES = {"a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src"}
_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]?\s*(?:url\s*=)?\s*['\"]?([^'\"]*)", re.IGNORECASE)
_AS_SENT = "%/:@!$&'()*+,;=~-._"
_GZIP = 31


@dataclass(frozen=True)
class Visit:
    """What the server answered for one URL."""

    status: int
    content_type: str | None
    digest: str
    """SHA-1 of the body as sent, hexadecimal."""
    sources: set[str] = field(default_factory=set)
    """Every page that links to it or redirects to it; empty for a start."""
    kinds: set[str] = field(default_factory=set)
    """How they do: `a`, `area`, `frame`, `iframe`, `meta`, `redirect`, or `link` and its rel, as `link stylesheet`."""

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return (self.content_type or "").partition(";")[0].strip().lower()


def walk(starts: Iterable[str], *, hosts: Iterable[str], address: tuple[str, int]) -> dict[str, Visit]:
    """Return every URL on the hosts that links lead to from the starts, in the order of the visits.

    `address` is where all the hosts are.
    """
    allowed, fetch, known_links = frozenset(hosts), _Fetcher(address), _Links()
    visits: dict[str, Visit] = {}
    sources: dict[str, set[str]] = {url: set() for url in starts}
    kinds: dict[str, set[str]] = {url: set() for url in sources}
    queue = deque(sources)
    while queue:
        url = queue.popleft()
        response, body = fetch.get(url)
        digest = hashlib.sha1(body).hexdigest()
        visits[url] = Visit(response.status, response.getheader("Content-Type"), digest, sources[url], kinds[url])
        for kind, target in _targets(url, response, body, known_links):
            if urlsplit(target).netloc not in allowed:
                continue
            if target not in sources:
                sources[target], kinds[target] = set(), set()
                queue.append(target)
            sources[target].add(url)
            kinds[target].add(kind)
    fetch.close()
    return visits


def absolute(base: str, reference: str) -> str | None:
    """Return a link as an http URL without fragment, or None if it is none. What a request cannot carry is encoded."""
    try:
        parts = urlsplit(urldefrag(urljoin(base, reference.strip(" \t\r\n\f")))[0])
    except ValueError:
        return None
    if parts.scheme != "http" or not parts.netloc:
        return None
    path, query = quote(parts.path or "/", safe=_AS_SENT), quote(parts.query, safe=_AS_SENT + "?")
    return urlunsplit(("http", parts.netloc.lower(), path, query, ""))


class _Fetcher:
    """One connection a host, opened anew where the server has closed it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._connections: dict[str, HTTPConnection] = {}

    def get(self, url: str) -> tuple[HTTPResponse, bytes]:
        try:
            return self._ask(url)
        except (HTTPException, OSError):
            self._connections.pop(urlsplit(url).netloc).close()
            return self._ask(url)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _ask(self, url: str) -> tuple[HTTPResponse, bytes]:
        parts = urlsplit(url)
        connection = self._connections.get(parts.netloc)
        if connection is None:
            connection = self._connections[parts.netloc] = HTTPConnection(*self._address, timeout=30)
        headers = {"Host": parts.netloc, "User-Agent": AGENT, "Accept-Encoding": "gzip, deflate"}
        connection.request("GET", urlunsplit(("", "", parts.path, parts.query, "")), headers=headers)
        response = connection.getresponse()
        return response, response.read()


class _Links:
    """Finds the links of pages; a page that is served under several names is parsed once."""

    def __init__(self) -> None:
        self._known: dict[bytes, _LinkParser] = {}

    def of(self, plain: bytes) -> "_LinkParser":
        """Return the links of a page as written."""
        key = hashlib.sha1(plain).digest()
        if key not in self._known:
            parser = self._known[key] = _LinkParser()
            parser.feed(plain.decode("utf-8", "replace"))
            parser.close()
        return self._known[key]


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base: str | None = None
        self.links: dict[tuple[str, str], None] = {}
        """Kind and link as written, each pair once, in the order of the page."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in reversed(attrs) if value is not None}
        if tag == "base":
            self.base = self.base or values.get("href")
        elif tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            found = _REFRESH.match(values.get("content", ""))
            self._add("meta", found[1] if found and found[1] else None)
        elif tag in _ATTRIBUTES:
            kind = f"link {values.get('rel', '')}".lower() if tag == "link" else tag
            self._add(kind, values.get(_ATTRIBUTES[tag]))

    def _add(self, kind: str, link: str | None) -> None:
        if link is not None:
            self.links[kind, link] = None


def _targets(url: str, response: HTTPResponse, body: bytes, known: _Links) -> dict[tuple[str, str], None]:
    """Return where an answer leads: kind and URL, each pair once, in the order of the page."""
    location = response.getheader("Location")
    found: Iterable[tuple[str, str]] = ()
    base = url
    if location is not None and 300 <= response.status < 400:
        found = [("redirect", location)]
    elif response.status == 200 and (response.getheader("Content-Type") or "").startswith("text/html"):
        coded = response.getheader("Content-Encoding") == "gzip"
        page = known.of(zlib.decompress(body, _GZIP) if coded else body)
        base, found = urljoin(url, page.base) if page.base else url, page.links
    return {(kind, target): None for kind, link in found if (target := absolute(base, link)) is not None}
