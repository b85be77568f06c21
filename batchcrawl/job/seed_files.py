"""Reads seed files and standard input line by line, plain or compressed by gzip, in bounded memory."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec import structs

from batchcrawl.errors import SeedError
from batchcrawl.job.load import Job
from batchcrawl.job.seeds import LINE_BYTES_MAX, Seed, SeedFault, parse_seed_lines
from batchcrawl.model.kind import UrlKind

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP_MAGIC = b"\x1f\x8b"


def job_seeds(job: Job) -> Iterator[Seed | SeedFault]:
    """Yield the seeds and faults of a job: its seeds, its sitemaps, then its seed files; raises as `read_seed_file`."""
    for url in job.settings.seeds:
        yield from parse_seed_lines([url.encode()], job.shown)
    for url in job.settings.sitemaps.urls:
        for seed in parse_seed_lines([url.encode()], job.shown):
            yield structs.replace(seed, kind=UrlKind.SITEMAP) if isinstance(seed, Seed) else seed
    for path in job.seed_paths:
        yield from read_seed_file(path, str(path))


def read_seed_file(path: Path, shown: str) -> Iterator[Seed | SeedFault]:
    """Yield the seeds and faults of a file; `shown` is its name in messages.

    Raises SeedError when the file cannot be opened or read, or its gzip is damaged: what stood before was yielded.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise SeedError(f"{shown}: {error.strerror or error}; a seed file has one URL a line") from error
    with file:
        yield from read_seeds(file, shown)


def read_seeds(stream: BinaryIO, shown: str) -> Iterator[Seed | SeedFault]:
    """Yield the seeds and faults of an open stream, as standard input's buffer; raises as `read_seed_file`."""
    return parse_seed_lines(_lines(stream, shown), shown)


def _lines(stream: BinaryIO, shown: str) -> Iterator[bytes]:
    number = 0
    try:
        for line in _bounded_lines(_plain(stream)):
            number += 1
            yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SeedError(f"{shown}: gzip is damaged behind line {number}: {error}; get the file again") from error
    except OSError as error:
        raise SeedError(f"{shown}: {error.strerror or error} behind line {number}") from error


def _plain(stream: BinaryIO) -> io.BufferedIOBase:
    start = stream.read(len(_GZIP_MAGIC))
    whole = io.BufferedReader(_Rejoined(start, stream))
    return gzip.GzipFile(fileobj=whole) if start == _GZIP_MAGIC else whole


class _Rejoined(io.RawIOBase):
    """A stream of which the start was read already; to close it leaves the stream open."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        piece = self._start or self._rest.read(len(view))
        self._start = b""
        view[: len(piece)] = piece
        return len(piece)


def _bounded_lines(stream: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield lines; of one that is too long, its beginning, which is still too long to be taken for a line."""
    while line := stream.readline(LINE_BYTES_MAX + 1):
        yield line
        while len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
            line = stream.readline(LINE_BYTES_MAX + 1)
