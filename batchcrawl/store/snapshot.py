"""A look at a crawldb that another process is changing: the state of one instant, in a directory of its own.

LevelDB lets one process at a time open a database, be it only to read. But its tables never change once they are
written, its manifest says which of them count, and its logs only grow. So a hard link to each table and a copy of
manifest and logs are the database as it was when the manifest was read, if the manifest is still the same after the
last link: LevelDB removes a file only after a new manifest record says that it may. A table that is still being
written is not linked: the number that it has may be the next that is given in the snapshot, to a file that would then
be written over it.
(LevelDB, doc/impl.md: "Files", "Recovery" and "Garbage collection of files".)
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from batchcrawl.errors import CorruptData, CrawlError, CrawlLocked
from batchcrawl.store.disk import AppendFile, Disk
from batchcrawl.store.leveldb_manifest import next_file_number
from batchcrawl.store.reading import ADVICE

TABLE = re.compile(r"\d+\.(ldb|sst)")
MANIFEST = re.compile(r"MANIFEST-\d+")
LOG = re.compile(r"\d+\.log")
TRIES = 100
"""A compaction replaces the manifest's state some times a second at most; a look takes milliseconds."""
LOOKS = ".look-"
"""Begins the name of a directory in which somebody looks; its file `holder` is locked for as long."""


@contextmanager
def snapshots(crawldb: Path, partitions: range) -> Iterator[Path]:
    """Make a directory with a snapshot of each partition of `crawldb`, by its number, and remove it in the end.

    What a killed process has left of its own is removed first. Raises CorruptData for a partition whose files are
    not there, and CrawlError where the directory may not be written.
    """
    disk = Disk()
    _remove_left(disk, crawldb)
    folder, holder = _begin(disk, crawldb)
    try:
        for partition in partitions:
            _snapshot(disk, crawldb / str(partition), folder / str(partition))
        yield folder
    except CrawlError as error:  # what a user is told of is the crawl, not a place that is gone by then
        error.args = (str(error).replace(str(folder), str(crawldb)),)
        raise
    finally:
        disk.remove_tree(folder)
        holder.close()


def files_of_state(folder: Path) -> list[tuple[str, int]]:
    """Return name and bytes of each file that the state of a snapshot, or of a database at rest, consists of.

    Numbers of files are never used twice, tables never change, manifests and logs only grow: so an equal answer is an
    equal state. To be asked for before LevelDB opens it, which makes files of its own.
    """
    kinds = (TABLE, MANIFEST, LOG)
    names = [name for name in sorted(os.listdir(folder)) if any(kind.fullmatch(name) for kind in kinds)]
    return [(name, (folder / name).stat().st_size) for name in names]


def _begin(disk: Disk, crawldb: Path) -> tuple[Path, AppendFile]:
    for number in range(TRIES):
        folder = crawldb / f"{LOOKS}{os.getpid()}-{number}"
        if folder.exists():
            continue
        disk.make_dir(folder)
        with suppress(CrawlError):  # somebody who tidies up took it for one that was left
            holder = disk.open_append(folder / "holder")
            with suppress(CrawlLocked):
                holder.lock()
                if holder.path.exists():
                    return folder, holder
            holder.close()
    raise CrawlError(f"{crawldb}: no directory to look from could be made")


def _remove_left(disk: Disk, crawldb: Path) -> None:
    for folder in crawldb.glob(f"{LOOKS}*"):
        with suppress(CrawlLocked):  # its owner lives
            holder = disk.open_append(folder / "holder")
            try:
                holder.lock()
                disk.remove_tree(folder)
            finally:
                holder.close()


def _snapshot(disk: Disk, source: Path, target: Path) -> None:
    for needed in (source, source / "CURRENT"):
        if not needed.exists():
            raise CorruptData(f"{needed} is missing; {ADVICE}")
    for _ in range(TRIES):
        disk.make_dir(target)
        if _copied(disk, source, target):
            return
        disk.remove_tree(target)
    raise CrawlError(f"{source} changes faster than it can be looked at; run the same command again")


def _copied(disk: Disk, source: Path, target: Path) -> bool:
    """Whether all files could be had of one state; if not, something is left in `target`."""
    try:
        current = (source / "CURRENT").read_bytes()
        manifest = current.decode("ascii", errors="replace").strip()
        if not MANIFEST.fullmatch(manifest):
            raise CorruptData(f"{source / 'CURRENT'} names no manifest; {ADVICE}")
        if not (source / manifest).is_file() and (source / "CURRENT").read_bytes() == current:
            raise CorruptData(f"{source / manifest} is missing; {ADVICE}")
        state = (source / manifest).read_bytes()
        unused = next_file_number(state) or 0
        # Sorted, and listed before any is read: a log is written no more once there is one with a higher number.
        for name in sorted(os.listdir(source)):
            if TABLE.fullmatch(name):
                if int(name.partition(".")[0]) < unused:
                    disk.link(source / name, target / name)
            elif LOG.fullmatch(name):
                _write(disk, target / name, (source / name).read_bytes())
        if (source / "CURRENT").read_bytes() != current or (source / manifest).read_bytes() != state:
            return False
    except FileNotFoundError:  # removed since the directory was listed
        return False
    _write(disk, target / manifest, state)
    _write(disk, target / "CURRENT", current)
    return True


def _write(disk: Disk, path: Path, data: bytes) -> None:
    file = disk.open_new(path)
    try:
        file.write(data)
    finally:
        file.close()
