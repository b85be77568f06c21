"""Copies of a whole crawl that stay: hard links to what never changes again, copies of what still may.

Tables of LevelDB and the files of a segment are written once, so a link to them costs nothing and holds what it was
made of. Manifests and logs of LevelDB, and the files of a fetch that is not sealed, are copied.
"""

from pathlib import Path

from batchcrawl.errors import CrawlError
from batchcrawl.store.disk import TEMPORARY_SUFFIX, Disk
from batchcrawl.store.layout import Layout, SegmentPaths
from batchcrawl.store.snapshot import TABLE
from batchcrawl.store.warc_file import OPEN_SUFFIX

PARTS = ("crawl.toml", "public_suffix_list.dat", "seed_hosts.txt", "seed_domains.txt", "crawldb", "segments")
"""What a crawl consists of, by name in its directory."""
_LEVELDB_OWN = ("LOCK", "LOG", "LOG.old")
"""Files of a database that hold nothing of it."""


def save_parts(disk: Disk, source: Path, target: Path) -> None:
    """Make a durable copy of a crawl's parts in the directory `target`, which must be empty. Nobody may change them."""
    for name in PARTS:
        part = source / name
        if part.is_file():
            disk.copy_file(part, target / name)
    crawl = Layout(source)
    for partition in _folders(crawl.crawldbs):
        save_partition(disk, partition, target / "crawldb" / partition.name)
    disk.make_dir(target / "segments")
    for name in crawl.segment_ids():
        _save_segment(disk, SegmentPaths(crawl.segment(name)), target / "segments" / name)
    disk.sync_dir(target)


def save_partition(disk: Disk, source: Path, target: Path) -> None:
    """Make a durable copy of a partition's database, which nobody may have open, in a new directory."""
    disk.make_dir(target)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in _LEVELDB_OWN:
            _save(disk, path, target / path.name, linked=TABLE.fullmatch(path.name) is not None)
    disk.sync_dir(target)


def put_in_place(disk: Disk, source: Path, target: Path) -> None:
    """Let the parts in `source` take the places of those in `target`; killed at any point, it can be called again.

    What `source` has no more was put in its place before.
    """
    for name in PARTS:
        part, place = source / name, target / name
        if part.is_dir():
            disk.remove_tree(place)
        if part.exists():
            disk.rename(part, place)


def bytes_of(folder: Path) -> int:
    """Return the bytes of all files below a directory."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _folders(path: Path) -> list[Path]:
    return sorted(folder for folder in path.iterdir() if folder.is_dir() and folder.name.isdecimal())


def _save_segment(disk: Disk, source: SegmentPaths, target: Path) -> None:
    sealed = source.stamp("fetched").exists()
    for folder in (source.root, *(path for path in sorted(source.root.rglob("*")) if path.is_dir())):
        place = target / folder.relative_to(source.root)
        disk.make_dir(place)
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.name.endswith(TEMPORARY_SUFFIX):
                grows = path.name.endswith(OPEN_SUFFIX) or path.suffix == ".jsonl"
                _save(disk, path, place / path.name, linked=sealed or not grows)
        disk.sync_dir(place)


def _save(disk: Disk, source: Path, target: Path, *, linked: bool) -> None:
    if linked:
        try:
            disk.link(source, target)
            return
        except CrawlError:
            pass  # a file system without hard links, or another one
    disk.copy_file(source, target)
