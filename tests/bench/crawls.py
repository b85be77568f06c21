"""Crawls to be measured: a job in a directory of its own, without politeness delays."""

from collections.abc import Iterable
from pathlib import Path

from batchcrawl.engine.control import Control
from batchcrawl.fetch import fetch
from batchcrawl.generate import generate
from batchcrawl.inject import inject
from batchcrawl.job.crawl import Crawl, open_or_create
from batchcrawl.job.load import load_job
from batchcrawl.job.seeds import Seed, parse_seed_lines
from batchcrawl.model.clock import SystemClock
from batchcrawl.store.disk import Disk
from batchcrawl.store.segment import Segment

_JOB = """\
[crawl]
{partitions}
[scope]
within = "any"
[generate]
urls_max = 100_000
[politeness]
delay_min = "0s"
factor = 0
[network]
names = {{ "*" = "{place}" }}
allow_addresses = ["127.0.0.0/8"]
"""


def write_job(directory: Path, *, place: str, partitions: int | None = None) -> Path:
    """Write the job file of a crawl whose hosts are all at `place` (address:port); return its path.

    Without partitions, the crawl has as many as the machine has cores, as any crawl.
    """
    directory.mkdir(parents=True)
    path = directory / "bench.toml"
    line = "" if partitions is None else f"partitions = {partitions}"
    path.write_text(_JOB.format(partitions=line, place=place), encoding="utf-8")
    return path


def born_crawl(job: Path, urls: Iterable[str]) -> Crawl:
    """Bring the crawl of a job file to life with these seeds."""
    disk = Disk()
    loaded = load_job(job.name, cwd=job.parent)
    disk.make_dir(loaded.data_dir)
    crawl = open_or_create(loaded, disk)
    seeds = parse_seed_lines([url.encode() for url in urls], "bench")
    inject(crawl, (seed for seed in seeds if isinstance(seed, Seed)), disk=disk, clock=SystemClock())
    return crawl


def new_segment(crawl: Crawl) -> Segment:
    """Generate a segment of all that the crawl may take."""
    plan = generate(crawl, dry_run=False, disk=Disk(), clock=SystemClock(), control=Control())
    assert plan.segment is not None
    return Segment(crawl.layout.segment(plan.segment))


def fetch_segment(crawl: Crawl, segment: Segment) -> dict[str, int]:
    """Run the fetch step and return its outcomes."""
    return dict(fetch(crawl, segment, disk=Disk(), clock=SystemClock(), control=Control()))
