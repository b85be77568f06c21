"""The commands that keep a crawl as it is, and put it back."""

from pathlib import Path

import click
import msgspec

from batchcrawl.cli.completing import complete_snapshot
from batchcrawl.cli.options import job_argument, json_option, quiet_option
from batchcrawl.cli.running import command_clock, held_crawl, opened_crawl
from batchcrawl.errors import UsageError
from batchcrawl.job.load import load_job
from batchcrawl.job.units import instant
from batchcrawl.snapshot import SnapshotInfo, make_snapshot, restore_snapshot, snapshots_of
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import Layout
from batchcrawl.store.lock import CrawlLock
from batchcrawl.store.segment import segment_id


@click.command()
@job_argument
@click.argument("name", metavar="[NAME]", required=False)
@quiet_option
def snapshot(job: str, name: str | None, quiet: bool) -> None:
    """Keep a crawl as it is now, under a name; default: the time in UTC.

    Files that never change are hard links: they take space only once the crawl has them no more. A snapshot that
    is not wanted any more may be removed as any directory.

    \b
    Reads:   the whole crawl
    Writes:  snapshots/NAME
    Example: batchcrawl snapshot mysite before-the-move
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 5 crawl in use, 6 corrupt data
    """
    with held_crawl(job) as crawl:
        now = command_clock().now()
        info = make_snapshot(crawl.layout, name or segment_id(int(now)), disk=Disk(), now=now)
    if not quiet:
        click.echo(f"snapshot: {_told(info)}")


@click.command("snapshots")
@job_argument
@json_option
def list_snapshots(job: str, as_json: bool) -> None:
    """List the snapshots of a crawl, oldest first.

    \b
    Reads:   snapshots/*/snapshot.json
    Writes:  nothing
    Example: batchcrawl snapshots mysite
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with opened_crawl(job) as crawl:
        for info in snapshots_of(crawl.layout):
            click.echo(_json(info) if as_json else _told(info))


@click.command()
@job_argument
@click.argument("name", metavar="NAME", shell_complete=complete_snapshot)
@quiet_option
def restore(job: str, name: str, quiet: bool) -> None:
    """Put a crawl back to what it was when a snapshot was made.

    All that came after is given up; make a snapshot first to keep it. A restore that was cut is ended by the same
    command, before any other runs.

    \b
    Reads:   snapshots/NAME
    Writes:  the whole crawl but its snapshots
    Example: batchcrawl restore mysite before-the-move
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 5 crawl in use, 6 corrupt data
    """
    found = load_job(job, cwd=Path.cwd())
    layout = Layout(found.data_dir)
    if not layout.snapshots.is_dir():
        raise UsageError(f"{found.name}: there is no snapshot; 'batchcrawl snapshot {found.argument}' makes one")
    with CrawlLock(layout.lock):
        restored = restore_snapshot(layout, name, disk=Disk())
    if not quiet:
        what = "a restore that was cut is ended" if restored.resumed else "the crawl is as it was"
        click.echo(f"restore: {what}; {_told(restored.info)}")


def _told(info: SnapshotInfo) -> str:
    return f"{info.name}, of {instant(info.created_at)}: {info.segments:,} segments, {info.bytes / 1e6:,.1f} MB"


def _json(info: SnapshotInfo) -> str:
    return msgspec.json.encode(info).decode()
