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
        self._found: dict[str, str] = {}

    def of_missing(self, url: str) -> str:
        """Return the rule, or UNEXPLAINED."""
        if url not in self._found:
            self._found[url] = UNEXPLAINED  # what is only reached by way of itself has no rule
            self._found[url] = self._find(url)
        return self._found[url]

    def _find(self, url: str) -> str:
        known = self._crawled.get(self._canonical(url))
        if known is None:
            return self._by_links(self._walked[url])
        if known.fetched:
            return "canonical URL: the crawl knows it by another spelling"
        if known.outcome == "skipped_type":
            return f"fetch.content_types: {known.media_type} is not kept"
        if known.outcome == "robots_denied":
            return "robots.txt forbids it"
        return UNEXPLAINED

    def _by_links(self, visit: Visit) -> str:
        """Return why it is rightly unknown.

        Either no link to it is of a kind that is followed, or each page with one is missing by a rule or had its links
        cut.
        """
        if visit.kinds and not any(_is_followed(kind) for kind in visit.kinds):
            return f"not followed: {', '.join(sorted(visit.kinds))}"
        rules = {self._by_source(source) for source in visit.sources}
        if not rules or UNEXPLAINED in rules:
            return UNEXPLAINED
        return "; ".join(sorted(rules))

    def _by_source(self, source: str) -> str:
        page = self._crawled.get(self._canonical(source))
        if page is not None and page.fetched:
            return "parse.links_max cuts the links of the page that links to it" if page.links_cut else UNEXPLAINED
        rule = self.of_missing(source)
        return rule if rule == UNEXPLAINED or rule.startswith("reached only") else f"reached only through what {rule}"
