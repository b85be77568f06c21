"""What surrounds a command: the errors it may end with, the signals that stop it, the clock it is given."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from batchcrawl.cli.progress import StepProgress
from batchcrawl.engine.control import Control
from batchcrawl.errors import CrawlError, ExitCode, UsageError
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.clock import Clock, FixedClock, SystemClock
from batchcrawl.model.record import INSTANT_MAX
from batchcrawl.store.lock import CrawlLock

CLOCK_VARIABLE = "BATCHCRAWL_CLOCK"
"""`BATCHCRAWL_CLOCK=1790000000` lets the wall clock stand still there, so that two runs can be compared."""

Command = TypeVar("Command", bound=Callable[..., Any])


def speaking(command: Command) -> Command:
    """Let a command end with one line and the exit code of its error; a closed pipe ends it quietly."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except CrawlError as error:
            click.echo(f"batchcrawl: {error}", err=True)
            sys.exit(int(error.exit_code))
        except KeyboardInterrupt:  # where no step is under way, as in inject; its batches are whole or not there
            click.echo("batchcrawl: interrupted; the same command continues", err=True)
            sys.exit(int(ExitCode.INTERRUPTED))
        except BrokenPipeError:
            # What is still buffered has no reader; the interpreter must not try to flush it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(int(ExitCode.FAILED))

    return run  # type: ignore[return-value]  # the same signature


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
def held_crawl(job: str) -> Iterator[Crawl]:
    """Open a crawl and hold its lock. Raises CrawlLocked when another process has it."""
    crawl = open_crawl(load_job(job, cwd=Path.cwd()))
    with CrawlLock(crawl.layout.lock):
        yield crawl


class Controls:
    """Gives each step its control, and passes on what the user says by signals."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stops = 0
        self._control: Control | None = None
        self._progress: StepProgress | None = None

    def of(self, command: str) -> Control:
        """Return the control of a step that begins now; the progress of the one before ends."""
        self.end()
        self._progress = StepProgress(command, quiet=self._quiet)
        self._control = Control(self._progress)
        for _ in range(self._stops):
            self._control.stop()
        return self._control

    def end(self) -> None:
        """Clear away the progress of the last step."""
        if self._progress is not None:
            self._progress.close()
            self._progress = None

    def stop(self) -> int:
        """Ask the running step, and all that follow, to stop; return how often that was asked."""
        self._stops += 1
        if self._control is not None:
            self._control.stop()
        return self._stops


@contextmanager
def stoppable(*, quiet: bool = False) -> Iterator[Controls]:
    """Give steps their controls: SIGINT and SIGTERM ask to stop, a second one to drop what is in flight."""
    controls = Controls(quiet=quiet)

    def on_signal(number: int, frame: FrameType | None) -> None:
        if controls.stop() == 1:
            # Not click.echo: the signal may have come in the middle of a write to stderr.
            os.write(2, b"\nstopping after what is in flight; once more drops that, too\n")

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield controls
    finally:
        controls.end()
        for number, handler in before.items():
            signal.signal(number, handler)
