"""What a round costs by the size of the crawl: generate and update of equal segments beside more and more known URLs.

`python -m tests.bench.scale [--urls N] [--segment N]` measures one size and writes what it took as JSON to stdout.
"""

import argparse
import gc
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import plyvel

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.store.segment import Segment
from tests.bench.crawls import born_crawl, write_job
from tests.bench.known_web import KnownWeb, Loading, fill_partition
from tests.bench.made_segment import LINKS, make_fetched_and_parsed
from tests.bench.spent import Spent, run_program
from tests.bench.table import Row

MILLION = 1_000_000
SIZES = (MILLION, 10 * MILLION)
SEGMENT_URLS = 50_000
_WANTED = {"generate": 1.2, "update": 1.3, "peak": 1.1}
"""The most that a larger crawl may cost beside the smallest."""


class Figures(msgspec.Struct, kw_only=True):
    """What one size has taken."""

    known: int
    load_s: float
    disk_bytes: int
    url_bytes: float
    """Of a known URL, on average."""
    generate: "Step"
    update: "Step"


class Step(msgspec.Struct, kw_only=True):
    """What a step has taken, interpreter and all."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def run(*, quick: bool) -> list[Row]:
    """Measure all sizes and return the figures of each beside those of the smallest."""
    sizes, urls = ((2_500, 10_000), 500) if quick else (SIZES, SEGMENT_URLS)
    first, *others = [measure(size, segment_urls=urls) for size in sizes]
    rows = [_plain(first, urls)]
    for other in others:
        rows += _beside(first, other, urls)
    return rows


def measure(known: int, *, segment_urls: int) -> Figures:
    """Fill a crawldb with so many URLs, then generate, make and update segments; of two, the second counts.

    The first brings cache and database to where a crawl of many rounds has them.
    """
    with TemporaryDirectory(prefix="bench-") as name:
        job = write_job(Path(name) / "crawl", place="127.0.0.1:9")
        crawl = born_crawl(job, [])
        web = KnownWeb.of_size(known, now=int(time.time()))
        started = time.monotonic()
        tasks = [Loading(crawl, web, p) for p in range(crawl.partitions)]
        urls = sum(run_partitions(fill_partition, tasks, parallel=crawl.cores, control=Control()))
        run_partitions(settle_database, tasks, parallel=crawl.cores, control=Control())
        load_s = time.monotonic() - started
        size = sum(path.stat().st_size for path in crawl.layout.crawldbs.rglob("*"))
        for _ in range(2):
            steps = _round(job, crawl, web, segment_urls)
    return Figures(
        known=urls,
        load_s=load_s,
        disk_bytes=size,
        url_bytes=len(web.url(0, 0)),
        generate=steps[0],
        update=steps[1],
    )


def settle_database(task: Loading, control: Control) -> None:
    """Let LevelDB merge what it would otherwise merge beside what is measured."""
    db = plyvel.DB(str(task.crawl.layout.crawldb(task.partition)))
    db.compact_range()
    db.close()


def _round(job: Path, crawl: Crawl, web: KnownWeb, segment_urls: int) -> tuple[Step, Step]:
    generated = _run(job, "generate", "--top", str(segment_urls))
    segment = Segment(crawl.layout.segment(crawl.layout.segment_ids()[-1]))
    make_fetched_and_parsed(crawl, web, segment)
    gc.collect()
    return _step(generated), _step(_run(job, "update"))


def _run(job: Path, *words: str) -> Spent:
    command = [sys.executable, "-m", "batchcrawl", words[0], job.name, "--quiet", *words[1:]]
    return run_program(command, directory=job.parent, memory=True)


def _step(spent: Spent) -> Step:
    return Step(wall_s=spent.wall_s, cpu_s=spent.cpu_s, peak_bytes=spent.peak_bytes)


def _plain(figures: Figures, urls: int) -> Row:
    rate = urls * LINKS / figures.update.cpu_s
    return Row(what=f"update, {figures.known:,} known, links a CPU second", ours=rate, unit="links/CPU s")


def _beside(first: Figures, other: Figures, urls: int) -> list[Row]:
    rows: list[Row] = []
    for name, now, then in (("generate", other.generate, first.generate), ("update", other.update, first.update)):
        what = f"{name} of {urls:,} at {other.known:,} known"
        name_of_first = f"at {first.known:,}"
        rows += [
            Row(what=f"{what}, CPU", ours=now.cpu_s, unit="s", other=then.cpu_s, other_name=name_of_first,
                wanted_most=_WANTED[name]),
            Row(what=f"{what}, clock", ours=now.wall_s, unit="s", other=then.wall_s, other_name=name_of_first),
            Row(what=f"{what}, memory", ours=now.peak_bytes / 1e6, unit="MB", other=then.peak_bytes / 1e6,
                other_name=name_of_first, wanted_most=_WANTED["peak"]),
        ]  # fmt: skip
    allowed = 1.6 * other.url_bytes + 40
    each = other.disk_bytes / other.known
    rows.append(Row(what=f"disk a known URL at {other.known:,}", ours=each, unit="bytes", other=allowed,
                    other_name="allowed", wanted_most=1.0))  # fmt: skip
    return rows


def main(arguments: list[str]) -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale")
    parser.add_argument("--urls", type=int, default=MILLION)
    parser.add_argument("--segment", type=int, default=SEGMENT_URLS)
    options = parser.parse_args(arguments)
    figures = measure(options.urls, segment_urls=options.segment)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(figures)).decode() + os.linesep)


if __name__ == "__main__":
    main(sys.argv[1:])
