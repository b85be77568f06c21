"""Where each millisecond goes: processor time a page by step, beside the floor.

`python -m tests.bench.by_step JOB` runs rounds in the job file's directory until nothing is due, and writes
the seconds of each step as JSON to stdout.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from batchcrawl.engine.control import Control
from batchcrawl.errors import NothingDue
from batchcrawl.generate import generate
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.clock import SystemClock
from batchcrawl.round import Steps, oldest_unfinished, run_step
from batchcrawl.store.disk import Disk
from tests.bench.crawls import born_crawl, write_job
from tests.bench.servers import warm_web
from tests.bench.spent import measured, run_program
from tests.bench.table import Row
from tests.bench.whole_round import web_of

FLOOR_MS: dict[str, float | None] = {"generate": None, "fetch": 0.35, "parse": 0.93, "update": 0.12}
"""CPU time a page of the parts of each step, measured alone: 25 KB with 40 links."""
_STAMPS = {"fetch": "fetched", "parse": "parsed", "update": "updated"}


def run(*, quick: bool) -> list[Row]:
    """Crawl a web and return the milliseconds of each step and of all."""
    hosts, pages = (4, 60) if quick else (200, 5_000)
    web = web_of(hosts=hosts, pages=pages)
    with TemporaryDirectory(prefix="bench-") as name, warm_web(web.spec) as place:
        job = write_job(Path(name) / "crawl", place=place)
        born_crawl(job, web.seeds())
        spent = run_program([sys.executable, "-m", "tests.bench.by_step", job.name], directory=job.parent)
    seconds = msgspec.json.decode(spent.output, type=dict[str, float])
    took = {step: 1000 * seconds[step] / pages for step in FLOOR_MS}
    rows = [_row(f"CPU of {step}", took[step], FLOOR_MS[step]) for step in FLOOR_MS]
    return [*rows, _row("CPU of all steps", sum(took.values()), sum(filter(None, FLOOR_MS.values())))]


def _row(what: str, ours: float, floor: float | None) -> Row:
    return Row(what=what, ours=ours, unit="ms a page", other=floor, other_name="" if floor is None else "floor")


def crawl_by_step(crawl: Crawl) -> dict[str, float]:
    """Run rounds until nothing is due and return the CPU seconds of each step, its processes included."""
    seconds = dict.fromkeys(FLOOR_MS, 0.0)
    disk, clock = Disk(), SystemClock()
    steps = Steps(crawl, disk, clock, lambda step: Control(), lambda plan: None, lambda step, segment, info: None)
    while True:
        with measured() as spent:
            try:
                generate(crawl, dry_run=False, disk=disk, clock=clock, control=Control())
            except NothingDue:
                return seconds
        seconds["generate"] += spent.cpu_s
        segment = oldest_unfinished(crawl)
        assert segment is not None
        for step, stamp in _STAMPS.items():
            with measured() as spent:
                run_step(steps, stamp, segment)
            seconds[step] += spent.cpu_s


if __name__ == "__main__":
    opened = open_crawl(load_job(sys.argv[1], cwd=Path.cwd()))
    print(msgspec.json.encode(crawl_by_step(opened)).decode())
