"""Pages a second from a server that waits before each answer, by one process, and what memory that takes."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment
from tests.bench.crawls import born_crawl, new_segment, write_job
from tests.bench.servers import LINKS, PAGE_BYTES, warm_web
from tests.bench.spent import run_program
from tests.bench.table import Row

LATENCY_S = 0.1
PAGES_A_SECOND = 400


def run(*, quick: bool) -> list[Row]:
    """Fetch a segment of one partition and return its rate from the first request to the last answer."""
    hosts, pages = (4, 5) if quick else (200, 40)
    spec = WebSpec(hosts=hosts, pages=2 * hosts * pages, page_bytes=PAGE_BYTES, links=LINKS, faults=frozenset())
    with TemporaryDirectory(prefix="bench-") as name, warm_web(spec, latency_s=LATENCY_S) as place:
        job = write_job(Path(name) / "crawl", place=place, partitions=1)
        segment = new_segment(born_crawl(job, _urls(FakeWeb(spec), pages=pages)))
        arguments = [sys.executable, "-m", "batchcrawl", "fetch", job.name, "--quiet"]
        spent = run_program(arguments, directory=job.parent, memory=True)
        seconds = _seconds(segment, expected=hosts * pages)
    rate = hosts * pages / seconds
    return [
        Row(
            what=f"one process, answers after {LATENCY_S * 1000:.0f} ms",
            ours=rate,
            unit="pages/s",
            other=PAGES_A_SECOND,
            wanted=1.0,
        ),
        Row(what="the same, memory with its parent", ours=spent.peak_bytes / 1e6, unit="MB"),
    ]


def _urls(web: FakeWeb, *, pages: int) -> list[str]:
    """Return as many pages of each host, so that no host outlasts the others."""
    every = (Resource(host, Kind.PAGE, page) for page in range(pages) for host in range(web.spec.hosts))
    return [web.layout.url(resource) for resource in every]


def _seconds(segment: Segment, *, expected: int) -> float:
    lines = [line for line in read_log(segment.paths.fetch_log(0), FetchLogLine) if line.status == 200]
    assert len(lines) == expected, f"{len(lines)} of {expected} pages"
    return max(line.ended_at or 0.0 for line in lines) - min(line.started_at or 0.0 for line in lines)
