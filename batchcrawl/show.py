"""Show: one URL of the crawldb, and what a segment holds.

Reads: crawldb, files of a segment. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchEntry, FetchLogLine, LinkLine, PageLine, RejectionLine
from batchcrawl.model.host import HostRecord, RobotsCopy
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.portable import record_row
from batchcrawl.store.records import read_lines, read_log
from batchcrawl.store.segment import Segment, find_segment
from batchcrawl.store.warc_reader import StoredResponse, read_exchange
from batchcrawl.web.codings import decode_body
from batchcrawl.web.fingerprint import HOST_PART_BYTES, partition_of
from batchcrawl.web.robots.rules import Decision, RobotsRules
from batchcrawl.web.urls import host_key, parse_url, requested_url


@dataclass(frozen=True)
class Located:
    """A URL with its place in the crawl."""

    canonical: str
    fingerprint: bytes
    partition: int


def locate(crawl: Crawl, url: str) -> Located:
    """Return where a URL stands in the crawl. Raises UsageError for what is no http or https URL."""
    parsed = parse_url(url)
    if parsed is None or not parsed.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no http or https URL")
    canonical = crawl.canonical(parsed)
    fingerprint = crawl.fingerprinter().of(canonical)
    return Located(canonical, fingerprint, partition_of(fingerprint, crawl.partitions))


def known_url(crawl: Crawl, located: Located) -> tuple[UrlRecord, HostRecord | None] | None:
    """Return what the crawldb knows of a URL and its host, or None."""
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        entry = db.load(located.fingerprint)
        return None if entry is None else (entry.record, db.host(entry.host_part))


def dump(crawl: Crawl, *, duplicates: bool) -> Iterator[dict[str, Any]]:
    """Yield every record of a URL, host or domain as a JSON-able row, in the order of keys; of duplicates if asked."""
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for fingerprint, record in db.records():
                if record.status is PageStatus.DUPLICATE and not duplicates:
                    continue
                yield {"fp": fingerprint.hex(), **record_row(record)}
            for part, host in db.hosts():
                yield {"host_part": part.hex(), **msgspec.to_builtins(host)}
            for part, domain in db.domains():
                yield {"domain_part": part.hex(), **msgspec.to_builtins(domain)}


def fetch_list(segment: Segment) -> Iterator[FetchEntry]:
    """Yield the fetch list of a segment."""
    for p in range(segment.manifest.partitions):
        yield from read_lines(segment.paths.fetch_list(p), FetchEntry)


def outcomes(segment: Segment) -> Iterator[FetchLogLine]:
    """Yield the outcomes of a segment so far, in the order in which they were logged."""
    for p in range(segment.manifest.partitions):
        yield from _outcomes_of(segment, p)


def stays(crawl: Crawl, located: Located) -> Iterator[tuple[Segment, FetchLogLine | None]]:
    """Yield the segments that a URL was handed to, the oldest first, each with its outcome if there is one yet.

    Reads the fetch lists of all segments, of the partition that the URL belongs to.
    """
    wanted, p = located.fingerprint.hex(), located.partition
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        if any(entry.fp == wanted for entry in read_lines(segment.paths.fetch_list(p), _FetchBrief)):
            yield segment, next((line for line in _outcomes_of(segment, p) if line.fp == wanted), None)


class _FetchBrief(msgspec.Struct, gc=False):
    fp: str


def _outcomes_of(segment: Segment, p: int) -> Iterator[FetchLogLine]:
    path = segment.paths.fetch_log(p)
    fetched = segment.is_done("fetched")
    if fetched or path.exists():
        yield from read_log(path, FetchLogLine, sealed=fetched)


def outcome_of(segment: Segment, located: Located) -> FetchLogLine:
    """Return the outcome of one URL. Raises UsageError when the segment has none."""
    wanted = located.fingerprint.hex()
    for line in outcomes(segment):
        if line.fp == wanted:
            return line
    raise UsageError(f"segment {segment.id} has no outcome for {located.canonical}")


@dataclass(frozen=True)
class Stored:
    """Where the body of an outcome is."""

    segment: Segment
    line: FetchLogLine


def body_of(crawl: Crawl, segment: Segment, line: FetchLogLine) -> Stored:
    """Return where the body of an outcome is: of a revisit, in the earlier segment that it refers to.

    Raises UsageError when that segment is not there any more.
    """
    if line.revisit is None:
        return Stored(segment, line)
    try:
        earlier = Segment(find_segment(crawl.layout, line.body_segment or ""))
    except UsageError as error:
        raise UsageError(
            f"{line.url} was found unchanged: its body is in segment {line.body_segment}, which is not there any more"
        ) from error
    for other in outcomes(earlier):
        if other.fp == line.fp and other.revisit is None and other.started_at == line.body_at:
            return Stored(earlier, other)
    raise UsageError(f"{line.url} was found unchanged, but segment {earlier.id} is not the one that had its body")


def page_of(segment: Segment, located: Located) -> PageLine | None:
    """Return what parse found in a page, or None when the segment does not hold that."""
    wanted = located.fingerprint.hex()
    for path in segment.paths.all_pages(located.partition):
        for page in read_lines(path, PageLine):
            if page.fp == wanted:
                return page
    return None


def links_of(segment: Segment, located: Located) -> list[LinkLine]:
    """Return the links that were taken from a page, in the order of the page."""
    wanted = located.fingerprint.hex()
    found = [
        link
        for path in sorted(segment.paths.parse_dir.glob(f"{located.partition}-*.links-*.jsonl.zst"))
        for link in read_lines(path, LinkLine)
        if link.source == wanted
    ]
    return sorted(found, key=lambda link: link.position)


def rejections(segment: Segment) -> list[RejectionLine]:
    """Return the counts of links that were not taken, by reason, most links first, those without a host last."""
    counts: Counter[tuple[str, str | None]] = Counter()
    for p in range(segment.manifest.partitions):
        for path in segment.paths.all_rejections(p):
            for line in read_lines(path, RejectionLine):
                counts[line.reason, line.host] += line.links
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], item[0][1] is None, -item[1], item[0][1] or ""))
    return [RejectionLine(reason=reason, host=host, links=links) for (reason, host), links in ordered]


def stored_response(segment: Segment, line: FetchLogLine) -> StoredResponse:
    """Return the stored answer of an outcome. Raises UsageError when none was stored."""
    if line.warc is None or line.offset is None:
        raise UsageError(f"no answer is stored for {line.url}: {line.outcome.value}")
    return read_exchange(segment.paths.fetch_dir / line.warc, line.offset)


def body(segment: Segment, line: FetchLogLine, *, bytes_max: int) -> bytes:
    """Return the body of a stored answer, its content coding undone where that can be."""
    response = stored_response(segment, line)
    coding = response.header("content-encoding")
    decoded = decode_body(response.body, coding, bytes_max=bytes_max)
    return response.body if decoded is None else decoded


@dataclass(frozen=True)
class RobotsVerdict:
    """What the known copy of a host's robots.txt says of a URL."""

    url: str
    """What fetch would ask for, and so what is judged."""
    allowed: bool
    why: str
    source: str
    """Where the copy came from, behind all redirects."""
    copy: RobotsCopy
    is_old: bool
    """Fetch asks for robots.txt again before it asks for the URL."""
    line_number: int | None = None
    """Of the line that decides, from 1."""


def known_robots(crawl: Crawl, url: str, *, now: float) -> RobotsVerdict | None:
    """Return what the copy in the crawldb says of a URL at an instant, or None when there is no copy of its host.

    A URL is judged as fetch would ask for it: as it was linked if it is known, else as it is given.
    """
    located = locate(crawl, url)
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        host, entry = db.host(located.fingerprint[:HOST_PART_BYTES]), db.load(located.fingerprint)
    asked = requested_url(parse_url(url) or url)
    if entry is not None:
        asked = entry.record.fetch_url or entry.record.url
    if host is None or host.robots is None or host_key(asked) != host.host:
        return None
    copy, token = host.robots, crawl.job.product_token
    source, is_old = copy.url or f"{host.host}/robots.txt", copy.expires_at <= now
    if copy.is_unreachable(now):
        why = f"robots.txt could not be had ({copy.detail}), so nothing may be fetched yet"
        return RobotsVerdict(asked, False, why, source, copy, is_old=True)
    decision = RobotsRules(copy.text).deciding_line(token, asked)
    why = _why(copy, decision)
    return RobotsVerdict(asked, decision.allowed, why, source, copy, is_old, decision.line_number)


def _why(copy: RobotsCopy, decision: Decision) -> str:
    if copy.unreachable_since is not None:
        return f"robots.txt could not be had for thirty days ({copy.detail}), which counts as none"
    return "there is no robots.txt" if copy.text is None else decision.reason
