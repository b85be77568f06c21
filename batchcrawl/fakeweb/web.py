"""What every URL of a synthetic web answers, computed from the seed when it is asked."""

import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.utils import formatdate
from hashlib import blake2b

from batchcrawl.fakeweb.changes import change_rate, version_at
from batchcrawl.fakeweb.layout import FILE_TYPES, Kind, Layout, Resource, canonical_path
from batchcrawl.fakeweb.links import Link, Links
from batchcrawl.fakeweb.lists import LISTS, ListWriter
from batchcrawl.fakeweb.pages import PageWriter
from batchcrawl.fakeweb.robots import MOVED_PATH, RobotsFile, robots_file
from batchcrawl.fakeweb.rolls import roll, stream
from batchcrawl.fakeweb.spec import WebSpec

_REDIRECT_CODES = (301, 302, 303, 307, 308)
_STATUS = {
    Kind.MISSING: 404,
    Kind.GONE: 410,
    Kind.ERROR: 500,
    Kind.FORBIDDEN: 403,
    Kind.AWAY: 302,
    Kind.LOOP: 302,
    Kind.NOWHERE: 302,
}
_REDIRECTS = frozenset({Kind.MOVED, Kind.AWAY, Kind.CHAIN, Kind.LOOP, Kind.NOWHERE})
_START_PAGE_LINKS = 100
_TEXT_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class FakeAnswer:
    """An HTTP answer. Length, framing and Date are added by whoever sends it."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    """The payload, in its content coding."""
    delay_s: float = 0.0
    """How long to wait before it is sent."""
    chunked: bool = False
    """Send the body in chunks."""
    valid_until: float = math.inf
    """Until this instant the URL answers the same."""

    def header(self, name: str) -> str | None:
        """Return the value of a header field, or None."""
        return next((value for field, value in self.headers if field.lower() == name.lower()), None)


class FakeWeb:
    """A web that is a function of its spec. Instants are seconds since 1970 UTC."""

    def __init__(self, spec: WebSpec) -> None:
        self.spec = spec
        self.layout = Layout(spec)
        self._links = Links(spec, self.layout)
        self._writer = PageWriter(spec, self.layout, self._links)
        self._lists = ListWriter(spec, self.layout, self._links)

    def seeds(self) -> Iterator[str]:
        """Return the URLs of the hosts' front pages; all other pages are reachable from them."""
        return (self.layout.url(Resource(host, Kind.PAGE, 0)) for host in range(self.spec.hosts))

    def links(self, resource: Resource) -> list[Link]:
        """Return what a page links to, in order; redirects are not links."""
        return self._links.of(resource)

    def redirect(self, resource: Resource) -> Resource | None:
        """Return where a redirect leads, or None."""
        return self._links.redirect(resource)

    def robots(self, host: int) -> RobotsFile:
        """Return the rules of a host's robots.txt."""
        return robots_file(self.spec, host)

    def charset(self, resource: Resource) -> str:
        """Return the charset of a page, as a browser names it."""
        return self._writer.writing(resource).charset

    def change_rate(self, resource: Resource) -> float:
        """Return the expected changes of a page a day."""
        return change_rate(self.spec.seed, host=resource.host, page=resource.page) if self._changes else 0.0

    def answer(self, host: str, path_query: str, now: float) -> FakeAnswer:
        """Return what a host answers for a path and query, in any spelling, at an instant.

        `host` is a name with or without port. A host that is not of this web shows a start page at `/`
        that links to the seeds, and nothing else.
        """
        number = self.layout.host_number(_name(host))
        if number is None:
            return self._start_page() if canonical_path(path_query) == "/" else _not_found(path_query)
        delay_s = self.host_delay_s(number)
        if path_query in ("/robots.txt", MOVED_PATH):
            sitemap = self.layout.url(Resource(number, Kind.SITEMAP_INDEX, 0))
            return replace(_robots_answer(self.robots(number), path_query, sitemap), delay_s=delay_s)
        resource = self.layout.find(number, path_query)
        if resource is None:
            return replace(_not_found(path_query), delay_s=delay_s)
        return replace(self.resource_answer(resource, now), delay_s=delay_s)

    def host_delay_s(self, host: int) -> float:
        """Return how long a host waits before each answer."""
        slow = "slow" in self.spec.faults and host > 0 and roll(self.spec.seed, "slow", host) % 16 == 0
        return self.spec.slow_s if slow else 0.0

    def resource_answer(self, resource: Resource, now: float) -> FakeAnswer:
        """Return what stands at a resource at an instant, without its host's delay."""
        if resource.kind is Kind.FILE:
            return self._file(resource)
        if resource.kind in LISTS:
            return self._list(resource, now)
        if resource.kind in _REDIRECTS and not (resource.kind is Kind.CHAIN and resource.step == 0):
            return self._redirect(resource)
        if resource.kind in _STATUS:
            status = _STATUS[resource.kind]
            return FakeAnswer(status=status, headers=(("Content-Type", _TEXT_TYPE),), body=f"{status}\n".encode())
        return self._page(resource, now)

    def _page(self, resource: Resource, now: float) -> FakeAnswer:
        version = version_at(self.spec.seed, host=resource.host, page=resource.page, now=now) if self._changes else None
        number = 0 if version is None else version.number
        body, content_type = self._writer.write(resource, number)
        headers = [("Content-Type", content_type)]
        form = roll(self.spec.seed, "form", *_numbers(resource))
        if version is not None and form % 4:
            headers.append(("Last-Modified", formatdate(math.floor(version.changed_at), usegmt=True)))
        if form % 4 > 1:
            headers.append(("ETag", _etag(body)))
        if "gzip" in self.spec.faults and form // 4 % 4 == 0 and resource.kind is Kind.PAGE:
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers.append(("Content-Encoding", "gzip"))
        chunked = "chunked" in self.spec.faults and form // 16 % 8 == 0
        until = math.inf if version is None else version.valid_until
        return FakeAnswer(status=200, headers=tuple(headers), body=body, chunked=chunked, valid_until=until)

    @property
    def _changes(self) -> bool:
        return "changes" in self.spec.faults

    def _redirect(self, resource: Resource) -> FakeAnswer:
        chance = roll(self.spec.seed, "code", *_numbers(resource))
        status = _STATUS.get(resource.kind) or _REDIRECT_CODES[chance % len(_REDIRECT_CODES)]
        headers = [("Content-Type", "text/html")]
        target = self._links.redirect(resource)
        if target is not None:
            relative = target.host == resource.host and chance // 8 % 2 == 0
            headers.append(("Location", self.layout.path(target) if relative else self.layout.url(target)))
        return FakeAnswer(status=status, headers=tuple(headers), body=b"<p>It is elsewhere.</p>\n")

    def _file(self, resource: Resource) -> FakeAnswer:
        _, content_type = FILE_TYPES[resource.page % len(FILE_TYPES)]
        body = stream(self.spec.seed, "file", resource.host, resource.page).randbytes(self.spec.page_bytes)
        return FakeAnswer(status=200, headers=(("Content-Type", content_type),), body=body)

    def _list(self, resource: Resource, now: float) -> FakeAnswer:
        body, content_type, until = self._lists.write(resource, now)
        headers = (("Content-Type", content_type), ("ETag", _etag(body)))
        return FakeAnswer(status=200, headers=headers, body=body, valid_until=until)

    def _start_page(self) -> FakeAnswer:
        shown = range(min(self.spec.hosts, _START_PAGE_LINKS))
        urls = [self.layout.url(Resource(host, Kind.PAGE, 0)) for host in shown]
        items = "".join(f'<li><a href="{url}">{url}</a></li>\n' for url in urls)
        body = f"<!DOCTYPE html>\n<title>A synthetic web</title>\n<ul>\n{items}</ul>\n".encode()
        return FakeAnswer(status=200, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body)


def not_modified(answer: FakeAnswer, *, if_none_match: str | None, if_modified_since: str | None) -> bool:
    """Tell whether a conditional request for this answer is to be answered by 304 (RFC 9110, 13.2.2)."""
    if answer.status != 200:
        return False
    etag, modified = answer.header("etag"), answer.header("last-modified")
    if if_none_match is not None:
        tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
        return "*" in tags or etag in tags
    # Dates are compared as text: a crawler hands back the one that it was given.
    return modified is not None and if_modified_since == modified


def _name(host: str) -> str:
    return host.partition(":")[0].lower().rstrip(".")


def _etag(body: bytes) -> str:
    return f'"{blake2b(body, digest_size=8).hexdigest()}"'


def _numbers(resource: Resource) -> tuple[int, int, int, int]:
    return resource.host, list(Kind).index(resource.kind), resource.page, resource.step


def _not_found(path_query: str) -> FakeAnswer:
    body = f"There is nothing at {path_query[:200]}\n".encode(errors="replace")
    return FakeAnswer(status=404, headers=(("Content-Type", _TEXT_TYPE),), body=body)


def _robots_answer(file: RobotsFile, path: str, sitemap: str) -> FakeAnswer:
    if file.moved and path != MOVED_PATH:
        return FakeAnswer(status=301, headers=(("Location", MOVED_PATH),))
    if file.status != 200 or (path == MOVED_PATH and not file.moved):
        return FakeAnswer(status=404 if file.status == 200 else file.status, headers=(("Content-Type", _TEXT_TYPE),))
    return FakeAnswer(status=200, headers=(("Content-Type", _TEXT_TYPE),), body=file.text(sitemap).encode())
