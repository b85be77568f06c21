"""The lock of a crawl: one process at a time changes it.

The kernel holds the lock (flock) and drops it with the process, however that ends. The text in the
file only says who holds it, and means nothing while nobody does.
"""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from batchcrawl.errors import CrawlLocked, DiskFull
from batchcrawl.store.disk import AppendFile, Disk


class CrawlLock:
    """The file `lock` of a crawl: while held, it contains the holder's pid and start time.

    The start time is field 22 of /proc/<pid>/stat (proc(5)), in ticks since boot; with it, a pid that was
    given to another process since is not mistaken for the holder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: AppendFile | None = None

    def acquire(self) -> None:
        """Take the lock, at once. Raises CrawlLocked that names the holder's pid if another process has it."""
        file = Disk().open_append(self.path)
        try:
            file.lock()
            with suppress(DiskFull):  # it is held all the same; only its holder is not told
                file.truncate(0)
                file.write(f"{os.getpid()} {_started(os.getpid())}\n".encode())
        except CrawlLocked:
            file.close()
            raise CrawlLocked(
                f"{self.path.parent} is in use by {_holder(self.path)}; "
                "wait for it, or stop it, and run the same command again"
            ) from None
        except BaseException:
            file.close()
            raise
        self._file = file

    def release(self) -> None:
        """Give the lock back; without holding it, do nothing. The file stays, since removing it would race."""
        if self._file is not None:
            with suppress(DiskFull):
                self._file.truncate(0)
            self._file.close()
            self._file = None

    def __enter__(self) -> "CrawlLock":
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder_of(path: Path) -> int | None:
    """Return the pid of the process that has the lock file `path`, or None; takes nothing itself."""
    try:
        words = path.read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return None
    if len(words) == 2 and words[0].isdecimal() and str(_started(int(words[0]))) == words[1]:
        return int(words[0])
    return None


def _started(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # no such process, or no procfs
        return None
    return stat.rpartition(")")[2].split()[19]  # the name before it may hold spaces and brackets


def _holder(path: Path) -> str:
    pid = holder_of(path)
    if pid is not None:
        return f"process {pid}"
    words = path.read_text(encoding="ascii", errors="replace").split()
    if len(words) != 2 or not words[0].isdecimal():  # it has the lock and has not written yet
        return "another process"
    return f"a process that process {words[0]}, now ended, left behind"
