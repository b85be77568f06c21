"""What a round costs by the size of the crawl: generate and update of equal segments beside more and more known URLs.

`python -m tests.bench.scale [--urls N] [--segment N] [--at DIR]` measures one size and writes what it took as a line of
JSON to stdout; `python -m tests.bench.scale_curves FILE.png` draws such lines from stdin.
"""

import argparse
import gc
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from batchcrawl.store.segment import Segment
from tests.bench.filled_crawl import FilledCrawl, filled_crawl
from tests.bench.made_segment import LINKS, make_fetched_and_parsed
from tests.bench.scale_floor import floor_cpu_s
from tests.bench.spent import Spent, run_program
from tests.bench.table import Row, machine

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
    links: int
    """Links of the segment."""
    floor_s: float
    """Processor time in which LevelDB alone reads each target of them once, in order."""
    at: str
    """Machine and day."""


class Step(msgspec.Struct, kw_only=True):
    """What a step has taken, interpreter and all."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    """Of all processes together, pages that they share in each; without mapped files."""
    mapped_bytes: int
    """What mapped files add to that, which the kernel drops at need."""


def run(*, quick: bool) -> list[Row]:
    """Measure all sizes and return the figures of each beside those of the smallest."""
    sizes, urls = ((2_500, 10_000), 500) if quick else (SIZES, SEGMENT_URLS)
    first, *others = [measure(size, segment_urls=urls) for size in sizes]
    rows = [_plain(first)]
    for other in others:
        rows += _beside(first, other, urls)
    return rows


def measure(known: int, *, segment_urls: int, directory: Path | None = None) -> Figures:
    """Fill a crawldb with so many URLs, then generate, make and update segments; of two, the second counts.

    The first brings cache and database to where a crawl of many rounds has them. The crawl stays in `directory`, where
    one is given.
    """
    if directory is None:
        with TemporaryDirectory(prefix="bench-") as name:
            return measure(known, segment_urls=segment_urls, directory=Path(name) / "crawl")
    filled = filled_crawl(directory, known)
    for _ in range(2):
        generated, segment = _generated_and_made(filled, segment_urls)
        floor_s = floor_cpu_s(filled.crawl, segment)
        updated = _step(_run(filled.job, "update"))
    return Figures(
        known=filled.state.urls,
        load_s=filled.state.load_s,
        disk_bytes=filled.state.disk_bytes,
        url_bytes=len(filled.web.url(0, 0)),
        generate=generated,
        update=updated,
        links=segment.manifest.urls * LINKS,
        floor_s=floor_s,
        at=f"{machine()}, {datetime.now(UTC):%Y-%m-%d}",
    )


def _generated_and_made(filled: FilledCrawl, segment_urls: int) -> tuple[Step, Segment]:
    generated = _run(filled.job, "generate", "--top", str(segment_urls))
    layout = filled.crawl.layout
    segment = Segment(layout.segment(layout.segment_ids()[-1]))
    make_fetched_and_parsed(filled.crawl, filled.web, segment)
    gc.collect()
    return _step(generated), segment


def _run(job: Path, *words: str) -> Spent:
    command = [sys.executable, "-m", "batchcrawl", words[0], job.name, "--quiet", *words[1:]]
    return run_program(command, directory=job.parent, memory=True)


def _step(spent: Spent) -> Step:
    return Step(
        wall_s=spent.wall_s,
        cpu_s=spent.cpu_s,
        peak_bytes=spent.peak_own_bytes,
        mapped_bytes=spent.peak_bytes - spent.peak_own_bytes,
    )


def _plain(figures: Figures) -> Row:
    rate, floor = figures.links / figures.update.cpu_s, figures.links / figures.floor_s
    what = f"update, {figures.known:,} known, links a CPU second"
    return Row(what=what, ours=rate, unit="links/CPU s", other=floor, other_name="LevelDB's reads alone")


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
    parser.add_argument("--at", type=Path, help="where the crawl stays, and is found when it is measured again")
    parser.add_argument("--fill", action="store_true", help="make it, and measure nothing")
    options = parser.parse_args(arguments)
    if options.fill:
        filled_crawl(options.at, options.urls)
        return
    figures = measure(options.urls, segment_urls=options.segment, directory=options.at)
    sys.stdout.write(msgspec.json.encode(figures).decode() + os.linesep)


if __name__ == "__main__":
    main(sys.argv[1:])
