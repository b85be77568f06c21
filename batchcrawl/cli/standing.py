"""The commands that say how a crawl stands."""

import time
from collections.abc import Iterator

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import command_clock, opened_crawl, seen_crawl
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.freshness import Freshness
from batchcrawl.job.source import printable
from batchcrawl.job.units import about
from batchcrawl.standing import CrawlStatus, TrapStatus, crawl_status, segment_rows
from batchcrawl.store.segment import COMMANDS

ROUNDS_SHOWN = 5
HOSTS_SHOWN = 3


@click.command()
@job_argument
@click.option(
    "--full",
    is_flag=True,
    help="Look at every URL record, too: how fresh the stored copies are, and on which hosts they are not.",
)
@json_option
@click.option("--watch", is_flag=True, help="Again and again, until Ctrl-C.")
@click.option("--every", type=click.IntRange(min=1), default=10, metavar="SECONDS", help="With --watch; default: 10.")
def status(job: str, full: bool, as_json: bool, watch: bool, every: int) -> None:
    """Say how a crawl stands.

    \b
    Reads:   crawldb, manifests of the segments
    Writes:  nothing
    Example: batchcrawl status mysite
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    while True:
        with seen_crawl(job) as crawl:
            now = command_clock().now()
            found = crawl_status(crawl, now=now, full=full)
        if as_json:
            click.echo(msgspec.json.encode(found))
        else:
            if watch:
                click.clear()
            echo_lines(_told(crawl, found, now))
        if not watch:
            return
        time.sleep(every)


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


def _told(crawl: Crawl, found: CrawlStatus, now: float) -> Iterator[str]:
    yield f"{crawl.job.name}: {found.known:,} URLs known on {found.hosts:,} hosts, {crawl.partitions} partitions"
    for name, urls in sorted(found.statuses.items()):
        yield _row(name, urls)
    yield _row("ready now", found.ready)
    later = ""
    if found.next_due_at is not None:
        later = f"the first in {about(max(0.0, found.next_due_at - now))}"
    yield _row("due later", found.timers, later)
    within = f"within a day {found.due_1d:,}, a week {found.due_7d:,}"
    yield _row("due within an hour", found.due_1h, within)
    yield _row("hosts put off", found.put_off_hosts)
    yield _row("requests", found.requests, f"{found.body_bytes / 1e6:,.1f} MB of bodies")
    if found.bytes_today is not None:
        of_day = f"of {(crawl.job.settings.generate.bytes_day_max or 0) / 1e6:,.1f} MB a day"
        yield f"  {'MB today':<22} {found.bytes_today / 1e6:>14,.1f}   {of_day}"
    yield from _recrawl_told(found)
    for name, trap in sorted(found.traps.items()):
        yield f"  {f'trap {name}':<22} {_trap_line(trap)}"
    yield _row("segments", found.segments)
    yield f"  {'public suffix list':<22} {found.suffix_list or 'of no stated version'}, fixed at birth"
    yield from _rounds_told(found)
    yield from _hosts_told(found, now)
    for name, step in found.unfinished.items():
        so_far = f": {found.outcomes[name]:,} outcomes so far" if found.outcomes.get(name) else ""
        yield f"  segment {name} is next to {COMMANDS[step]}{so_far}"
    if found.at_work is not None:
        yield f"  process {found.at_work} is at work; the numbers are those of its last commit"
    yield f"what limits it now: {found.limit}"


def _row(name: str, number: int, more: str = "") -> str:
    return f"  {name:<22} {number:>14,}" + (f"   {more}" if more else "")


def _recrawl_told(found: CrawlStatus) -> Iterator[str]:
    """Yield what refetches cost and how many of them the budget has left, and how fresh the copies are if asked for."""
    floor = "" if found.floor == found.price else f"; pages worth {found.floor:.3g} are ready"
    yield f"  {'price of a refetch':<22} {found.price:>14.3g}   weighted days{floor}"
    if found.budget is not None:
        yield _row("refetches today", found.refetches_today or 0, f"of {found.budget.budget:,.0f} a day")
    if found.freshness is not None:
        of_copies = f"of {found.freshness.copies:,} copies; by weight {found.freshness.weighted:.1%}"
        yield f"  {'still right':<22} {found.freshness.plain:>14.1%}   {of_copies}"
        yield f"  {'never fetched':<22} {found.statuses['unfetched']:>14,}"
        yield from _stalest_told(found.freshness)


def _stalest_told(found: Freshness) -> Iterator[str]:
    """Yield the hosts whose copies are wrong with the most weight."""
    if found.worst:
        yield f"{'most stale weight':<40} {'copies':>9} {'right':>7} {'by weight':>9} {'stale weight':>12}"
    for host in found.worst:
        yield (
            f"{printable(host.host, 40):<40} {host.copies:>9,} {host.plain:>7.1%} {host.weighted:>9.1%} "
            f"{host.stale_weight:>12,.1f}"
        )


def _rounds_told(found: CrawlStatus) -> Iterator[str]:
    """Yield the last rounds, and how fetches failed in all that were looked at."""
    if found.rounds:
        yield f"{'round':<17} {'URLs':>8} {'pages':>8} {'new':>8} {'MB':>8} {'pages/s':>7} {'took':>7}  ended"
    for told in found.rounds[-ROUNDS_SHOWN:]:
        yield (
            f"{told.segment:<17} {told.urls:>8,} {told.pages:>8,} {told.new:>8,} {told.body_bytes / 1e6:>8,.1f} "
            f"{told.pages_per_s:>7,.1f} {about(told.duration_s):>7}  {told.why}"
        )
    if found.errors:
        failed = ", ".join(f"{name} {times:,}" for name, times in found.errors.most_common())
        yield f"failed in the last {len(found.rounds)} rounds: {failed}"


def _hosts_told(found: CrawlStatus, now: float) -> Iterator[str]:
    top = found.top_hosts
    for name, briefs in (
        ("busiest", [f"{brief.host} {brief.number:,.0f} requests" for brief in top.busiest]),
        ("slowest", [f"{brief.host} {brief.number:.2f} s" for brief in top.slowest]),
        ("put off", [f"{brief.host} for {about(brief.number - now)}" for brief in top.put_off]),
    ):
        if briefs:
            yield f"{name}: {', '.join(briefs[:HOSTS_SHOWN])}"


def _trap_line(trap: TrapStatus) -> str:
    told = [f"{trap.urls:,} URLs known"] if trap.urls else []
    told += [f"{trap.rejected:,} links not taken"] if trap.rejected else []
    hosts = f"on {trap.most}" if trap.hosts == 1 else f"on {trap.hosts:,} hosts, most on {trap.most}"
    return f"{', '.join(told)}, {hosts}"
