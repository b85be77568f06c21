"""What a segment says of each URL of a partition: its visit, what it is to other pages, and the links to it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter

import msgspec

from batchcrawl.model.entries import FetchLogLine, Line
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.rejection import TRAPS
from batchcrawl.policy.linking import joined, sketch_of
from batchcrawl.policy.seen import Verdict
from batchcrawl.policy.visits import Visit
from batchcrawl.store.keys import DOMAIN_PART_BYTES
from batchcrawl.store.open_files import allow_open_files
from batchcrawl.store.records import read_blocks, read_lines, read_log
from batchcrawl.store.runs import merged
from batchcrawl.store.segment import Segment

DOMAIN_DIGITS = 2 * DOMAIN_PART_BYTES
OTHER_FILES = 1200
"""Files that may be open beside those of links, most of them LevelDB's."""


class PageBrief(Line):
    """The part of a page line that the crawldb takes over."""

    fp: str
    failed: str | None = None
    kind: UrlKind = UrlKind.PAGE
    signature: str | None = None
    simhash: str | None = None
    rejected: dict[str, int] = {}

    @property
    def trapped(self) -> dict[str, int]:
        """The links that traps kept out, by reason."""
        if not self.rejected:
            return {}
        return {reason: times for reason, times in self.rejected.items() if reason in TRAPS}


class LinkBrief(msgspec.Struct, gc=False):
    """The part of a link line that the crawldb takes over; of several to one URL, what they say together."""

    fp: str
    url: str
    source: str
    depth: int
    hops: int = 0
    linked: str | None = None
    lastmod_at: int | None = None
    lastmod_until: int | None = None
    leads_to: UrlKind = UrlKind.PAGE
    sites: list[str] = []


@dataclass(slots=True)
class Event:
    """All that a segment says of one URL."""

    fp: str
    visit: Visit | None = None
    verdict: Verdict | None = None
    link: LinkBrief | None = None
    """The one of least depth, then of the least source; with the least hops, the last date and the sites of all."""
    inlinks: int = 0
    """Sketch of the other registered domains that the links come from."""
    unfollowed: int = 0
    """Links that are not taken since their page is a duplicate."""


@dataclass(frozen=True)
class Verdicts:
    """What the pages of a segment are to others."""

    of: dict[str, Verdict]
    """By the fingerprint of a page of one partition; whoever is not in it is like no other."""
    unfollowed: frozenset[str]
    """Fingerprints of the pages of all partitions whose links are not taken."""


@dataclass(frozen=True)
class Reader:
    """Reads what a segment says of the URLs of a partition."""

    segment: Segment
    partition: int
    canonical: Callable[[str], str]
    """Gives the canonical form of a URL."""
    at: int
    """The instant of what has none of its own."""

    def events(self, verdicts: Verdicts, *, after: str) -> Iterator[Event | LinkBrief]:
        """Yield what there is on each URL behind the fingerprint `after`, in hex, in the order of fingerprints.

        That of most is links of their own domain and nothing else; it comes as the one link that says what they all do.
        """
        visits = {
            event.fp: event for event in self.visits(read_lines(self.segment.paths.briefs(self.partition), PageBrief))
        }
        for fp, verdict in verdicts.of.items():
            visits.setdefault(fp, Event(fp)).verdict = verdict
        seen = iter(sorted((event for fp, event in visits.items() if fp > after), key=_FP))
        event = next(seen, None)
        for fp, links in self._links():
            while event is not None and event.fp < fp:
                yield event
                event = next(seen, None)
            if event is not None and event.fp == fp:
                yield _with_links(event, links, verdicts.unfollowed)
                event = next(seen, None)
            elif fp > after:
                yield _of_links(fp, links, verdicts.unfollowed)
        if event is not None:
            yield event
        yield from seen

    def _links(self) -> Iterator[tuple[str, list[LinkBrief]]]:
        """Yield the links by their targets, in the order of fingerprints."""
        paths = self.segment.listed("parse", end=f".links-{self.partition}.jsonl.zst")
        allow_open_files(len(paths) + OTHER_FILES)  # all are merged at once
        at_once = min(max(_HELD_BYTES // max(len(paths), 1), _BYTES_AT_ONCE_MIN), _BYTES_AT_ONCE_MAX)
        runs = [read_blocks(path, LinkBrief, bytes_at_once=at_once) for path in paths]
        for links in merged(runs, key=_FP):
            fps = list(map(_FP, links))
            start, count = 0, len(fps)
            while start < count:
                fp, end = fps[start], start + 1
                while end < count and fps[end] == fp:
                    end += 1
                yield fp, links[start:end]
                start = end

    def visits(self, briefs: Iterable[PageBrief]) -> list[Event]:
        """Return the visits with what was found, in the order of fingerprints."""
        found = {brief.fp: brief for brief in briefs}
        log = read_log(self.segment.paths.fetch_log(self.partition), FetchLogLine, sealed=True)
        return sorted((Event(line.fp, self._visit(line, found.get(line.fp))) for line in log), key=_FP)

    def briefs_of_pages(self) -> list[PageBrief]:
        """Return what the crawldb takes over of the pages: their texts are passed over, which takes its time."""
        paths = self.segment.listed("parse", start=f"{self.partition}-", end=".pages.jsonl.zst")
        return [brief for path in paths for brief in read_lines(path, PageBrief)]

    def _visit(self, line: FetchLogLine, brief: PageBrief | None) -> Visit:
        found = line.outcome is FetchOutcome.FETCHED and brief is not None and brief.failed is None
        return Visit(
            outcome=line.outcome,
            at=int(line.ended_at or self.at),
            segment=self.segment.id,
            depth=line.depth,
            hops=line.hops,
            http_status=line.status,
            etag=line.etag,
            last_modified=line.last_modified,
            digest=line.digest,
            content_type=line.content_type,
            content_encoding=line.content_encoding,
            body_at=line.started_at if line.revisit is None else line.body_at,
            revisit=line.revisit is not None,
            redirect=self.canonical(line.redirect) if line.redirect is not None else None,
            truncated=line.truncated is not None,
            requests=line.tries,
            body_bytes=line.body_bytes or 0,
            parsed=brief is not None and brief.failed is None,
            kind=brief.kind if found and brief is not None else None,
            signature=bytes.fromhex(brief.signature) if brief is not None and brief.signature else None,
            simhash=bytes.fromhex(brief.simhash) if brief is not None and brief.simhash else None,
            trapped=brief.trapped if brief is not None else {},
        )


_FP: Callable[[Event | LinkBrief], str] = attrgetter("fp")
_HELD_BYTES = 1 << 19
"""Held of all files of links, as compressed; in memory that is fifty times as much."""
_BYTES_AT_ONCE_MIN, _BYTES_AT_ONCE_MAX = 1 << 11, 1 << 14
"""Read of each of them at once: there may be hundreds."""


def _of_links(fp: str, links: list[LinkBrief], unfollowed: frozenset[str]) -> Event | LinkBrief:
    """Return what the links say where nothing else is said of a URL."""
    domain = fp[:DOMAIN_DIGITS]
    for link in links:
        source = link.source
        if source in unfollowed or (source and not source.startswith(domain)):
            return _with_links(Event(fp), links, unfollowed)
    return reduce(_one_link, links)


def _with_links(event: Event, links: list[LinkBrief], unfollowed: frozenset[str]) -> Event:
    if unfollowed:
        taken = [link for link in links if link.source not in unfollowed]
        event.unfollowed, links = len(links) - len(taken), taken
    for link in links:
        event.link = link if event.link is None else _one_link(event.link, link)
        if link.source[:DOMAIN_DIGITS] not in ("", event.fp[:DOMAIN_DIGITS]):
            event.inlinks = joined(event.inlinks, sketch_of(int(link.source[:DOMAIN_DIGITS], 16)))
    return event


def _one_link(link: LinkBrief, other: LinkBrief) -> LinkBrief:
    best, rest = link, other
    if other.depth < link.depth or (other.depth == link.depth and other.source < link.source):
        best, rest = other, link
    best.hops = min(best.hops, rest.hops)
    if rest.lastmod_at is not None and (best.lastmod_at is None or rest.lastmod_at > best.lastmod_at):
        best.lastmod_at, best.lastmod_until = rest.lastmod_at, rest.lastmod_until
    if rest.leads_to is not UrlKind.PAGE:
        best.leads_to = rest.leads_to
    if rest.sites:
        best.sites = sorted({*best.sites, *rest.sites})
    return best
