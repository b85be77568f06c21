"""The commands that say how a crawl stands."""

import click
import msgspec

from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import command_clock, opened_crawl, seen_crawl
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.units import about
from batchcrawl.report import CrawlStatus, TrapStatus, crawl_status, segment_rows
from batchcrawl.store.segment import COMMANDS


@click.command()
@job_argument
@click.option("--full", is_flag=True, help="Look at every URL record, too: how fresh the stored copies are.")
@json_option
def status(job: str, full: bool, as_json: bool) -> None:
    """Say how a crawl stands.

    \b
    Reads:   crawldb, manifests of the segments
    Writes:  nothing
    Example: batchcrawl status mysite
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        found = crawl_status(crawl, now=now, full=full)
        if as_json:
            click.echo(msgspec.json.encode(found))
        else:
            _echo_status(crawl, found, now)


@click.command()
@job_argument
@json_option
def segments(job: str, as_json: bool) -> None:
    """List the segments of a crawl, oldest first.

    \b
    Reads:   manifests of the segments
    Writes:  nothing
    Example: batchcrawl segments mysite
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with opened_crawl(job) as crawl:
        rows = segment_rows(crawl)
    if as_json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
        return
    click.echo(f"{'segment':<17} {'state':<10} {'URLs':>9} {'hosts':>7} {'fetched':>9} {'new':>9} {'MB':>9}")
    for row in rows:
        click.echo(
            f"{row['id']:<17} {row['state']:<10} {row['urls']:>9,} {row['hosts']:>7,} {row['fetched']:>9,} "
            f"{row['new']:>9,} {row['body_bytes'] / 1e6:>9,.1f}"
        )


def _echo_status(crawl: Crawl, found: CrawlStatus, now: float) -> None:
    click.echo(f"{crawl.job.name}: {found.known:,} URLs known on {found.hosts:,} hosts, {crawl.partitions} partitions")
    for name, urls in sorted(found.statuses.items()):
        click.echo(f"  {name:<22} {urls:>14,}")
    click.echo(f"  {'ready now':<22} {found.ready:>14,}")
    later = ""
    if found.next_due_at is not None:
        later = f"   the first in {about(max(0.0, found.next_due_at - now))}"
    click.echo(f"  {'due later':<22} {found.timers:>14,}{later}")
    click.echo(f"  {'hosts put off':<22} {found.put_off_hosts:>14,}")
    click.echo(f"  {'requests':<22} {found.requests:>14,}   {found.body_bytes / 1e6:,.1f} MB of bodies")
    _echo_recrawl(found)
    for name, trap in sorted(found.traps.items()):
        click.echo(f"  {f'trap {name}':<22} {_trap_line(trap)}")
    click.echo(f"  {'segments':<22} {found.segments:>14,}")
    click.echo(f"  {'public suffix list':<22} {found.suffix_list or 'of no stated version'}, fixed at birth")
    for name, step in found.unfinished.items():
        so_far = f": {found.outcomes[name]:,} outcomes so far" if found.outcomes.get(name) else ""
        click.echo(f"  segment {name} is next to {COMMANDS[step]}{so_far}")
    if found.at_work is not None:
        click.echo(f"  process {found.at_work} is at work; the numbers are those of its last commit")


def _echo_recrawl(found: CrawlStatus) -> None:
    floor = "" if found.floor == found.price else f"; pages worth {found.floor:.3g} are ready"
    click.echo(f"  {'price of a refetch':<22} {found.price:>14.3g}   weighted days{floor}")
    if found.budget is not None:
        click.echo(f"  {'refetches today':<22} {found.refetches_today:>14,}   of {found.budget.budget:,.0f} a day")
    if found.freshness is not None:
        of_copies = f"of {found.freshness.copies:,} copies; by weight {found.freshness.weighted:.1%}"
        click.echo(f"  {'still right':<22} {found.freshness.plain:>14.1%}   {of_copies}")


def _trap_line(trap: TrapStatus) -> str:
    told = [f"{trap.urls:,} URLs known"] if trap.urls else []
    told += [f"{trap.rejected:,} links not taken"] if trap.rejected else []
    hosts = f"on {trap.most}" if trap.hosts == 1 else f"on {trap.hosts:,} hosts, most on {trap.most}"
    return f"{', '.join(told)}, {hosts}"
