"""Crawls Debian documentation packages to the end and holds the crawl against a plain walk of the same sites.

    python -m tests.support.docs_crawl

Needs nginx, python3.11-doc and apache2-doc. Ends with 1 where a page differs without a rule, a WARC file has a fault,
a body is not the one served, or anything was asked for twice.
"""

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.docs_bodies import hold_bodies
from tests.support.docs_compare import Comparison, compare
from tests.support.docs_read import STEPS, ReadCrawl, read_crawl
from tests.support.nginx import Hit, NginxFailed, Site, find_nginx, serving
from tests.support.walk import AGENT, walk
from tests.support.warc_judge import judge

ROOT = Path(__file__).parents[2]
JOB = "docs"
PORT = 8766
"""As in the job file's table of names."""
PACKAGES = ("python3.11-doc", "apache2-doc")
ROBOTS = "User-agent: *\nDisallow: /ko/\nDisallow: /style/\n"
SHOWN = 20


def main() -> int:
    """Run all of it and return the exit code."""
    roots = [documentation(package) for package in PACKAGES]
    if None in roots or find_nginx() is None:
        print(f"docs-crawl: not all is installed; run: apt-get install nginx {' '.join(PACKAGES)}", file=sys.stderr)
        return 1
    try:
        return _crawl_and_compare([root for root in roots if root is not None])
    except NginxFailed as error:
        print(f"docs-crawl: {error}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(f"docs-crawl: {' '.join(error.cmd[1:])} ended with exit code {error.returncode}", file=sys.stderr)
    return 1


def documentation(package: str) -> Path | None:
    """Return the directory of a Debian package's HTML documentation: where its topmost index.html is."""
    try:
        listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return None
    pages = [Path(line) for line in listed.splitlines() if line.endswith("/index.html")]
    return min(pages, key=lambda path: len(path.parts)).parent if pages else None


def sites(python: Path, httpd: Path) -> list[Site]:
    """Return the hosts of the job file."""
    return [
        Site(host="docs.python.test", root=python),
        Site(host="gzip.python-mirror.test", root=python, gzip=True),
        Site(host="manual.httpd.test", root=httpd),
        Site(host="robots.httpd-mirror.test", root=httpd, robots=ROBOTS),
    ]


def _crawl_and_compare(roots: Sequence[Path]) -> int:
    served = sites(*roots)
    with serving(served, port=PORT) as nginx:
        shutil.rmtree(ROOT / "data" / JOB, ignore_errors=True)
        seconds = _crawl()
        hits = nginx.hits()
        print("\nwalk: the same sites, one request at a time")
        walked = walk(
            [f"http://{site.host}/" for site in served],
            hosts=[site.host for site in served],
            address=("127.0.0.1", nginx.port),
        )
        log_is_whole = sum(hit.agent == AGENT for hit in nginx.hits()) == len(walked)
    crawl = read_crawl(ROOT, JOB)
    comparison = compare(walked, crawl.pages, canonical=crawl.canonical)
    bodies = hold_bodies(crawl.warcs, {site.host: site.root for site in served}, walked, hits)
    _print_figures(crawl, seconds, hits)
    _print_comparison(comparison)
    print("\nbodies in the WARC files")
    for kind, times in sorted(bodies.kinds.items()):
        print(f"  {times:>6,} {kind}")
    faults = [
        *([] if log_is_whole else ["the access log does not tell the requests of the walk: it proves nothing"]),
        *(f"{difference.url} is only in the {difference.only}" for difference in comparison.unexplained()),
        *(f"{url} has another body in the walk" for url in comparison.other_bodies),
        *_asked_twice(hits),
        *judge(crawl.warcs),
        *bodies.faults,
    ]
    return _print_verdict(faults)


def _crawl() -> float:
    """Inject and crawl; return the seconds that the crawl took."""
    program = [sys.executable, "-m", "batchcrawl"]
    subprocess.run([*program, "inject", JOB], cwd=ROOT, check=True)
    started = time.monotonic()
    subprocess.run([*program, "crawl", JOB, "--until-done"], cwd=ROOT, check=True)
    return time.monotonic() - started


def _asked_twice(hits: Iterable[Hit]) -> list[str]:
    counts = Counter(f"http://{hit.host}{hit.uri}" for hit in hits)
    return [f"{url} was asked for {times} times" for url, times in counts.items() if times > 1]


def _print_figures(crawl: ReadCrawl, seconds: float, hits: Sequence[Hit]) -> None:
    pages = sum(page.fetched for page in crawl.pages.values())
    print(f"\ncrawl: {pages:,} pages of {len(crawl.pages):,} URLs in {seconds:.1f} s, {pages / seconds:.0f} pages/s")
    print(f"  {len(crawl.steps)} rounds, {len(hits):,} requests, {len(crawl.warcs)} WARC files")
    for step in STEPS:
        print(f"  {step:<10} {sum(times[step] for times in crawl.steps):>7.1f} s")


def _print_comparison(comparison: Comparison) -> None:
    columns = ("media type", "walk", "crawl", "both", "only walk", "only crawl")
    print("\n{:<26} {:>8} {:>8} {:>8} {:>10} {:>10}".format(*columns))
    for media_type in sorted(comparison.walked | comparison.crawled):
        walked, crawled = comparison.walked[media_type], comparison.crawled[media_type]
        both = comparison.both[media_type]
        print(f"{media_type:<26} {walked:>8,} {crawled:>8,} {both:>8,} {walked - both:>10,} {crawled - both:>10,}")
    rules = Counter((found.only, found.media_type, found.rule) for found in comparison.differences)
    for (only, media_type, rule), times in sorted(rules.items()):
        print(f"  {times:>6,} {media_type} only in the {only}: {rule}")


def _print_verdict(faults: Sequence[str]) -> int:
    for fault in faults[:SHOWN]:
        print(f"FAULT {fault}")
    if len(faults) > SHOWN:
        print(f"and {len(faults) - SHOWN:,} more")
    print(
        f"\ndocs-crawl: {len(faults):,} faults" if faults else "\ndocs-crawl: every difference has its rule, no fault"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
