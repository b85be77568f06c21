"""The command that draws a crawl."""

from pathlib import Path

import click

from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, seen_crawl
from batchcrawl.report import report
from batchcrawl.store.disk import Disk
from batchcrawl.store.segment import segment_id


@click.command("report")
@job_argument
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@quiet_option
def report_command(job: str, file: Path | None, quiet: bool) -> None:
    """Write a page of HTML with charts and tables that tell how a crawl stands and how it came there.

    It stands alone: no network is needed to look at it. Without FILE it goes to reports/ in the directory of the crawl,
    named by the instant.

    \b
    Reads:   crawldb, manifests of the segments
    Writes:  FILE, or reports/INSTANT.html
    Example: batchcrawl report mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        path = file or crawl.layout.reports / f"{segment_id(int(now))}.html"
        report(crawl, path, disk=Disk(), now=now)
    if not quiet:
        click.echo(f"report: {path}", err=True)
