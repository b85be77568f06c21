"""Files for what is too large to be held in memory: without a name, so that a killed process leaves none of them."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from batchcrawl.store.disk import TEMPORARY_SUFFIX, Disk, UnnamedFile

_SUFFIX = ".spool" + TEMPORARY_SUFFIX
_PIECE_BYTES = 1 << 16


class Spool:
    """Makes such files in a directory; thread-safe. What a killed process left under the same prefix is removed."""

    def __init__(self, disk: Disk, directory: Path, prefix: str) -> None:
        self._disk = disk
        self._directory = directory
        self._prefix = prefix
        self._numbers = count()
        for left in directory.glob(f"{prefix}-*{_SUFFIX}"):
            disk.remove(left)

    def new(self) -> "SpoolFile":
        """Return an empty file. Raises DiskFull or CrawlError."""
        name = f"{self._prefix}-{next(self._numbers)}{_SUFFIX}"
        return SpoolFile(self._disk.open_unnamed(self._directory / name))


class SpoolFile:
    """A row of bytes on disk that is written once, read any number of times, and forgotten."""

    def __init__(self, file: UnnamedFile) -> None:
        self._file = file

    def __len__(self) -> int:
        """Return its bytes."""
        return self._file.tell()

    def write(self, data: bytes) -> None:
        """Add bytes behind its end. Raises DiskFull or CrawlError."""
        self._file.write(data)

    def pieces(self) -> Iterator[bytes]:
        """Yield it from its beginning, a little at a time."""
        offset = 0
        while piece := self._file.read(offset, _PIECE_BYTES):
            yield piece
            offset += len(piece)

    def close(self) -> None:
        """Let go of it; a second time does nothing."""
        self._file.close()
