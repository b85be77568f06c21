"""The commands that move the whole crawldb, or tidy it up."""

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import click
import msgspec

from batchcrawl.cli.group import Group, Place
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import files_of, held_crawl, seen_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.compact import compact
from batchcrawl.errors import UsageError
from batchcrawl.job.load import load_job
from batchcrawl.job.units import MB
from batchcrawl.store.disk import TEMPORARY_SUFFIX, Disk
from batchcrawl.store.lock import CrawlLock
from batchcrawl.store.portable import PortableLine, read_portable
from batchcrawl.take_in import take_in
from batchcrawl.write_out import write_out

BUFFER_BYTES = 1 << 20


@click.group(
    cls=Group,
    places={
        "export": Place("db", "export", "Write the whole crawldb as JSON lines, for import into another crawl."),
        "import": Place("db", "import_command", "Make a new crawl from what db export has written."),
        "compact": Place("db", "compact_command", "Give back the disk space of what was replaced or removed."),
    },
)
def db() -> None:
    """Move the whole crawldb, or tidy it up.

    \b
    Reads:   crawldb, or what db export has written
    Writes:  what db export writes, or the crawldb
    Example: batchcrawl db export mysite mysite.jsonl
    Exit codes: 0 done, 2 wrong usage
    """


@click.command()
@job_argument
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
def export(job: str, file: Path | None) -> None:
    """Write the whole crawldb as JSON lines, for import into another crawl.

    Segments stay where they are. FILE appears whole, or not at all; without one, the lines go to stdout.

    \b
    Reads:   crawldb, seed_hosts.txt, seed_domains.txt, public_suffix_list.dat
    Writes:  FILE
    Example: batchcrawl db export mysite | zstd > mysite.jsonl.zst
    Exit codes: 0 done, 2 wrong usage or order, 3 disk full, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        lines = write_out(crawl)
        if file is not None:
            _write(file, lines)
            return
        for line in lines:
            click.echo(msgspec.json.encode(line))


@click.command("import")
@job_argument
@click.argument("file", metavar="FILE|-")
@quiet_option
def import_command(job: str, file: str, quiet: bool) -> None:
    """Make a new crawl from what db export has written.

    It has as many partitions as its job asks for. URLs that a segment had may be taken again, since no segment comes
    along. An import that was cut begins again.

    \b
    Reads:   FILE, or stdin (-)
    Writes:  crawldb
    Example: zstdcat mysite.jsonl.zst | batchcrawl db import copy -
    Exit codes: 0 done, 2 wrong usage or a wrong line, 3 disk full, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    found, disk = load_job(job, cwd=Path.cwd()), Disk()
    if file != "-" and not Path(file).is_file():
        raise UsageError(f"{file}: no such file")
    disk.make_dir(found.data_dir)
    with ExitStack() as stack:
        stack.enter_context(files_of(found.data_dir))
        stack.enter_context(CrawlLock(found.data_dir / "lock"))
        lines = sys.stdin.buffer if file == "-" else stack.enter_context(Path(file).open("rb"))
        placed = read_portable(lines, "stdin" if file == "-" else file)
        taken = take_in(found, placed, cores=os.cpu_count() or 1, disk=disk)
    if not quiet:
        click.echo(f"db import: {taken.urls:,} URLs on {taken.hosts:,} hosts")
        if taken.leased:
            click.echo(f"  {'were out in a segment':<22} {taken.leased:>14,}")


@click.command("compact")
@job_argument
@quiet_option
def compact_command(job: str, quiet: bool) -> None:
    """Give back the disk space of what was replaced or removed.

    \b
    Reads:   crawldb
    Writes:  crawldb; no record changes
    Example: batchcrawl db compact mysite
    Exit codes: 0 done, 2 wrong usage or order, 3 disk full, 5 crawl in use, 6 corrupt data
    """
    with held_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        sizes = compact(crawl, control=controls.of("compact"))
    if not quiet:
        click.echo(f"db compact: {sizes.before / MB:,.1f} MB before, {sizes.after / MB:,.1f} MB now")


def _write(file: Path, lines: Iterable[PortableLine]) -> None:
    disk, temporary, held = Disk(), file.with_name(file.name + TEMPORARY_SUFFIX), bytearray()
    disk.remove(temporary)
    out = disk.open_new(temporary)
    try:
        for line in lines:
            held += msgspec.json.encode(line) + b"\n"
            if len(held) >= BUFFER_BYTES:
                out.write(bytes(held))
                held.clear()
        out.write(bytes(held))
        out.sync()
        disk.rename(temporary, file)
    finally:
        out.close()
        disk.remove(temporary)
