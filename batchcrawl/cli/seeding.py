"""The command that puts seeds into a crawl."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, speaking
from batchcrawl.cli.summaries import echo_inject
from batchcrawl.errors import SeedError, UsageError
from batchcrawl.inject import inject as inject_step
from batchcrawl.job.crawl import open_or_create
from batchcrawl.job.load import Job, load_job
from batchcrawl.job.seed_files import read_seed_file, read_seeds
from batchcrawl.job.seeds import Seed, SeedFault, parse_seed_lines
from batchcrawl.store.disk import Disk
from batchcrawl.store.lock import CrawlLock

FAULTS_SHOWN = 20
SEED_FILE_SUFFIXES = (".txt", ".tsv", ".csv", ".gz")


@click.command()
@job_argument
@click.argument("sources", nargs=-1, metavar="[FILE|-|URL...]")
@quiet_option
@speaking
def inject(job: str, sources: tuple[str, ...], quiet: bool) -> None:
    """Put seeds into the crawldb; without any, those of the job file.

    A seed line is a URL, then key=value pairs behind tabs: score, interval, others are kept as metadata.

    \b
    Reads:   FILE (also gzipped), stdin (-), the URLs given, or seeds and seed_files of the job
    Writes:  crawldb
    Example: batchcrawl inject docs https://docs.example.org/
    Exit codes: 0 done, 2 a bad seed (the good ones are in), 3 disk full, 5 crawl in use, 11 interrupted
    """
    found = load_job(job, cwd=Path.cwd())
    disk = Disk()
    disk.make_dir(found.data_dir)
    faults: list[SeedFault] = []
    with CrawlLock(found.data_dir / "lock"):
        seeds = _good(_lines(found, sources), faults)
        summary = inject_step(open_or_create(found, disk), seeds, disk=disk, clock=command_clock())
    if not quiet:
        echo_inject(summary)
    _raise_for(faults)


def _lines(job: Job, sources: tuple[str, ...]) -> Iterator[Seed | SeedFault]:
    """Yield the seeds of the sources in their order. A source is a file where there is one of that name."""
    if not sources:
        yield from _own(job)
    for source in sources:
        if source == "-":
            yield from read_seeds(sys.stdin.buffer, "stdin")
        elif Path(source).is_file():
            yield from read_seed_file(Path(source), source)
        elif "://" not in source and source.endswith(SEED_FILE_SUFFIXES):
            raise UsageError(f"{source}: no such file")
        else:
            yield from parse_seed_lines(io.BytesIO(source.encode()), "argument")


def _own(job: Job) -> Iterator[Seed | SeedFault]:
    if not job.settings.seeds and not job.settings.seed_files:
        raise UsageError(f"{job.shown} names no seeds; give some: batchcrawl inject {job.argument} URL")
    for url in job.settings.seeds:
        yield from parse_seed_lines([url.encode()], job.shown)
    for path in job.seed_paths:
        yield from read_seed_file(path, str(path))


def _good(lines: Iterator[Seed | SeedFault], faults: list[SeedFault]) -> Iterator[Seed]:
    """Yield the seeds and set the faults aside: those to show, and one more to tell that there are others."""
    for line in lines:
        if isinstance(line, Seed):
            yield line
        elif len(faults) <= FAULTS_SHOWN:
            faults.append(line)


def _raise_for(faults: list[SeedFault]) -> None:
    if not faults:
        return
    for fault in faults[:FAULTS_SHOWN]:
        click.echo(str(fault), err=True)
    more = f"the first {FAULTS_SHOWN} bad lines are" if len(faults) > FAULTS_SHOWN else "the bad lines are"
    raise SeedError(f"{more} named above; all good ones are injected: correct the others and inject them again")
