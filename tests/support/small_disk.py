"""A small disk of its own, in memory, that a test fills up as far as it likes."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_PAGE_BYTES = 4096


@dataclass(frozen=True)
class SmallDisk:
    """A mounted disk."""

    root: Path

    @property
    def free_bytes(self) -> int:
        """What may still be written."""
        return shutil.disk_usage(self.root).free

    def fill(self, *, leave_bytes: int) -> None:
        """Take all space but about so much, by a file that `clear` removes."""
        self.clear()
        with self._ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(_PAGE_BYTES, self.free_bytes - leave_bytes))

    def clear(self) -> None:
        """Give the space back."""
        self._ballast.unlink(missing_ok=True)

    @property
    def _ballast(self) -> Path:
        return self.root / "ballast"


@contextmanager
def small_disk(root: Path, size_bytes: int) -> Iterator[SmallDisk]:
    """Mount an empty disk of a size at a new directory; where nothing can be mounted, the test is skipped."""
    root.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(root)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield SmallDisk(root)
    finally:
        subprocess.run(["umount", "-l", str(root)], check=True)
