"""The command that has back what can be had of a damaged crawldb."""

from collections.abc import Iterator

import click

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import held_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.job.load import Job
from batchcrawl.job.seed_files import job_seeds
from batchcrawl.job.seeds import Seed
from batchcrawl.repair import repair, repair_from_segments
from batchcrawl.store.disk import Disk


@click.command("repair")
@job_argument
@click.option("--from-segments", is_flag=True, help="Make the crawldb anew from seeds and segments.")
@quiet_option
def repair_command(job: str, from_segments: bool, quiet: bool) -> None:
    """Have back what can be had of a damaged crawldb.

    LevelDB mends what it cannot read, and all that URL records imply is made anew: indexes, counts of hosts and
    domains, leases. The damaged database is kept in crawldb/.damaged-P, or as crawldb.damaged; remove it when all
    is well. What lies in segments is not mended: a damaged file of a segment comes from a copy, or the segment is
    given up by 'drop'.

    \b
    Reads:   crawldb, segments; with --from-segments also the seeds of the job
    Writes:  crawldb
    Example: batchcrawl repair mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 5 crawl in use, 6 cannot be mended, 11 interrupted
    """
    with held_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        control = controls.of("repair")
        if from_segments:
            lines = repair_from_segments(crawl, _good(crawl.job), disk=Disk(), control=control)
        else:
            lines = repair(crawl, disk=Disk(), control=control)
        echo_lines(lines)
    if not quiet:
        click.echo(f"repair: done; 'batchcrawl check {crawl.job.argument}' proves it")


def _good(job: Job) -> Iterator[Seed]:
    return (line for line in job_seeds(job) if isinstance(line, Seed))
