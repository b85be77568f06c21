"""The command that puts seeds into a crawl."""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from batchcrawl.cli.completing import complete_file
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, files_of, warn_of_open_rights
from batchcrawl.cli.summaries import echo_inject
from batchcrawl.errors import JobFileError, SeedError, UsageError
from batchcrawl.inject import inject as inject_step
from batchcrawl.job.crawl import fixed_at_birth, open_or_create
from batchcrawl.job.load import Job, load_job, require_contact
from batchcrawl.job.seed_files import job_seeds, read_seed_file, read_seeds
from batchcrawl.job.seeds import Seed, SeedFault, parse_seed_lines
from batchcrawl.job.template import hosts_of
from batchcrawl.store.disk import Disk
from batchcrawl.store.lock import CrawlLock

FAULTS_SHOWN = 20
SEED_FILE_SUFFIXES = (".txt", ".tsv", ".csv", ".gz")


@click.command()
@job_argument
@click.argument("sources", nargs=-1, metavar="[FILE|-|URL...]", shell_complete=complete_file)
@quiet_option
def inject(job: str, sources: tuple[str, ...], quiet: bool) -> None:
    """Put seeds into the crawldb; without any, those of the job file.

    A seed line is a URL, then key=value pairs behind tabs: score, interval, others are kept as metadata.

    \b
    Reads:   FILE (also gzipped), stdin (-), the URLs given, or seeds, seed_files and sitemaps.urls of the job
    Writes:  crawldb
    Example: batchcrawl inject mysite https://www.example.org/
    Exit codes: 0 done, 2 a bad seed (the good ones are in) or no contact (none is), 3 disk full, 5 crawl in use,
                6 corrupt data, 11 interrupted
    """
    found = load_job(job, cwd=Path.cwd())
    settings = found.settings
    if not sources and not (settings.seeds or settings.seed_files or settings.sitemaps.urls):
        raise UsageError(f"{found.shown} names no seeds; give some: batchcrawl inject {found.argument} URL")
    seeds = Seeds(found)
    if settings.contact is None:
        seeds.require_contact(sources)
    disk = Disk()
    disk.make_dir(found.data_dir)
    with files_of(found.data_dir), CrawlLock(found.data_dir / "lock"):
        warn_of_open_rights(found.data_dir)
        crawl = open_or_create(found, disk)
        crawl.require_no_purge()
        for line in fixed_at_birth(found, crawl.identity):
            click.echo(line, err=True)
        summary = inject_step(crawl, seeds.of(sources), disk=disk, clock=command_clock())
    if not quiet:
        echo_inject(summary)
    seeds.raise_faults()


class Seeds:
    """Yields good seeds and keeps what was wrong until they are in."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._faults: list[SeedFault] = []
        """Those to show, and one more to tell that there are others."""
        self._cut: UsageError | None = None

    def of(self, sources: tuple[str, ...]) -> Iterator[Seed]:
        """Yield the seeds up to the first source that cannot be read. Raises JobFileError where a contact is needed."""
        try:
            for line in lines_of(self._job, sources):
                if isinstance(line, Seed):
                    require_contact(self._job, hosts_of([line.url]))
                    yield line
                elif len(self._faults) <= FAULTS_SHOWN:
                    self._faults.append(line)
        except JobFileError:
            raise
        except UsageError as error:
            self._cut = error

    def require_contact(self, sources: tuple[str, ...]) -> None:
        """Raise JobFileError before anything is injected if a seed needs a contact; streams are read only once."""
        files = tuple(source for source in sources if not _is_stream(source))
        own_stream = not sources and any(map(_is_stream, map(str, self._job.seed_paths)))
        if (files or not sources) and not own_stream:
            for _ in Seeds(self._job).of(files):
                pass

    def raise_faults(self) -> None:
        """Show the bad lines; raise the error of the source that could not be read, or SeedError for bad lines."""
        for fault in self._faults[:FAULTS_SHOWN]:
            click.echo(str(fault), err=True)
        if self._cut is not None:
            raise self._cut
        if self._faults:
            which = f"the first {FAULTS_SHOWN}" if len(self._faults) > FAULTS_SHOWN else "the"
            raise SeedError(
                f"{which} bad lines are named above; all good ones are injected: "
                "correct the others and inject them again"
            )


def lines_of(job: Job, sources: tuple[str, ...]) -> Iterator[Seed | SeedFault]:
    """Yield the seeds of the sources in their order. A source is a file where there is one of that name.

    Raises UsageError for one that cannot be read.
    """
    if not sources:
        yield from job_seeds(job)
    for source in sources:
        if source == "-":
            yield from _stdin()
        elif os.path.isfile(source) or _is_stream(source):
            yield from read_seed_file(Path(source), source)
        elif "://" not in source and source.endswith(SEED_FILE_SUFFIXES):
            raise UsageError(f"{source}: no such file; what stood before it is taken")
        else:
            yield from parse_seed_lines(io.BytesIO(source.encode()), "argument")


def _is_stream(source: str) -> bool:
    return source == "-" or (os.path.exists(source) and not os.path.isfile(source) and not os.path.isdir(source))


def _stdin() -> Iterator[Seed | SeedFault]:
    if sys.stdin is None:
        raise SeedError("stdin is closed; pipe seed lines into it, or name a file")
    yield from read_seeds(sys.stdin.buffer, "stdin")
