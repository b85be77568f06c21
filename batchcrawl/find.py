"""Find: pages of one segment by their URL or their words, wherever its directory lies; its crawl need not be there.

Reads: files of the segment. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.model.entries import FetchLogLine, LinkLine, PageLine
from batchcrawl.store.latest_pages import outcomes_and_pages
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment
from batchcrawl.web.patterns import Dialect, PatternFault, compile_search
from batchcrawl.web.urls import parse_url

PLACES = ("url", "title", "description", "text")
"""Where words are looked for."""


class Seen(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A URL of the segment."""

    outcome: FetchLogLine
    page: PageLine | None = None


class Found(msgspec.Struct, kw_only=True):
    """A line in which the words stand."""

    url: str
    place: str
    """One of PLACES."""
    line: str


def is_segment(path: Path) -> bool:
    """Tell whether a directory is one of a segment."""
    return (path / "segment.json").is_file()


def segment_at(path: Path) -> Segment:
    """Open the segment in a directory. Raises UsageError where there is none."""
    if not is_segment(path):
        raise UsageError(f"{path} is no directory of a segment: there is no segment.json in it")
    return Segment(path.absolute())


def all_seen(segment: Segment) -> Iterator[Seen]:
    """Yield every URL that has its outcome, with what parse found, in the order of the logs."""
    for p in range(segment.manifest.partitions):
        for line, page in outcomes_and_pages(segment, p):
            yield Seen(outcome=line, page=page)


def find_url(segment: Segment, url: str) -> Seen:
    """Return what there is of a URL, as it was asked for. Raises UsageError where the segment has no outcome for it."""
    wanted = {url, parse_url(url)}
    for seen in all_seen(segment):
        if seen.outcome.url in wanted:
            return seen
    raise UsageError(f"segment {segment.id} has no outcome for {url}; give the URL as it was asked for")


def find_links(segment: Segment, seen: Seen) -> list[LinkLine]:
    """Return the links that were taken from a page, in the order of the page."""
    paths = sorted(segment.paths.parse_dir.glob("*-*.links-*.jsonl.zst"))
    found = (link for path in paths for link in read_lines(path, LinkLine) if link.source == seen.outcome.fp)
    return sorted(found, key=lambda link: link.position)


def find_words(segment: Segment, pattern: str, *, places: Sequence[str] = PLACES) -> Iterator[Found]:
    """Yield each line of a page, in some of PLACES, in which a regular expression is found.

    Raises UsageError for one that cannot be used.
    """
    try:
        search = compile_search(pattern, Dialect.PYTHON)
    except PatternFault as error:
        raise UsageError(f"{pattern!r} is no regular expression that can be used: {error}") from error
    for seen in all_seen(segment):
        for place in places:
            text = seen.outcome.url if place == "url" else None if seen.page is None else getattr(seen.page, place)
            for line in (text or "").splitlines():
                if search(line):
                    yield Found(url=seen.outcome.url, place=place, line=line)
