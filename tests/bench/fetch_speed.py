"""Pages a second of the fetch step, beside a loop that only reads bodies and one that also writes the WARC records."""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.crawls import born_crawl, fetch_segment, new_segment, write_job
from tests.bench.servers import Files, nginx_files
from tests.bench.spent import Spent, measured, run_program
from tests.bench.table import Row

PARTITIONS = 2
THREADS = 64
"""Of all processes together, as in a job that says nothing."""
PAGES_A_SECOND = 1500
PAGES_A_SECOND_AT_FIRST = 1000
SHARE_OF_READING = 0.6
SHARE_OF_WRITING = 0.7
CPU_MS = 0.8


def run(*, quick: bool) -> list[Row]:
    """Measure all three in turn, three times, and return the rows of the medians."""
    hosts, pages, times = (8, 5, 1) if quick else (200, 50, 3)
    ours: list[Spent] = []
    reading: list[Spent] = []
    writing: list[Spent] = []
    with TemporaryDirectory(prefix="bench-") as name, nginx_files(Path(name), hosts=hosts, pages=pages) as files:
        urls = Path(name) / "urls.txt"
        # The loop knows no table of names; all its connections are to the one address.
        urls.write_text("\n".join(f"http://{files.place}/p{n % pages}.html" for n in range(hosts * pages)))
        for turn in range(times):
            reading.append(_bare(urls, processes=1))
            writing.append(_bare(urls, processes=PARTITIONS, records=Path(name) / f"records-{turn}"))
            ours.append(_fetch_step(Path(name) / f"crawl-{turn}", files))
    count = hosts * pages
    rate = _rate(ours, count)
    return [
        _rate_row("fetch step with WARC, the first figure", rate, PAGES_A_SECOND_AT_FIRST, wanted=1.0),
        _rate_row("fetch step with WARC", rate, PAGES_A_SECOND, wanted=1.0),
        _rate_row(
            "fetch step, of one process that only reads bodies",
            rate,
            _rate(reading, count),
            name="urllib3",
            wanted=SHARE_OF_READING,
        ),
        _rate_row(
            f"fetch step, of {PARTITIONS} processes that write the same records",
            rate,
            _rate(writing, count),
            name="urllib3 and WARC",
            wanted=SHARE_OF_WRITING,
        ),
        _cpu_row(ours, count, other=CPU_MS, most=1.0),
        _cpu_row(ours, count, other=_cpu_ms(reading, count), name="urllib3"),
        _cpu_row(ours, count, other=_cpu_ms(writing, count), name="urllib3 and WARC"),
    ]


def _rate_row(what: str, ours: float, other: float, *, wanted: float, name: str = "") -> Row:
    return Row(what=what, ours=ours, unit="pages/s", other=other, other_name=name, wanted=wanted)


def _cpu_row(ours: Iterable[Spent], pages: int, *, other: float, most: float | None = None, name: str = "") -> Row:
    return Row(
        what="fetch step, CPU time",
        ours=_cpu_ms(ours, pages),
        unit="ms a page",
        other=other,
        other_name=name,
        wanted_most=most,
    )


def _bare(urls: Path, *, processes: int, records: Path | None = None) -> Spent:
    arguments = [sys.executable, "-m", "tests.bench.bare_loop", str(processes), str(THREADS // processes), str(urls)]
    if records is not None:
        records.mkdir()
        arguments.append(str(records))
    spent = run_program(arguments, directory=urls.parent)
    spent.wall_s, spent.cpu_s = map(float, spent.output.split()[1:])  # without the start of the interpreter
    if records is not None:
        shutil.rmtree(records)
    return spent


def _fetch_step(directory: Path, files: Files) -> Spent:
    crawl = born_crawl(write_job(directory, place=files.place, partitions=PARTITIONS), files.urls())
    segment = new_segment(crawl)
    with measured() as spent:
        outcomes = fetch_segment(crawl, segment)
    assert outcomes["fetched"] == files.hosts * files.pages, outcomes
    shutil.rmtree(directory)
    return spent


def _rate(runs: Iterable[Spent], pages: int) -> float:
    return pages / median(spent.wall_s for spent in runs)


def _cpu_ms(runs: Iterable[Spent], pages: int) -> float:
    return 1000 * median(spent.cpu_s for spent in runs) / pages
