"""The command that gives a segment up."""

import click

from batchcrawl.cli.completing import complete_segment
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import held_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.drop import drop
from batchcrawl.store.disk import Disk


@click.command("drop")
@job_argument
@click.argument("segment_id", metavar="ID", shell_complete=complete_segment)
@quiet_option
def drop_command(job: str, segment_id: str, quiet: bool) -> None:
    """Give up a segment that is not applied: remove it and let its URLs be taken again.

    Of a segment whose directory is gone already, the URLs are let go all the same.

    \b
    Reads:   fetch list of the segment
    Writes:  crawldb; removes segments/ID
    Example: batchcrawl drop mysite 20261130T101500Z
    Exit codes: 0 done, 1 failed, 2 wrong usage, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    with held_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        returned = drop(crawl, segment_id, disk=Disk(), control=controls.of("drop"))
    if not quiet:
        click.echo(f"drop: segment {segment_id} is given up; {returned:,} URLs may be taken again")
