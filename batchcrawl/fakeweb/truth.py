"""What a crawl of a synthetic web must find: every reachable URL and its answer, from generation alone.

Nothing here parses HTML or talks to a server; the links come from the graph that the pages were written from.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.lists import LISTS
from batchcrawl.fakeweb.web import FakeAnswer, FakeWeb
from batchcrawl.model.outcome import FetchOutcome

TYPES_KEPT = frozenset({"text/html"})
"""Sitemaps and feeds are kept, too."""
_NAMED = frozenset({Kind.SITEMAP_INDEX, Kind.SITEMAP})
_OUTCOMES = {
    403: FetchOutcome.DENIED,
    404: FetchOutcome.NOT_FOUND,
    410: FetchOutcome.GONE,
    500: FetchOutcome.SERVER_ERROR,
}


class TruthLine(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What one URL must answer. Absent fields are left out."""

    url: str
    """The canonical URL."""
    host: str
    depth: int
    """Links from the nearest seed; the target of a redirect is one further than the redirect."""
    expect: FetchOutcome
    status: int | None = None
    """HTTP status; absent where robots.txt forbids to ask."""
    redirect: str | None = None
    """The canonical URL that a redirect leads to."""
    content_type: str | None = None
    body_bytes: int | None = None
    digest: str | None = None
    """`sha1:` and base32 of the body as sent, at the instant of the truth."""
    charset: str | None = None
    """What a browser decodes the page by (WHATWG label)."""
    duplicate_of: str | None = None
    """The page that has the same text."""
    changes_per_day: float = 0.0
    """The page's expected rate of change."""


def truth(
    web: FakeWeb,
    *,
    at: float,
    product_token: str = "batchcrawl",
    obey_nofollow: bool = False,
    types_kept: frozenset[str] = TYPES_KEPT,
    seeds: Iterable[Resource] | None = None,
) -> Iterator[TruthLine]:
    """Return a line for every URL that a crawl from the seeds reaches, nearest first, at an instant.

    `product_token` is the crawler's name in robots.txt; `types_kept` the content types that its job keeps;
    the seeds are the front pages of all hosts unless others are given. Memory grows with the URLs reached.
    """
    for resource, depth in _walk(web, product_token, obey_nofollow=obey_nofollow, seeds=seeds):
        yield _line(web, resource, depth, product_token=product_token, at=at, types_kept=types_kept)


def resources(web: FakeWeb) -> Iterator[Resource]:
    """Return everything that is reachable from the front pages when robots.txt is obeyed."""
    return (resource for resource, _ in _walk(web, "batchcrawl", obey_nofollow=False, seeds=None))


def _walk(
    web: FakeWeb, product_token: str, *, obey_nofollow: bool, seeds: Iterable[Resource] | None
) -> Iterator[tuple[Resource, int]]:
    fronts = (Resource(host, Kind.PAGE, 0) for host in range(web.spec.hosts))
    level = list(dict.fromkeys(fronts if seeds is None else seeds))
    seen, depth = set(level), 0
    while level:
        coming: list[Resource] = []
        for resource in level:  # grows as it is walked: sitemaps are as deep as what names them
            yield resource, depth
            for target in _targets(web, resource, product_token, obey_nofollow=obey_nofollow):
                if target not in seen:
                    seen.add(target)
                    (level if target.kind in _NAMED else coming).append(target)
        level, depth = coming, depth + 1


def _targets(web: FakeWeb, resource: Resource, product_token: str, *, obey_nofollow: bool) -> Iterator[Resource]:
    if web.robots(resource.host).sitemap:
        yield Resource(resource.host, Kind.SITEMAP_INDEX, 0)
    if _denied(web, resource, product_token):
        return
    target = web.redirect(resource)
    if target is not None:
        yield target
    for link in web.links(resource):
        if link.follow or not obey_nofollow:
            yield link.target


def _denied(web: FakeWeb, resource: Resource, product_token: str) -> bool:
    return web.robots(resource.host).denies(product_token, web.layout.path(resource))


def _line(
    web: FakeWeb, resource: Resource, depth: int, *, product_token: str, at: float, types_kept: frozenset[str]
) -> TruthLine:
    url, host = web.layout.url(resource), web.layout.host_name(resource.host)
    if _denied(web, resource, product_token):
        return TruthLine(url=url, host=host, depth=depth, expect=FetchOutcome.ROBOTS_DENIED)
    answer = web.resource_answer(resource, at)
    line = TruthLine(
        url=url, host=host, depth=depth, expect=_outcome(resource.kind, answer, types_kept), status=answer.status
    )
    line.content_type = answer.header("content-type")
    target = web.redirect(resource)
    line.redirect = None if target is None else web.layout.url(target)
    if line.expect is not FetchOutcome.FETCHED:
        return line
    line.body_bytes = len(answer.body)
    line.digest = "sha1:" + base64.b32encode(hashlib.sha1(answer.body).digest()).decode()
    if resource.kind in LISTS:
        return line
    line.charset = web.charset(resource)
    line.changes_per_day = web.change_rate(resource)
    if resource.kind is Kind.PRINT:
        line.duplicate_of = web.layout.url(Resource(resource.host, Kind.PAGE, resource.page))
    return line


def _outcome(kind: Kind, answer: FakeAnswer, types_kept: frozenset[str]) -> FetchOutcome:
    if answer.status == 200 and kind in LISTS:
        return FetchOutcome.FETCHED
    if answer.status == 200:
        essence = (answer.header("content-type") or "").partition(";")[0].strip()
        return FetchOutcome.FETCHED if essence in types_kept else FetchOutcome.SKIPPED_TYPE
    if 300 <= answer.status < 400:
        return FetchOutcome.REDIRECT_INVALID if answer.header("location") is None else FetchOutcome.REDIRECT
    return _OUTCOMES[answer.status]
