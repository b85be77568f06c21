"""The command that proves what a crawl holds."""

import sys
from itertools import chain

import click

from batchcrawl.check import faults_of_crawldb, faults_of_segments
from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import held_crawl
from batchcrawl.errors import ExitCode
from batchcrawl.store.segment import find_segment


@click.command()
@job_argument
@click.option("--segment", "segment_id", metavar="ID", help="Only this segment; default: the crawldb and all segments.")
@click.option("--deep", is_flag=True, help="Unpack every record of the WARC files and compare it with the log.")
def check(job: str, segment_id: str | None, deep: bool) -> None:
    """Prove that a crawl is what was written, by records and checksums.

    \b
    Reads:   crawldb, segments
    Writes:  nothing; each fault is one line
    Example: batchcrawl check mysite
    Exit codes: 0 no fault, 2 wrong usage, 5 crawl in use, 6 corrupt data
    """
    with held_crawl(job) as crawl:
        if segment_id is not None:
            ids, what = [find_segment(crawl.layout, segment_id).name], f"segment {segment_id}"
        else:
            ids = crawl.layout.segment_ids()
            what = f"{crawl.partitions} partitions and {len(ids)} segments"
        of_crawldb = faults_of_crawldb(crawl) if segment_id is None else ()
        found = 0
        for fault in chain(of_crawldb, faults_of_segments(crawl, ids, deep=deep)):
            echo_lines([fault])
            found += 1
    if found:
        sys.exit(int(ExitCode.CORRUPT))
    click.echo(f"check: no fault in {what}")
