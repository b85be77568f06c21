"""Which resources each page links to. Known from generation, never by reading HTML."""

from functools import lru_cache
from typing import NamedTuple

from batchcrawl.fakeweb.layout import SITEMAP_PAGES, TRAP_KINDS, Kind, Layout, Resource
from batchcrawl.fakeweb.rolls import roll, stream
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.traps import Spot, new_session, trap_entrance, trap_ways

_TREE_WIDTH = 8
_OFF_HOST_SHARE = 0.1
_EXTRA_SHARE = 0.1
_NEAR_PAGES = 64
_FEED_PAGES = 10


class Link(NamedTuple):
    """A link of a page. `follow` is false where it carries rel=nofollow."""

    target: Resource
    follow: bool = True


class Links:
    """The link graph of one web."""

    def __init__(self, spec: WebSpec, layout: Layout) -> None:
        self._spec = spec
        self._layout = layout
        # A page is asked for its links when it is written and when it is walked, one soon after the other.
        self._recent = lru_cache(maxsize=256)(self._of_page)
        self._width = min(_TREE_WIDTH, spec.links)

    def of(self, resource: Resource) -> list[Link]:
        """Return the links of a resource in their order on the page; a redirect has none."""
        host, kind, page, step = resource
        if kind in (Kind.PAGE, Kind.PRINT):
            return list(self._recent(host, page))
        if kind in (Kind.PRIVATE, Kind.OPEN, Kind.UNFOLLOWED, Kind.HIDDEN) or (kind is Kind.CHAIN and step == 0):
            return [Link(Resource(host, Kind.PAGE, page)), Link(Resource(host, Kind.PAGE, 0))]
        if kind is Kind.REFRESH:
            return [Link(Resource(host, Kind.PAGE, page))]
        if kind is Kind.SESSION:
            return [self._in_session(resource, link, at) for at, link in enumerate(self._recent(host, page))]
        if kind in TRAP_KINDS:
            ways = trap_ways(kind.value, Spot(page, step), seed=self._spec.seed, host=host)
            return [Link(Resource(host, kind, *spot)) for spot in ways]
        return [Link(target) for target in self._listed(host, kind, page)]

    def redirect(self, resource: Resource) -> Resource | None:
        """Return the target of a redirect, or None for any other resource and for one that leads nowhere."""
        host, kind, page, step = resource
        if kind is Kind.MOVED:
            return Resource(host, Kind.PAGE, self._some_page(host, roll(self._spec.seed, "moved", host, page), page))
        if kind is Kind.AWAY:
            chance = roll(self._spec.seed, "away", host, page)
            other = chance % self._spec.hosts
            return Resource(other, Kind.PAGE, self._some_page(other, chance >> 32, 0))
        if kind is Kind.CHAIN and step:
            return resource._replace(step=step - 1)
        if kind is Kind.LOOP:
            return resource._replace(step=1 - step)
        return None

    def _of_page(self, host: int, page: int) -> list[Link]:
        found = [Link(target) for target in self._children(host, page)]
        extra = self._layout.extra(host, page)
        if extra is not None and extra.kind is not Kind.HIDDEN:
            found.append(_link(extra))
        if page == 0:
            found += [Link(Resource(host, kind, *trap_entrance(kind.value))) for kind in self._layout.traps]
        if page == 0 and self._layout.has_lists(host):
            found.append(Link(Resource(host, Kind.FEED, 0)))
        chance = stream(self._spec.seed, "links", host, page)
        while len(found) < self._spec.links:
            found.append(self._at_random(host, page, off_host=chance.random(), number=chance.getrandbits(62)))
        # The tree's links stand among the others, but the order is the page's own for ever.
        chance.shuffle(found)
        return found

    def _in_session(self, resource: Resource, link: Link, position: int) -> Link:
        if link.target.kind is not Kind.PAGE or link.target.host != resource.host:
            return link
        step = new_session(self._spec.seed, host=resource.host, step=resource.step, position=position)
        return Link(Resource(resource.host, Kind.SESSION, link.target.page, step), link.follow)

    def _children(self, host: int, page: int) -> list[Resource]:
        first = page * self._width + 1
        numbers = range(first, first + self._width)
        found = [Resource(host, Kind.PAGE, child) for child in numbers if self._layout.has_page(host, child)]
        if page == 0:
            first = host * self._width + 1
            hosts = range(first, min(first + self._width, self._spec.hosts))
            found += [Resource(other, Kind.PAGE, 0) for other in hosts]
        return found

    def _at_random(self, host: int, page: int, *, off_host: float, number: int) -> Link:
        if off_host < _OFF_HOST_SHARE:
            host, page, number = number % self._spec.hosts, 0, number // self._spec.hosts
        target = self._some_page(host, number >> 8, page)
        if number % 256 < 256 * _EXTRA_SHARE:
            extra = self._layout.extra(host, target)
            if extra is not None and extra.kind is not Kind.HIDDEN:
                return _link(extra)
        return Link(Resource(host, Kind.PAGE, target))

    def _listed(self, host: int, kind: Kind, number: int) -> list[Resource]:
        """Return what a sitemap index, sitemap or feed lists."""
        count = self._layout.page_count(host) or 0
        if kind is Kind.SITEMAP_INDEX:
            return [Resource(host, Kind.SITEMAP, part) for part in range(self._layout.sitemaps(host))]
        if kind is Kind.FEED:
            return [Resource(host, Kind.PAGE, page) for page in range(max(0, count - _FEED_PAGES), count)]
        if kind is not Kind.SITEMAP:
            return []
        pages = range(number * SITEMAP_PAGES, min(count, (number + 1) * SITEMAP_PAGES))
        extras = filter(None, (self._layout.extra(host, page) for page in pages))
        hidden = [extra for extra in extras if extra.kind is Kind.HIDDEN]
        return [*(Resource(host, Kind.PAGE, page) for page in pages), *hidden]

    def _some_page(self, host: int, number: int, near: int) -> int:
        count = self._layout.page_count(host)
        # An endless host has no last page; links then reach about four times as far as the page's own number.
        return number % (count or max(_NEAR_PAGES, 4 * near))


def _link(extra: Resource) -> Link:
    return Link(extra, follow=extra.kind is not Kind.UNFOLLOWED)
