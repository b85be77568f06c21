"""Reads a finished crawl for the comparison with a walk."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.rejection import Rejection
from batchcrawl.show import outcomes
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment
from tests.support.docs_compare import CrawledPage

STEPS = ("fetched", "parsed", "updated")


@dataclass
class ReadCrawl:
    """What a crawl left on disk."""

    pages: dict[str, CrawledPage]
    """By canonical URL."""
    warcs: list[Path]
    steps: list[dict[str, float]]
    """Seconds of each of STEPS, for every round."""
    canonical: Callable[[str], str]


def read_crawl(root: Path, job: str) -> ReadCrawl:
    """Return what the crawl of a job did, over all its segments."""
    crawl = open_crawl(load_job(job, cwd=root))
    segments = [Segment(crawl.layout.segment(name)) for name in crawl.layout.segment_ids()]
    pages: dict[str, CrawledPage] = {}
    for segment in segments:
        _read_outcomes(crawl, segment, pages)
        _read_parsed(crawl, segment, pages)
    return ReadCrawl(
        pages=pages,
        warcs=[path for segment in segments for path in sorted(segment.paths.fetch_dir.glob("*.warc.gz*"))],
        steps=[_step_seconds(segment) for segment in segments],
        canonical=crawl.canonical,
    )


def _read_outcomes(crawl: Crawl, segment: Segment, pages: dict[str, CrawledPage]) -> None:
    for line in outcomes(segment):
        pages[crawl.canonical(line.url)] = _page(line)  # the last outcome counts; the server's log tells repetitions


def _page(line: FetchLogLine) -> CrawledPage:
    return CrawledPage(
        outcome=line.outcome.value,
        media_type=(line.content_type or "").partition(";")[0].strip().lower(),
        digest=None if line.digest is None else base64.b32decode(line.digest.removeprefix("sha1:")).hex(),
    )


def _read_parsed(crawl: Crawl, segment: Segment, pages: dict[str, CrawledPage]) -> None:
    for partition in range(crawl.partitions):
        for path in segment.paths.all_pages(partition):
            for page in read_lines(path, PageLine):
                pages[crawl.canonical(page.url)].links_cut = Rejection.LINKS_MAX.value in page.rejected


def _step_seconds(segment: Segment) -> dict[str, float]:
    ends = [segment.manifest.created_at, *(segment.manifest.steps[step].ended_at for step in STEPS)]
    return {step: end - begin for step, (begin, end) in zip(STEPS, pairwise(ends), strict=True)}
