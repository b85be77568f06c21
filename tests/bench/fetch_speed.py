"""Pages a second of the fetch step with its WARC files, beside a loop that only reads bodies."""

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

THREADS = 64
PAGES_A_SECOND = 1000
SHARE_OF_BARE = 0.6


def run(*, quick: bool) -> list[Row]:
    """Measure both in turn, three times, and return the rows of the medians."""
    hosts, pages, times = (8, 5, 1) if quick else (200, 50, 3)
    ours: list[Spent] = []
    bare: list[Spent] = []
    with TemporaryDirectory(prefix="bench-") as name, nginx_files(Path(name), hosts=hosts, pages=pages) as files:
        urls = Path(name) / "urls.txt"
        # The loop knows no table of names; all its connections are to the one address.
        urls.write_text("\n".join(f"http://{files.place}/p{n % pages}.html" for n in range(hosts * pages)))
        for turn in range(times):
            bare.append(_bare(urls))
            ours.append(_fetch_step(Path(name) / f"crawl-{turn}", files))
    count = hosts * pages
    rate, bare_rate = _rate(ours, count), _rate(bare, count)
    return [
        Row(what="fetch step with WARC", ours=rate, unit="pages/s", other=PAGES_A_SECOND, wanted=1.0),
        Row(
            what="fetch step, of a bare urllib3 loop",
            ours=rate,
            unit="pages/s",
            other=bare_rate,
            other_name="urllib3",
            wanted=SHARE_OF_BARE,
        ),
        Row(
            what="fetch step, CPU time",
            ours=_cpu_ms(ours, count),
            unit="ms a page",
            other=_cpu_ms(bare, count),
            other_name="urllib3",
        ),
    ]


def _bare(urls: Path) -> Spent:
    spent = run_program([sys.executable, "-m", "tests.bench.bare_loop", str(THREADS), str(urls)], directory=urls.parent)
    spent.wall_s = float(spent.output.split()[1])  # without the start of the interpreter
    return spent


def _fetch_step(directory: Path, files: Files) -> Spent:
    crawl = born_crawl(write_job(directory, place=files.place), files.urls())
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
