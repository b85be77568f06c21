"""A crawl whose crawldb is filled to a size; it stays in its directory, to be measured again as it is."""

import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.store.crawldb import CrawlDb
from tests.bench.crawls import born_crawl, write_job
from tests.bench.known_web import KnownWeb, Loading, fill_partition

_JOB = "bench.toml"
_STATE = "filled.json"


class State(msgspec.Struct, kw_only=True):
    """What was filled in."""

    urls: int
    now: int
    load_s: float
    disk_bytes: int


@dataclass(frozen=True)
class FilledCrawl:
    """The crawl, and what it knows."""

    job: Path
    crawl: Crawl
    web: KnownWeb
    state: State


def filled_crawl(directory: Path, known: int) -> FilledCrawl:
    """Return the crawl of a directory; where there is none yet, it is made, with about so many known URLs."""
    state = directory / _STATE
    if not state.exists():
        state.write_bytes(msgspec.json.encode(_fill(directory, known)))
    found = msgspec.json.decode(state.read_bytes(), type=State)
    crawl = open_crawl(load_job(_JOB, cwd=directory))
    return FilledCrawl(directory / _JOB, crawl, KnownWeb.of_size(known, now=found.now), found)


def _fill(directory: Path, known: int) -> State:
    started, now = time.monotonic(), int(time.time())
    crawl = born_crawl(write_job(directory, place="127.0.0.1:9"), [])
    tasks = [Loading(crawl, KnownWeb.of_size(known, now=now), p) for p in range(crawl.partitions)]
    urls = sum(run_partitions(fill_partition, tasks, parallel=crawl.cores, control=Control()))
    run_partitions(settle_database, tasks, parallel=crawl.cores, control=Control())
    size = sum(path.stat().st_size for path in crawl.layout.crawldbs.rglob("*"))
    return State(urls=urls, now=now, load_s=time.monotonic() - started, disk_bytes=size)


def settle_database(task: Loading, control: Control) -> None:
    """Let LevelDB merge what it would otherwise merge beside what is measured."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        db.compact()
