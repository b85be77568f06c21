"""The command that makes a segment straight from a list of URLs."""

import click

from batchcrawl.cli.completing import complete_file
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, held_crawl
from batchcrawl.cli.seeding import Seeds
from batchcrawl.cli.stopping import stoppable
from batchcrawl.cli.summaries import echo_plan
from batchcrawl.enter import Entered, enter
from batchcrawl.generate import generate_listed
from batchcrawl.store.disk import Disk


@click.command()
@job_argument
@click.argument("sources", nargs=-1, required=True, metavar="FILE|-|URL...", shell_complete=complete_file)
@click.option("--in-scope", is_flag=True, help="Only URLs that the rules of the job would take.")
@quiet_option
def freegen(job: str, sources: tuple[str, ...], in_scope: bool, quiet: bool) -> None:
    """Make a segment of the URLs of a list, whether they are due or not.

    No limit on hosts and no level counts, but each host is asked as politely as ever. URLs that another segment has are
    left out; those that the crawldb does not know enter it, as pages, not as seeds.

    \b
    Reads:   FILE (also gzipped), stdin (-) or the URLs given, one a line as seeds are; crawldb
    Writes:  crawldb, segments/ID with fetch list and host sheet
    Example: batchcrawl freegen mysite urls.txt
    Exit codes: 0 done, 2 wrong usage or a bad line (the good ones are taken), 3 disk full, 4 no URL to take,
                5 crawl in use, 6 corrupt data, 11 interrupted
    """
    with held_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        clock, disk, seeds = command_clock(), Disk(), Seeds(crawl.job)
        given = seeds.of(sources)
        entered = enter(crawl, given, scoped=in_scope, now=int(clock.now()), control=controls.of("freegen"))
        if not quiet:
            _echo_entered(entered)
        control = controls.of("generate")
        plan = generate_listed(crawl, entered.fingerprints, disk=disk, clock=clock, control=control)
        if not quiet:
            echo_plan(plan, threads=crawl.job.settings.fetch.threads)
    seeds.raise_faults()


def _echo_entered(entered: Entered) -> None:
    known, rejected = len(entered.fingerprints) - entered.new, sum(entered.rejected.values())
    click.echo(f"freegen: {entered.new:,} new, {known:,} known, {rejected:,} rejected")
    for reason, times in sorted(entered.rejected.items()):
        click.echo(f"  {reason:<22} {times:>10,}")
