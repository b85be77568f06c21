"""A sorted text file of names, one a line, that is searched without being read into memory."""

import heapq
import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path

from batchcrawl.store.disk import Disk


class SortedNames:
    """The names of a file; a missing or empty file holds none. The names are ASCII without line breaks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._map = _mapped(path)

    def __contains__(self, name: str) -> bool:
        if self._map is None:
            return False
        wanted = name.encode()
        low, high = 0, len(self._map)  # both at the start of a line
        while low < high:
            start = self._map.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = self._map.find(b"\n", start)
            line = self._map[start:end]
            if line == wanted:
                return True
            if line < wanted:
                low = end + 1
            else:
                high = start
        return False

    def __iter__(self) -> Iterator[str]:
        if self._map is not None:
            with self._path.open(encoding="ascii") as lines:
                yield from (line.rstrip("\n") for line in lines)


def add_names(disk: Disk, path: Path, names: Iterable[str]) -> int:
    """Add names to a file durably and return how many are new; with none new, nothing is written."""
    known = SortedNames(path)
    new = sorted({name for name in names if name not in known})
    if new:
        lines = "".join(f"{name}\n" for name in heapq.merge(known, new))
        disk.write_file(path, lines.encode("ascii"))
    return len(new)


def _mapped(path: Path) -> mmap.mmap | None:
    if not path.exists() or path.stat().st_size == 0:
        return None
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
