"""Snapshot: a crawl as it is now is kept, and can be put back as often as is wanted.

Reads: the whole crawl. Writes: snapshots/NAME; restoring writes everything but the snapshots.
Commits by: the rename of the finished snapshot; restoring by the file `restore.json`, once the copy is whole.
If killed: before that nothing has happened; after it, a cut `restore` is ended by the same command, and no other runs.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batchcrawl.errors import CorruptData, UsageError
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.identity import FORMAT_VERSION, FormatOnly, require_readable
from batchcrawl.store.layout import Layout
from batchcrawl.store.reading import ADVICE, read_stored
from batchcrawl.store.saved import bytes_of, put_in_place, save_parts

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SnapshotInfo(msgspec.Struct, kw_only=True, frozen=True):
    """snapshot.json."""

    format: int
    name: str
    created_at: float
    segments: int
    bytes: int
    """Of all its files; those that are hard links take space only once the crawl has them no more."""


@dataclass(frozen=True)
class Restored:
    """What a restore has put back."""

    info: SnapshotInfo
    resumed: bool
    """An earlier restore was cut behind its commit act, and was ended."""


def make_snapshot(layout: Layout, name: str, *, disk: Disk, now: float) -> SnapshotInfo:
    """Keep the crawl as it is under a name; the caller holds its lock. Raises UsageError for a name that cannot be."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a snapshot; letters, digits, dots, hyphens and underscores make one")
    if layout.saved(name).exists():
        raise UsageError(f"there is a snapshot {name} already, in {layout.saved(name)}; give another name")
    disk.make_dir(layout.snapshots)
    for left in layout.snapshots.glob(".new-*"):
        disk.remove_tree(left)
    unborn = layout.snapshots / f".new-{name}"
    disk.make_dir(unborn)
    save_parts(disk, layout.root, unborn)
    info = SnapshotInfo(
        format=FORMAT_VERSION,
        name=name,
        created_at=now,
        segments=len(layout.segment_ids()),
        bytes=bytes_of(unborn),
    )
    disk.write_file(unborn / "snapshot.json", _encoded(info))
    disk.rename(unborn, layout.saved(name))
    failpoint("snapshot.visible")
    return info


def restore_snapshot(layout: Layout, name: str, *, disk: Disk) -> Restored:
    """Put a crawl back to what it was when a snapshot was made; the snapshot stays. The caller holds its lock.

    Raises UsageError when there is none of that name, or when the restore of another one was cut.
    """
    started = layout.restoring.exists()
    if started:
        info = _read(layout.restoring)
        if info.name != name:
            raise UsageError(
                f"{layout.root}: a restore of snapshot {info.name} was cut; run 'restore' with that name first"
            )
    else:
        info = snapshot_info(layout, name)
        disk.remove_tree(layout.restored)
        disk.make_dir(layout.restored)
        save_parts(disk, layout.saved(name), layout.restored)
        disk.write_file(layout.restoring, _encoded(info))
        failpoint("restore.begun")
    disk.remove_tree(layout.purge)  # of the crawl that is given up
    put_in_place(disk, layout.restored, layout.root)
    disk.remove_tree(layout.restored)
    disk.remove(layout.restoring)
    return Restored(info, resumed=started)


def snapshot_info(layout: Layout, name: str) -> SnapshotInfo:
    """Return what a snapshot is. Raises UsageError when there is none of that name."""
    if not NAME.fullmatch(name) or not layout.saved(name).is_dir():
        have = ", ".join(info.name for info in snapshots_of(layout)) or "none"
        raise UsageError(f"no snapshot {name} in {layout.snapshots}; there is: {have}")
    return _read(layout.saved(name) / "snapshot.json")


def snapshots_of(layout: Layout) -> list[SnapshotInfo]:
    """Return the snapshots of a crawl, oldest first."""
    found = [_read(path) for path in layout.snapshots.glob("[!.]*/snapshot.json")]
    return sorted(found, key=lambda info: info.created_at)


def _encoded(info: SnapshotInfo) -> bytes:
    return msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"


def _read(path: Path) -> SnapshotInfo:
    data = read_stored(path)
    try:
        require_readable(path, msgspec.json.decode(data, type=FormatOnly))
        return msgspec.json.decode(data, type=SnapshotInfo)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{path}: {error}; {ADVICE}") from error
