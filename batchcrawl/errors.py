"""The error tree, and the exit code of each branch.

    CrawlError                1   the step failed
    ├── UsageError            2   a mistake in the command line
    │   ├── JobFileError      2   a mistake in a job file
    │   ├── SeedError         2   a mistake in a seed file
    │   └── WrongOrder        2   a step was asked for before the one that it needs
    ├── DiskFull              3   no space left on the device
    ├── NothingDue            4   no URL may be taken now
    ├── CrawlLocked           5   another process holds the crawl
    ├── CorruptData           6   bytes on disk are not what was written
    ├── Interrupted          11   stopped by a signal; the same command continues
    ├── TimeLimitReached     15   the step ended at its time limit
    └── InternalError         1   a mistake in the program

A page that cannot be fetched is no error but a fetch outcome (`model.outcome`); a URL that is not
taken is a rejection with a reason (`model.rejection`).
"""

import traceback
from enum import IntEnum

INTERRUPTED_LINE = "interrupted; the same command continues"


class ExitCode(IntEnum):
    """What the process tells its caller. The sentence stands in README, help and here."""

    sentence: str

    def __new__(cls, number: int, sentence: str) -> "ExitCode":
        """Make a code of its number and its sentence."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.sentence = sentence
        return member

    DONE = 0, "done"
    FAILED = 1, "failed"
    USAGE = 2, "wrong usage or job file"
    DISK_FULL = 3, "out of disk space"
    NOTHING_DUE = 4, "nothing due"
    LOCKED = 5, "another process holds the crawl"
    CORRUPT = 6, "corrupt data"
    INTERRUPTED = 11, "interrupted and resumable"
    TIME_LIMIT = 15, "time limit reached"


class CrawlError(Exception):
    """A step could not do its work; the message says what happened and what to do."""

    exit_code = ExitCode.FAILED


class UsageError(CrawlError):
    """The command line asks for something that cannot be."""

    exit_code = ExitCode.USAGE


class JobFileError(UsageError):
    """A job file is wrong; the message names file, key and what is allowed."""


class SeedError(UsageError):
    """A seed file is wrong; the message names file and line."""


class WrongOrder(UsageError):
    """A step was asked for before the one that it needs; the message gives the command to run."""


class DiskFull(CrawlError):
    """A write found no space; what was committed before is kept."""

    exit_code = ExitCode.DISK_FULL


class NothingDue(CrawlError):
    """Generate found no URL that may be taken now."""

    exit_code = ExitCode.NOTHING_DUE

    def __init__(self, message: str, *, due_at: float | None = None) -> None:
        """`due_at` is when the next URL may be taken, in seconds since 1970; None for never by itself."""
        super().__init__(message)
        self.due_at = due_at


class CrawlLocked(CrawlError):
    """Another process holds the crawl; the message names its pid."""

    exit_code = ExitCode.LOCKED


class CorruptData(CrawlError):
    """Bytes on disk are not what was written; the message names file and offset."""

    exit_code = ExitCode.CORRUPT


class Interrupted(CrawlError):
    """A signal stopped the step; the same command continues it."""

    exit_code = ExitCode.INTERRUPTED


class TimeLimitReached(CrawlError):
    """The step ended at its time limit; what was left is returned to the crawldb by update."""

    exit_code = ExitCode.TIME_LIMIT


class InternalError(CrawlError):
    """The program came across what it does not expect; the message asks to report it."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace

    @classmethod
    def of(cls, error: BaseException) -> "InternalError":
        """Return the line to say of an exception that is no CrawlError, with its traceback beside it."""
        words = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
        return cls(f"internal error: {words}; please report it", "".join(traceback.format_exception(error)))
