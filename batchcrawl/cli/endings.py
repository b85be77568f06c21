"""How a command ends that cannot do its work: by one line on stderr and an exit code, whatever happened."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from batchcrawl.errors import INTERRUPTED_LINE, CrawlError, DiskFull, ExitCode, InternalError, Interrupted

DEBUG_VARIABLE = "BATCHCRAWL_DEBUG"
"""Set to anything, it has the traceback of an internal error printed."""


@contextmanager
def one_line_endings() -> Iterator[None]:
    """End the process with one line and the exit code of whatever is raised inside; a closed pipe ends it quietly."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise  # click's own ways to end: wrong options, --help
    except CrawlError as error:
        _end(error)
    except KeyboardInterrupt:  # where no step is under way, as in inject; its batches are whole or not there
        _end(Interrupted(INTERRUPTED_LINE))
    except BrokenPipeError:
        _drop_output()
        sys.exit(int(ExitCode.FAILED))
    except OSError as error:
        _end(_told(error))
    except Exception as error:  # noqa: BLE001  # the last stop: the user gets a line that can be reported
        _end(InternalError.of(error))


def _end(error: CrawlError) -> None:
    with suppress(OSError):  # stderr may be on the disk that is full
        if isinstance(error, InternalError) and os.environ.get(DEBUG_VARIABLE):
            click.echo(error.trace, err=True, nl=False)
        click.echo(f"batchcrawl: {error}", err=True)
    if isinstance(error, DiskFull) or not _flushed():
        _drop_output()
    sys.exit(int(error.exit_code))


def _told(error: OSError) -> CrawlError:
    """Return what to say of an error of the system that nobody nearer to its place has told."""
    if error.errno is None:
        return InternalError.of(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"no space left to write {error.filename or 'the output'}; make space and try again")
    reason = error.strerror or str(error)
    return CrawlError(reason if error.filename is None else f"{os.fsdecode(error.filename)}: {reason}")


def _flushed() -> bool:
    """Write out what is buffered; return whether somebody still takes it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def _drop_output() -> None:
    """Forget what is still buffered: the interpreter must not try to flush it at exit."""
    with suppress(OSError, ValueError):  # no file behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
