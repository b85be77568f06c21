"""What surrounds a command: the crawl that it opens and the clock that it is given."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from batchcrawl.errors import CorruptData, UsageError
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.job.seeds import BadUrl, parse_seed_url
from batchcrawl.job.units import parse_duration
from batchcrawl.model.clock import Clock, FixedClock, SystemClock
from batchcrawl.model.record import INSTANT_MAX
from batchcrawl.store.lock import CrawlLock
from batchcrawl.store.snapshot import snapshots

CLOCK_VARIABLE = "BATCHCRAWL_CLOCK"
"""`BATCHCRAWL_CLOCK=1790000000` lets the wall clock stand still there, so that two runs can be compared."""


def command_clock() -> Clock:
    """Return the clock of a command. Raises UsageError for a BATCHCRAWL_CLOCK that is no number."""
    fixed = os.environ.get(CLOCK_VARIABLE)
    if not fixed:
        return SystemClock()
    try:
        at = float(fixed)
    except ValueError:
        at = -1.0
    if not 0 <= at <= INSTANT_MAX:
        raise UsageError(f"{CLOCK_VARIABLE} is {fixed!r}; it must be seconds since 1970")
    return FixedClock(at)


@contextmanager
def opened_crawl(job: str) -> Iterator[Crawl]:
    """Open a crawl to read files that no step changes once they are there."""
    found = load_job(job, cwd=Path.cwd())
    with files_of(found.data_dir):
        yield open_crawl(found)


@contextmanager
def seen_crawl(job: str) -> Iterator[Crawl]:
    """Open a crawl to look into its crawldb as it is now, whatever works on it meanwhile, which it does not disturb."""
    with opened_crawl(job) as crawl, snapshots(crawl.layout.crawldbs, range(crawl.partitions)) as folder:
        yield replace(crawl, layout=replace(crawl.layout, snapshot=folder))


@contextmanager
def held_crawl(job: str, *, purging: bool = False) -> Iterator[Crawl]:
    """Open a crawl and hold its lock. Raises CrawlLocked when another process has it.

    Unless `purging`, WrongOrder is raised while a purge that was cut is not ended.
    """
    with opened_crawl(job) as crawl, CrawlLock(crawl.layout.lock):
        warn_of_open_rights(crawl.layout.root)
        if not purging:
            crawl.require_no_purge()
        yield crawl


def warn_of_open_rights(crawl_dir: Path) -> None:
    """Say on stderr that anybody on the machine may change the crawl."""
    mode = stat.S_IMODE(crawl_dir.stat().st_mode)
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        click.echo(f"{crawl_dir} may be changed by anybody here (mode {mode:o}); chmod o-w makes it yours", err=True)


@contextmanager
def files_of(crawl_dir: Path) -> Iterator[None]:
    """Say of a file of the crawl that is not there that it is missing; raises CorruptData for FileNotFoundError."""
    try:
        yield
    except FileNotFoundError as error:
        name = None if error.filename is None else os.fsdecode(error.filename)
        if name is None or not Path(name).is_relative_to(crawl_dir):
            raise
        raise CorruptData(f"{name} is missing; the crawl needs it: put it back from a copy") from error


def asked_instant(text: str, *, now: float) -> float:
    """Return the instant that a user means, in seconds since 1970: a date, an instant in ISO 8601, or a time from now.

    An instant without an offset is one of UTC. Raises UsageError for what is none of them.
    """
    with suppress(ValueError):
        if text.startswith("+") and (wait_s := parse_duration(text[1:])) is not None:
            instant = now + wait_s
        else:
            at = datetime.fromisoformat(text)
            instant = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        if 0 <= instant <= INSTANT_MAX:
            return instant
    raise UsageError(f"{text!r} is no time; give one as 2026-12-24, 2026-12-24T18:00Z or +7d")


def asked_url(text: str) -> str:
    """Return the URL that a user means, who may leave out its scheme; what is no URL as it is."""
    url = parse_seed_url(text)
    return text if isinstance(url, BadUrl) else url
