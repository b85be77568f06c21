"""A WARC file as bytes on disk: a row of gzip members that grows, is recovered, and is closed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.store.disk import AppendFile, Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.reading import open_stored, size_stored
from batchcrawl.store.records import FileInfo
from batchcrawl.store.warc_record import InflateError, inflater

OPEN_SUFFIX = ".open"
"""Ends the name of a WARC file that still grows."""
RECORD_BYTES_MAX = 256 << 20
"""No record of more uncompressed bytes is read."""
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Scan:
    """What a walk over a file's gzip members found."""

    valid_bytes: int
    """Up to here every member is whole and its checksum is right."""
    records: int


class GrowingFile:
    """The file that is being written, with what its FileInfo will say. Not thread-safe."""

    def __init__(self, name: str, file: AppendFile, *, records: int = 0) -> None:
        self.name = name
        self.file = file
        self.records = records
        self._checksum = _checksum(file.path)

    def append(self, members: Iterable[bytes], *, records: int) -> int:
        """Add whole members, which may come in any pieces, and return the offset of the first.

        Where a piece cannot be had, nothing of them stays.
        """
        offset, checksum = self.file.tell(), self._checksum.copy()
        try:
            for piece in members:
                self.file.write(piece)
                checksum.update(piece)
        except BaseException:
            self.file.truncate(offset)
            raise
        self._checksum = checksum
        self.records += records
        return offset

    def info(self) -> FileInfo:
        """Return what the file is now."""
        return FileInfo(name=self.name, bytes=self.file.tell(), checksum=self._checksum.hexdigest(), lines=self.records)


def closed_file(path: Path) -> FileInfo:
    """Return what a closed WARC file is, every member checked. Raises CorruptData naming file and offset."""
    size = size_stored(path)
    scan = scan_warc(path)
    if scan.valid_bytes != size:
        raise CorruptData(f"{path}: damaged at byte {scan.valid_bytes} of {size}")
    return FileInfo(name=path.name, bytes=size, checksum=_checksum(path).hexdigest(), lines=scan.records)


def new_file(disk: Disk, directory: Path, name: str) -> GrowingFile:
    """Create the file that will be called `name` when it is closed."""
    file = disk.open_new(directory / (name + OPEN_SUFFIX))
    file.lock()
    return GrowingFile(name, file)


def reopen_file(disk: Disk, path: Path, *, synced_bytes: int = 0) -> GrowingFile:
    """Cut the torn tail of a file that was left open, make the rest durable, and go on behind it.

    `synced_bytes` is how much is known to have been durable: damage before it is no torn tail, and raises
    CorruptData instead of cutting good records away. CrawlLocked when another process writes the file.
    """
    if not path.exists():
        raise CrawlError(f"{path} is not there")
    file = disk.open_append(path)
    try:
        file.lock()
        scan = scan_warc(path)
        if scan.valid_bytes < synced_bytes:
            raise CorruptData(
                f"{path}: damaged at byte {scan.valid_bytes}, though {synced_bytes} bytes were written safely; "
                "the file was changed or the disk fails"
            )
        if file.tell() > scan.valid_bytes:
            file.truncate(scan.valid_bytes)
        file.sync()  # what a killed process wrote may not be durable yet
        disk.sync_dir(path.parent)  # nor the file's name
        failpoint("warc.recovered")
        return GrowingFile(path.name.removesuffix(OPEN_SUFFIX), file, records=scan.records)
    except BaseException:
        file.close()
        raise


def scan_warc(path: Path, offset: int = 0) -> Scan:
    """Walk over the gzip members from an offset on, in bounded memory, up to the first that is not whole."""
    records = 0
    with open_stored(path) as file:
        while True:
            try:
                offset = inflate_member(file, offset)
            except (InflateError, EOFError):
                return Scan(offset, records)
            records += 1


def inflate_member(file: BinaryIO, offset: int, into: bytearray | None = None, *, length: int | None = None) -> int:
    """Read the gzip member at an offset, adding its content to `into` if given; return where it ends.

    `length` is that of the member, if it is known. Raises InflateError for damage, EOFError for a cut,
    ValueError where `into` would pass RECORD_BYTES_MAX.
    """
    file.seek(offset)
    member = inflater()
    read = 0
    while not member.eof:
        data = member.unconsumed_tail
        if not data:
            data = file.read(min(length or _CHUNK_BYTES, _CHUNK_BYTES))
            read += len(data)
            if not data:
                raise EOFError("the file ends within it")
        piece = member.decompress(data, _CHUNK_BYTES)
        if into is not None:
            into += piece
            if len(into) > RECORD_BYTES_MAX:
                raise ValueError(f"it has more than {RECORD_BYTES_MAX} bytes")
    return offset + read - len(member.unused_data)


def _checksum(path: Path) -> "hashlib._Hash":
    checksum = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            checksum.update(chunk)
    return checksum
