"""Free space: what a step is sure to need is asked for before it begins, and a floor is kept while pages come."""

import shutil
from pathlib import Path

from batchcrawl.errors import DiskFull
from batchcrawl.store.disk import disk_full

URL_BYTES = 300
"""What generate or update writes of a URL, at least: its record, and a line that tells of it."""
PARSED_PART = 20
"""What parse writes is at least one part of so many of the WARC files."""
SMALL_DISK_PART = 20
"""On a small disk the floor is one part of so many of the whole, whatever the job says."""


def require_free(path: Path, needed_bytes: int, *, what: str) -> None:
    """Raise DiskFull unless the disk of an existing directory has `needed_bytes` free for `what`."""
    if shutil.disk_usage(path).free < needed_bytes:
        raise disk_full(path, needed_bytes=needed_bytes, what=what)


def below_floor(path: Path, floor_bytes: int) -> DiskFull | None:
    """Return the error of a disk that has less free space than the floor, or None."""
    usage = shutil.disk_usage(path)
    floor_bytes = min(floor_bytes, usage.total // SMALL_DISK_PART)
    return None if usage.free >= floor_bytes else disk_full(path, needed_bytes=floor_bytes, what="to fetch more into")
