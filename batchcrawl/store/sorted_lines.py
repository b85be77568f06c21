"""Lines sorted in bounded memory: sorted runs in files without a name, merged when they are read."""

import heapq
from collections.abc import Iterator
from pathlib import Path

from batchcrawl.store.disk import TEMPORARY_SUFFIX, Disk, UnnamedFile

RUN_BYTES = 64 << 20
"""Bytes of lines that are held, and then sorted and put aside."""
_LINE_BYTES = 80
"""What a held line takes beside its bytes, about."""
_READ_BYTES = 1 << 18


class SortedLines:
    """Takes lines of bytes, without their ends, in any order; yields them in order, each once. A context."""

    def __init__(self, disk: Disk, folder: Path, *, run_bytes: int = RUN_BYTES) -> None:
        self._disk = disk
        self._folder = folder
        self._run_bytes = run_bytes
        self._lines: list[bytes] = []
        self._held = 0
        self._runs: list[UnnamedFile] = []

    def add(self, line: bytes) -> None:
        """Take a line."""
        self._lines.append(line)
        self._held += len(line) + _LINE_BYTES
        if self._held >= self._run_bytes:
            self._put_aside()

    def __iter__(self) -> Iterator[bytes]:
        last = None
        self._lines.sort()
        for line in heapq.merge(self._lines, *map(_lines_of, self._runs)):
            if line != last:
                yield line
            last = line

    def __enter__(self) -> "SortedLines":
        return self

    def __exit__(self, *exc: object) -> None:
        for run in self._runs:
            run.close()

    def _put_aside(self) -> None:
        run = self._disk.open_unnamed(self._folder / f".run-{id(self)}-{len(self._runs)}{TEMPORARY_SUFFIX}")
        self._runs.append(run)
        self._lines.sort()
        run.write(b"\n".join(self._lines) + b"\n")
        self._lines.clear()
        self._held = 0


def _lines_of(run: UnnamedFile) -> Iterator[bytes]:
    offset, rest = 0, b""
    while data := run.read(offset, _READ_BYTES):
        offset += len(data)
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
