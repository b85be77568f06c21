"""A whole crawl, from generate to update until nothing is left, beside Scrapy on the same web."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.job.crawl import open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from tests.bench.crawls import born_crawl, write_job
from tests.bench.servers import LINKS, PAGE_BYTES, warm_web
from tests.bench.spent import Spent, run_program
from tests.bench.table import Row

PAGES_BY_CPU = 3.0
"""How many times Scrapy's pages a second of CPU time ours are to be."""
FLOOR_PAGES_A_SECOND = 700
"""Pages a second and core of the parts of a round, each measured alone."""
FAULTS = frozenset({"base", "fragments", "queries", "relative", "robots"})
"""The difficulties on which no two crawlers differ."""


def run(*, quick: bool) -> list[Row]:
    """Crawl one web by both and return pages by CPU time and memory."""
    hosts, pages = (4, 60) if quick else (200, 20_000)
    web = web_of(hosts=hosts, pages=pages)
    with TemporaryDirectory(prefix="bench-") as name, warm_web(web.spec) as place:
        seeds = Path(name) / "seeds.txt"
        seeds.write_text("\n".join(web.seeds()), encoding="utf-8")
        ours, our_pages = _crawl(Path(name) / "crawl", web, place)
        theirs, their_pages = _scrapy(Path(name) / "scrapy", seeds, place)
    assert our_pages == their_pages, f"we fetched {our_pages} pages, Scrapy {their_pages}"
    rate, their_rate = our_pages / ours.cpu_s, their_pages / theirs.cpu_s
    return [
        Row(
            what=f"whole rounds, {our_pages:,} pages on {hosts} hosts",
            ours=rate,
            unit="pages/CPU s",
            other=their_rate,
            other_name="Scrapy",
            wanted=PAGES_BY_CPU,
        ),
        Row(
            what="the same, by the floor", ours=rate, unit="pages/CPU s", other=FLOOR_PAGES_A_SECOND, other_name="floor"
        ),
        _informing("the same, by the clock", our_pages / ours.wall_s, their_pages / theirs.wall_s, "pages/s"),
        _informing("the same, memory", ours.peak_bytes / 1e6, theirs.peak_bytes / 1e6, "MB"),
    ]


def web_of(*, hosts: int, pages: int) -> FakeWeb:
    """Return a web of 25 KB pages that every crawler finds the same way through."""
    return FakeWeb(WebSpec(hosts=hosts, pages=pages, page_bytes=PAGE_BYTES, links=LINKS, faults=FAULTS))


def _informing(what: str, ours: float, other: float, unit: str) -> Row:
    return Row(what=what, ours=ours, unit=unit, other=other, other_name="Scrapy")


def _crawl(directory: Path, web: FakeWeb, place: str) -> tuple[Spent, int]:
    job = write_job(directory, place=place)
    born_crawl(job, web.seeds())
    arguments = [sys.executable, "-m", "batchcrawl", "crawl", job.name, "--until-done", "--quiet"]
    spent = run_program(arguments, directory=directory, memory=True)
    crawl = open_crawl(load_job(job.name, cwd=directory))
    pages = 0
    for partition in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(partition)) as db:
            for _, host in db.hosts():
                pages += host.urls.get(PageStatus.FETCHED, 0) + host.urls.get(PageStatus.DUPLICATE, 0)
    return spent, pages


def _scrapy(directory: Path, seeds: Path, place: str) -> tuple[Spent, int]:
    directory.mkdir()
    spent = run_program(
        [sys.executable, "-m", "tests.bench.scrapy_spider", str(seeds), str(directory / "job")],
        directory=directory,
        environment={"http_proxy": f"http://{place}"},
        memory=True,
    )
    return spent, int(spent.output.split()[-2])
