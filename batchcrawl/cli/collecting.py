"""The command that finds segments which nothing needs any more."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option, quiet_option
from batchcrawl.cli.running import command_clock, held_crawl, seen_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.gc import Judged, delete_segments, judge_segments
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.units import instant
from batchcrawl.store.disk import Disk

KEEP_DAYS = 30.0


@click.command("gc")
@job_argument
@click.option(
    "--keep-days",
    type=click.FloatRange(min=0),
    default=KEEP_DAYS,
    metavar="N",
    help=f"Keep what was updated in the last N days; default: {KEEP_DAYS:g}.",
)
@click.option("--delete", is_flag=True, help="Delete them; without it, they are only listed.")
@json_option
@quiet_option
def gc_command(job: str, keep_days: float, delete: bool, as_json: bool, quiet: bool) -> None:
    """List the segments that nothing needs any more, and delete them if asked.

    A segment is needed while a step of it is left, or while the latest copy of any page is in it. What is deleted
    is no more there for 'repair --from-segments'.

    \b
    Reads:   crawldb, manifests and fetch lists of the segments
    Writes:  nothing; with --delete, removes segments
    Example: batchcrawl gc mysite --keep-days 90 --delete
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    with _opened(job, delete=delete) as crawl, stoppable(quiet=quiet) as controls:
        now = command_clock().now()
        judged = judge_segments(crawl, keep_days=keep_days, now=now, control=controls.of("gc"))
        controls.end()
        if as_json:
            for line in _json_lines(judged):
                click.echo(line)
        else:
            echo_lines(_rows(judged))
        unneeded = [one for one in judged if one.kept is None]
        if delete:
            delete_segments(crawl, (one.id for one in unneeded), disk=Disk())
    if not quiet:
        freed = f"{sum(one.bytes_on_disk for one in unneeded) / 1e6:,.1f} MB"
        what = "deleted" if delete else "may be deleted, by --delete"
        click.echo(f"gc: {len(unneeded):,} of {len(judged):,} segments with {freed} {what}", err=as_json)


@contextmanager
def _opened(job: str, *, delete: bool) -> Iterator[Crawl]:
    with held_crawl(job) if delete else seen_crawl(job) as crawl:
        yield crawl


def _json_lines(judged: list[Judged]) -> Iterator[str]:
    for one in judged:
        row = {
            "id": one.id,
            "bytes": one.bytes_on_disk,
            "updated_at": one.updated_at,
            "latest_copies": one.latest_copies,
            "kept": None if one.kept is None else one.kept.value,
        }
        yield msgspec.json.encode(row).decode()


def _rows(judged: list[Judged]) -> Iterator[str]:
    yield f"{'segment':<17} {'updated':<20} {'MB':>9} {'latest copies':>14}  verdict"
    for one in judged:
        updated = "" if one.updated_at is None else instant(one.updated_at)
        verdict = "not needed" if one.kept is None else f"kept: {one.kept.value}"
        yield f"{one.id:<17} {updated:<20} {one.bytes_on_disk / 1e6:>9,.1f} {one.latest_copies:>14,}  {verdict}"
