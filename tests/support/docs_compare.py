"""Compares a crawl with a walk of the same sites, and finds the rule behind each difference."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.walk import Visit

UNEXPLAINED = "UNEXPLAINED"


@dataclass
class CrawledPage:
    """What a crawl says of one canonical URL."""

    outcome: str
    """As in the fetch log."""
    media_type: str = ""
    digest: str | None = None
    """SHA-1 of the body as sent, hexadecimal."""
    links_cut: bool = False
    """Links behind the job's `parse.links_max` were left out."""

    @property
    def fetched(self) -> bool:
        """The body of a page was stored."""
        return self.outcome == "fetched"


@dataclass(frozen=True)
class Difference:
    """A URL that only one side has."""

    url: str
    media_type: str
    only: str
    """`walk` or `crawl`."""
    rule: str
    """What caused it; UNEXPLAINED where nothing was found."""


@dataclass
class Comparison:
    """Both sides by media type, and what sets them apart."""

    walked: Counter[str] = field(default_factory=Counter)
    crawled: Counter[str] = field(default_factory=Counter)
    both: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    other_bodies: list[str] = field(default_factory=list)
    """URLs of both sides whose bodies differ."""

    def unexplained(self) -> list[Difference]:
        """Return the differences without a rule."""
        return [difference for difference in self.differences if difference.rule == UNEXPLAINED]


def compare(
    walked: Mapping[str, Visit], crawled: Mapping[str, CrawledPage], *, canonical: Callable[[str], str]
) -> Comparison:
    """Compare the pages (answers of status 200) that both sides fetched.

    The walk's URLs are as written but for the fragment; where canonicalising one leads to a page that is asked for by
    another spelling, that is a difference with a rule of its own.
    """
    result = Comparison()
    pages = {url: visit for url, visit in walked.items() if visit.status == 200}
    stored = {url: page for url, page in crawled.items() if page.fetched}
    rules = _Rules(walked, crawled, canonical)
    for url, visit in pages.items():
        result.walked[visit.media_type] += 1
        if url in stored:
            result.both[visit.media_type] += 1
            if stored[url].digest != visit.digest:
                result.other_bodies.append(url)
        else:
            result.differences.append(Difference(url, visit.media_type, "walk", rules.of_missing(url)))
    by_canonical = {canonical(url) for url in pages}
    for url, page in stored.items():
        result.crawled[page.media_type] += 1
        if url not in pages:
            rule = "canonical URL: the walk knows another spelling" if url in by_canonical else UNEXPLAINED
            result.differences.append(Difference(url, page.media_type, "crawl", rule))
    return result


FOLLOWED_RELS = frozenset({"alternate", "next", "prev"})
"""A link element of another rel, or of a stylesheet, leads to no page that the crawl would take."""


def _is_followed(kind: str) -> bool:
    rels = set(kind.split()[1:])
    return not kind.startswith("link") or bool(rels & FOLLOWED_RELS and "stylesheet" not in rels)


class _Rules:
    """Finds why the crawl does not have a page that the walk has."""

    def __init__(
        self, walked: Mapping[str, Visit], crawled: Mapping[str, CrawledPage], canonical: Callable[[str], str]
    ) -> None:
        self._walked = walked
        self._crawled = crawled
        self._canonical = canonical

    def of_missing(self, url: str) -> str:
        """Return the rule, or UNEXPLAINED."""
        known = self._crawled.get(self._canonical(url))
        if known is None:
            return self._of_unknown(url)
        if known.fetched:
            return "canonical URL: the crawl knows it by another spelling"
        return _of_outcome(known)

    def _of_unknown(self, url: str) -> str:
        """Return why the crawl never heard of a URL.

        Either no link to it is of a kind that is followed. Or, going back over all pages that lead to it, each page
        that the crawl knows is one whose links it rightly did not take.
        """
        kinds = self._walked[url].kinds
        if kinds and not any(_is_followed(kind) for kind in kinds):
            return f"not followed: {', '.join(sorted(kinds))}"
        causes: set[str] = set()
        seen, waiting = {url}, [url]
        while waiting:
            sources = self._walked[waiting.pop()].sources
            if not sources:
                return UNEXPLAINED  # a start
            for source in sources - seen:
                seen.add(source)
                known = self._crawled.get(self._canonical(source))
                if known is None:
                    waiting.append(source)
                else:
                    causes.add(_of_source(known))
        if not causes or UNEXPLAINED in causes:
            return UNEXPLAINED
        return "; ".join(sorted(causes))


def _of_source(page: CrawledPage) -> str:
    """Return why the links of a known page are unknown."""
    if not page.fetched:
        rule = _of_outcome(page)
        return rule if rule == UNEXPLAINED else f"reached only through what is left out by {rule}"
    return "parse.links_max cut the links of the page that leads to it" if page.links_cut else UNEXPLAINED


def _of_outcome(page: CrawledPage) -> str:
    """Return why a known page was not fetched."""
    if page.outcome == "skipped_type":
        return f"fetch.content_types, which do not name {page.media_type}"
    return "robots.txt" if page.outcome == "robots_denied" else UNEXPLAINED
