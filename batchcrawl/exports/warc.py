"""WARC files of the latest copies: the records of each exchange as they stand in the segment that has its body.

A page that was found unchanged since is there by the exchange that brought its body, so no record is a revisit and each
file is right by itself. Records are copied byte for byte, their gzip members whole and their checksums checked.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from batchcrawl import __version__
from batchcrawl.errors import CorruptData
from batchcrawl.exports.rows import Item
from batchcrawl.store.disk import Disk
from batchcrawl.store.latest_pages import LatestPage
from batchcrawl.store.reading import ADVICE, open_stored
from batchcrawl.store.warc_file import inflate_member
from batchcrawl.store.warc_record import InflateError, gzip_member, record_id, warcinfo_block, warcinfo_fields
from batchcrawl.store.whole_file import WholeFile

SUFFIX = ".warc.gz"
_COPY_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of an export."""

    path: Path
    """Of `NAME.warc.gz` come `NAME-00000.warc.gz` and so on."""
    job: str
    at: float
    """The instant that they bear."""
    bytes_max: int
    """Of one, about."""
    first: int = 0
    """So many are there already."""
    on_end: Callable[[int], None] = lambda files: None
    """Told how many are done before the item at hand goes into the next."""


def write_warc(items: Iterator[Item], files: Files, disk: Disk) -> list[Path]:
    """Write the files and return all of them.

    Each appears whole; those of an earlier export under higher numbers are removed in the end. Raises CorruptData for a
    record that is damaged or not there.
    """
    writer = _Writer(disk, files)
    with closing(writer), closing(_Sources()) as sources:
        for item in items:
            if isinstance(item, LatestPage) and item.line.warc is not None and item.line.offset is not None:
                source = sources.opened(item.segment.paths.fetch_dir / item.line.warc)
                writer.add(source, item.line.offset, _end_of_exchange(source, item.line.offset))
        writer.finish()
    return writer.files


def numbered(path: Path, number: int) -> Path:
    """Return the name of one of the files."""
    return path.with_name(f"{path.name.removesuffix(SUFFIX)}-{number:05}{SUFFIX}")


class _Sources:
    """The file that the last exchange came from; those of a segment come in the order of its log."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None

    def opened(self, path: Path) -> BinaryIO:
        if self._file is None or self._file.name != os.fspath(path):
            self.close()
            self._file = open_stored(path)
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _Writer:
    def __init__(self, disk: Disk, wanted: Files) -> None:
        self._disk = disk
        self._wanted = wanted
        self.files = [numbered(wanted.path, number) for number in range(wanted.first)]
        self._out: WholeFile | None = None

    def add(self, source: BinaryIO, begin: int, end: int) -> None:
        """Copy the bytes of an exchange."""
        if self._out is None or self._out.taken + end - begin > self._wanted.bytes_max:
            self._begin()
        source.seek(begin)
        while begin < end and self._out is not None:
            data = source.read(min(end - begin, _COPY_BYTES))
            self._out.write(data)
            begin += len(data)

    def finish(self) -> None:
        """Finish the last file, and remove those that an earlier export has left behind it."""
        if self._out is None:
            self._begin()
        self._end()
        number = len(self.files)
        while (left := numbered(self._wanted.path, number)).exists():
            self._disk.remove(left)
            number += 1

    def close(self) -> None:
        if self._out is not None:
            self._out.__exit__(None, None, None)

    def _begin(self) -> None:
        if self._out is not None:
            self._end()
            self._wanted.on_end(len(self.files))
        path = numbered(self._wanted.path, len(self.files))
        # The members are compressed already, so the name under which they are written must not ask for it.
        self._out = WholeFile(self._disk, path, compress=False)
        fields = warcinfo_fields(
            record_id=record_id("export", path.name, f"{self._wanted.at:.6f}"), at=self._wanted.at, file_name=path.name
        )
        info = {"software": f"batchcrawl/{__version__}", "format": "WARC File Format 1.1", "isPartOf": self._wanted.job}
        self._out.write(gzip_member(fields, warcinfo_block(info)))

    def _end(self) -> None:
        if self._out is not None:
            self._out.finish()
            self.files.append(self._out.path)
            self._out = None


def _end_of_exchange(file: BinaryIO, offset: int) -> int:
    """Return where the request ends that stands behind the response at an offset."""
    try:
        return inflate_member(file, inflate_member(file, offset))
    except (InflateError, EOFError) as error:
        raise CorruptData(f"{file.name}: no whole exchange at byte {offset}: {error}; {ADVICE}") from error
