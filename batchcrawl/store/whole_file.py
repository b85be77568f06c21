"""A file for people that appears whole, whoever writes it: under a temporary name first, then synced and renamed."""

import zlib
from pathlib import Path
from types import TracebackType
from typing import Protocol

import zstandard

from batchcrawl.errors import CrawlError, Interrupted
from batchcrawl.store.disk import TEMPORARY_SUFFIX, AppendFile, Disk

_WRITE_BYTES = 1 << 20
_GZIP = 31
"""The window bits that stand for a gzip member."""


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


class WholeFile:
    """Takes bytes and compresses them by the file's name, `.gz` or `.zst`, unless they are compressed already.

    Used as a context it abandons the file unless `finish` was reached, or it was interrupted after `keep`. Not
    thread-safe. Raises DiskFull or CrawlError, CrawlLocked when another process writes a file of that name.
    """

    def __init__(self, disk: Disk, path: Path, *, compress: bool = True, kept_bytes: int = 0) -> None:
        """`kept_bytes`: go on behind so many bytes that an earlier process has kept."""
        self.path = path
        self.taken = 0
        """Bytes taken so far, before they are compressed."""
        self._disk = disk
        self._file: AppendFile | None = lock_temporary(disk, path, kept_bytes=kept_bytes)
        self._suffix = path.suffix if compress else ""
        self._compressor = _compressor(self._suffix)
        self._buffer = bytearray()
        self._is_kept = kept_bytes > 0

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._buffer += data
        self.taken += len(data)
        if len(self._buffer) >= _WRITE_BYTES:
            self._pass_on()

    def finish(self) -> None:
        """Make the content durable, then give the file its name, replacing one that has it: the commit act."""
        file = self._opened()
        self._end()
        self._disk.rename(file.path, self.path)
        file.close()
        self._file = None

    def keep(self) -> int:
        """Make durable what was taken, and return how many bytes that is in the file: whoever goes on begins there.

        What is compressed ends there, and begins anew (RFC 1952, section 2.2; RFC 8878, section 3.1).
        """
        self._end()
        self._compressor = _compressor(self._suffix)
        self._is_kept = True
        return self._opened().tell()

    def __enter__(self) -> "WholeFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            if not (self._is_kept and isinstance(error, Interrupted)):
                self._disk.remove(self._file.path)
            self._file.close()
            self._file = None

    def _end(self) -> None:
        file = self._opened()
        self._pass_on()
        if self._compressor is not None:
            file.write(self._compressor.flush())
        file.sync()

    def _pass_on(self) -> None:
        data = bytes(self._buffer)
        self._buffer.clear()
        self._opened().write(data if self._compressor is None else self._compressor.compress(data))

    def _opened(self) -> AppendFile:
        if self._file is None:
            raise ValueError(f"{self.path} is finished")
        return self._file


def temporary(path: Path) -> Path:
    """Return the name under which a file is written."""
    return path.with_name(path.name + TEMPORARY_SUFFIX)


def lock_temporary(disk: Disk, path: Path, *, kept_bytes: int = 0) -> AppendFile:
    """Open the temporary file of a name, and keep other processes from it until it is closed.

    It is empty, or has the first `kept_bytes` bytes of what was in it. Raises CrawlError when it has not so many.
    """
    file = disk.open_append(temporary(path))
    try:
        file.lock()
        if file.tell() < kept_bytes:
            raise CrawlError(f"{file.path} has {file.tell()} of {kept_bytes} bytes; remove it and begin anew")
        file.truncate(kept_bytes)  # the rest is of a killed process
    except BaseException:
        file.close()
        raise
    return file


def _compressor(suffix: str) -> _Compressor | None:
    if suffix == ".gz":
        return zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=9, write_checksum=True).compressobj()
    return None
