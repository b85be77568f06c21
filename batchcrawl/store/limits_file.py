"""A file of limits: how many URLs a segment may take of a host or registered domain. It may have millions of lines.

    # name, most URLs, and of a domain most hosts
    example.org<TAB>500<TAB>20
    www.example.org<TAB>100

A large file is searched where it lies, so its lines must be sorted by their bytes (`LC_ALL=C sort`); a small one is
sorted when it is read.
"""

import mmap
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from batchcrawl.errors import UsageError

SORTED_BYTES_MAX = 4 << 20
"""A file up to this size need not be sorted."""
_LINE = re.compile(rb"([^\s#][^\s]*)\t([0-9]{1,9})(?:\t([0-9]{1,9}))?")


class Limit(NamedTuple):
    """What a segment may take of a host or domain."""

    urls_max: int
    hosts_max: int | None = None
    """Of a registered domain; None for no limit."""


class LimitsFile:
    """The limits by name."""

    def __init__(self, path: Path) -> None:
        """Open a file that `check_limits` has found right."""
        self._lines = _opened(path)

    def of(self, name: str) -> Limit | None:
        """Return the limit of a host name or registered domain, or None."""
        wanted, low, high = name.encode(), 0, len(self._lines)
        while low < high:  # both at the start of a line
            start = self._lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = self._lines.find(b"\n", start)
            line = self._lines[start : end if end >= 0 else None]
            found = line.partition(b"\t")[0]
            if found == wanted:
                return _limit(line)
            if found < wanted:
                low = end + 1 if end >= 0 else high
            else:
                high = start
        return None


def check_limits(path: Path | None) -> None:
    """Raise UsageError, with the place as `file:line`, for a file that is no list of limits; None is none."""
    if path is None:
        return
    shown = str(path)
    try:
        with path.open("rb") as lines:
            _check(lines, shown, is_sorted=path.stat().st_size > SORTED_BYTES_MAX)
    except OSError as error:
        raise UsageError(f"{shown}: {error.strerror}") from error


def _check(lines: Iterable[bytes], shown: str, *, is_sorted: bool) -> None:
    before = b""
    for number, text in enumerate(lines, start=1):
        line = text.rstrip(b"\r\n")
        if line and not line.startswith(b"#") and not _LINE.fullmatch(line):
            raise UsageError(f"{shown}:{number}: must be a name, a tab, a number, and of a domain a tab and a number")
        if is_sorted and line < before:
            raise UsageError(f"{shown}:{number}: a file as large as this must be sorted: LC_ALL=C sort -o FILE FILE")
        before = line


def _opened(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        if path.stat().st_size > SORTED_BYTES_MAX:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return b"\n".join(sorted(line.rstrip(b"\r\n") for line in file)) + b"\n"


def _limit(line: bytes) -> Limit | None:
    found = _LINE.fullmatch(line.rstrip(b"\r"))
    if found is None:
        return None
    return Limit(int(found[2]), None if found[3] is None else int(found[3]))
