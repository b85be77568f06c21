"""How far an export has come, kept beside what it has written, so that one that is cut can go on there.

What is kept holds for one export of one state of the crawl, which its key names: of another there is nothing to go on.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.whole_file import WholeFile, temporary

KEPT_EVERY_BYTES = 32 << 20
"""So much is written between two places that are kept, before it is compressed."""
_SUFFIX = ".json"


class Place(msgspec.Struct):
    """The next item of an export; all before it are done."""

    partition: int = 0
    part: int = 0
    """Number of what is read of the partition, one part after the other."""
    item: int = 0
    counts: dict[str, int] = {}
    seen: int = 0


class Kept(msgspec.Struct, kw_only=True):
    """A place, and what was written up to it."""

    key: str
    place: Place
    bytes: int = 0
    """Of the temporary file."""
    files: int = 0
    """WARC files that are done."""
    at: float = 0.0
    """The instant that they bear."""


class Keeper(Protocol):
    """Keeps places."""

    def reach(self, place: Place) -> None:
        """Hear that all before a place is written."""


def kept_path(path: Path) -> Path:
    """Return where the place of an export to a file is kept."""
    written = temporary(path)
    return written.with_name(written.name + _SUFFIX)


def read_kept(path: Path, key: str) -> Kept | None:
    """Return what is kept of an export to a file, or None where that is nothing or of another export."""
    try:
        kept = msgspec.json.decode(kept_path(path).read_bytes(), type=Kept)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return kept if kept.key == key else None


def keep(disk: Disk, path: Path, kept: Kept) -> None:
    """Keep the place of an export to a file."""
    disk.write_file(kept_path(path), msgspec.json.encode(kept))
    failpoint("export.kept")


def forget(disk: Disk, path: Path) -> None:
    """Keep nothing of an export to a file."""
    if kept_path(path).exists():
        disk.remove(kept_path(path))


class FileKeeper:
    """Keeps the place of an export that is one file of bytes."""

    def __init__(self, disk: Disk, out: WholeFile, key: str) -> None:
        self._disk = disk
        self._out = out
        self._key = key
        self._kept_at = out.taken

    def reach(self, place: Place) -> None:
        """Keep a place if much has been written since the last."""
        if self._out.taken - self._kept_at < KEPT_EVERY_BYTES:
            return
        self._kept_at = self._out.taken
        keep(self._disk, self._out.path, Kept(key=self._key, place=place, bytes=self._out.keep()))


class CallKeeper:
    """Hands each place on."""

    def __init__(self, on_place: Callable[[Place], None]) -> None:
        self.reach = on_place
