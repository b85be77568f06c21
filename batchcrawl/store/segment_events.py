"""What a segment says of each URL of a partition: its visit and the links to it, in the order of fingerprints."""

import heapq
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.rejection import TRAPS
from batchcrawl.policy.visits import Visit
from batchcrawl.store.records import read_lines, read_log
from batchcrawl.store.segment import Segment

OTHER_FILES = 1200
"""Files that may be open beside those of links, most of them LevelDB's."""


class PageBrief(msgspec.Struct, gc=False):
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


@dataclass
class Event:
    """All that a segment says of one URL."""

    fp: str
    visit: Visit | None = None
    link: LinkBrief | None = None
    """The one of least depth, then of the least source; with the least hops, the last date and the sites of all."""


def segment_events(
    segment: Segment, partition: int, *, canonical: Callable[[str], str], at: int, after: str
) -> Iterator[Event]:
    """Yield what the segment says of each URL of the partition behind the fingerprint `after`, in hex.

    `canonical` gives the canonical form of a URL, `at` is the instant of what has none of its own.
    """
    visits = sorted(_visits(segment, partition, canonical, at), key=attrgetter("fp"))
    paths = segment.listed("parse", end=f".links-{partition}.jsonl.zst")
    _allow_open_files(len(paths))
    streams = [read_lines(path, LinkBrief) for path in paths]
    links = heapq.merge(*streams, key=attrgetter("fp"))
    both: Iterator[Event | LinkBrief] = heapq.merge(visits, links, key=attrgetter("fp"))
    for fp, group in groupby(both, key=attrgetter("fp")):
        if fp <= after:
            continue
        event = Event(fp)
        for part in group:
            if isinstance(part, Event):
                event.visit = part.visit
            else:
                event.link = part if event.link is None else _together(event.link, part)
        yield event


def _together(link: LinkBrief, other: LinkBrief) -> LinkBrief:
    best, rest = (other, link) if (other.depth, other.source) < (link.depth, link.source) else (link, other)
    best.hops = min(best.hops, rest.hops)
    if rest.lastmod_at is not None and (best.lastmod_at is None or rest.lastmod_at > best.lastmod_at):
        best.lastmod_at, best.lastmod_until = rest.lastmod_at, rest.lastmod_until
    if rest.leads_to is not UrlKind.PAGE:
        best.leads_to = rest.leads_to
    if rest.sites:
        best.sites = sorted({*best.sites, *rest.sites})
    return best


def _allow_open_files(files: int) -> None:
    """Raise the soft limit of open files as far as is needed: all files of links are merged at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + OTHER_FILES
    if wanted > soft != resource.RLIM_INFINITY:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _visits(segment: Segment, partition: int, canonical: Callable[[str], str], at: int) -> Iterator[Event]:
    pages = segment.listed("parse", start=f"{partition}-", end=".pages.jsonl.zst")
    briefs = {brief.fp: brief for path in pages for brief in read_lines(path, PageBrief)}
    for line in read_log(segment.paths.fetch_log(partition), FetchLogLine, sealed=True):
        brief = briefs.get(line.fp)
        found = line.outcome is FetchOutcome.FETCHED and brief is not None and brief.failed is None
        visit = Visit(
            outcome=line.outcome,
            at=int(line.ended_at or at),
            segment=segment.id,
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
            redirect=canonical(line.redirect) if line.redirect is not None else None,
            truncated=line.truncated is not None,
            requests=line.tries,
            body_bytes=line.body_bytes or 0,
            parsed=brief is not None and brief.failed is None,
            kind=brief.kind if found and brief is not None else None,
            signature=bytes.fromhex(brief.signature) if brief is not None and brief.signature else None,
            simhash=bytes.fromhex(brief.simhash) if brief is not None and brief.simhash else None,
            trapped=brief.trapped if brief is not None else {},
        )
        yield Event(line.fp, visit)
