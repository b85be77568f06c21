"""Durable changes of the disk: the only module that writes, syncs, renames and removes.

What is written is safe from a power failure only after the file was synced, and a name that was made,
renamed or removed only after its directory was. So the order of every commit is: data, sync, rename,
sync of the directory. Everything here that changes a name ends with that last sync, except `open_new` and `link`.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from batchcrawl.errors import CrawlError, CrawlLocked, DiskFull
from batchcrawl.store.failpoints import failpoint

TEMPORARY_SUFFIX = ".tmp"
"""Ends the name of a file that is not yet committed; what a killed process leaves under it is worthless."""

_PIECE_BYTES = 1 << 20


class SystemCalls:
    """The calls that change the disk, one method each, so that a test can forget what was not synced."""

    def open(self, path: Path, flags: int) -> int:
        """Open a file and return its descriptor."""
        return os.open(path, flags | os.O_CLOEXEC, 0o666)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write at the end and return how many bytes were taken."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Make the content of an open file durable."""
        os.fsync(fd)

    def ftruncate(self, fd: int, size: int) -> None:
        """Cut an open file to `size` bytes."""
        os.ftruncate(fd, size)

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        os.close(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or directory another name, replacing a file that has it."""
        os.rename(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file one more name."""
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        """Remove a file's name."""
        os.unlink(path)

    def rmdir(self, path: Path) -> None:
        """Remove an empty directory."""
        os.rmdir(path)

    def mkdir(self, path: Path) -> None:
        """Make a directory."""
        os.mkdir(path)

    def sync_dir(self, path: Path) -> None:
        """Make the names in a directory durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


class Disk:
    """Every change of the disk. DiskFull names path, free and needed bytes; any other failure is a CrawlError."""

    def __init__(self, calls: SystemCalls | None = None) -> None:
        self._calls = calls or SystemCalls()

    def write_file(self, path: Path, data: bytes) -> None:
        """Replace a file as a whole: after a crash it holds the old content or the new, never a mix."""
        temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
        file = AppendFile(self._calls, temporary, os.O_CREAT | os.O_TRUNC)
        try:
            file.write(data)
            file.sync()
        finally:
            file.close()
        failpoint("file.synced")
        self.rename(temporary, path)

    def open_append(self, path: Path) -> "AppendFile":
        """Open a file to write behind its end; a new one has a durable name at once."""
        made = not path.exists()
        file = AppendFile(self._calls, path, os.O_CREAT)
        if made:
            self.sync_dir(path.parent)
        return file

    def open_new(self, path: Path) -> "AppendFile":
        """Create a file that must not exist; its name is durable only after `rename` or `sync_dir`."""
        return AppendFile(self._calls, path, os.O_CREAT | os.O_EXCL)

    def open_unnamed(self, path: Path) -> "UnnamedFile":
        """Create a file that must not exist and take its name away, so that it is gone with the process.

        Nothing of it is made durable. A process that is killed between the two leaves it, empty.
        """
        file = UnnamedFile(self._calls, path, os.O_CREAT | os.O_EXCL)
        failpoint("spool.created")
        try:
            with naming(path):
                self._calls.unlink(path)
        except CrawlError:
            file.close()
            raise
        return file

    def truncate(self, path: Path, size: int) -> None:
        """Cut a file to `size` bytes and make its content durable, also where nothing is to be cut."""
        file = AppendFile(self._calls, path, 0)
        try:
            if file.tell() > size:
                file.truncate(size)
            file.sync()
        finally:
            file.close()

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or directory another name, durably; a file of that name is replaced at one instant."""
        with naming(source):
            self._calls.rename(source, target)
        failpoint("file.renamed")
        self.sync_dir(target.parent)
        if source.parent != target.parent:
            self.sync_dir(source.parent)

    def link(self, source: Path, target: Path) -> None:
        """Give a file one more name, durable only after `sync_dir`. Raises FileNotFoundError when it is not there."""
        try:
            self._calls.link(source, target)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _named(error, target) from error

    def copy_file(self, source: Path, target: Path) -> None:
        """Copy a file's bytes, durably, to one that must not exist; its name is durable only after `sync_dir`."""
        file = self.open_new(target)
        try:
            with naming(source), source.open("rb") as read:
                while piece := read.read(_PIECE_BYTES):
                    file.write(piece)
            file.sync()
        finally:
            file.close()

    def remove(self, path: Path) -> None:
        """Remove a file durably; one that is not there is no error."""
        if os.path.lexists(path):
            with naming(path):
                self._calls.unlink(path)
            self.sync_dir(path.parent)

    def remove_tree(self, path: Path) -> None:
        """Remove a directory and all below it; a directory that is not there is no error.

        A crash leaves any part of it, so whatever gives it meaning is removed or renamed first.
        """
        if not os.path.lexists(path):
            return
        with naming(path):
            for folder, folders, files in os.walk(path, topdown=False):
                for name in files:
                    self._calls.unlink(Path(folder, name))
                for name in folders:
                    self._remove_folder(Path(folder, name))
            self._remove_folder(path)
        self.sync_dir(path.parent)

    def make_dir(self, path: Path) -> None:
        """Make a directory with its missing parents, durably; one that is there is no error."""
        missing = [folder for folder in (path, *path.parents) if not folder.is_dir()]
        for folder in reversed(missing):
            with naming(folder), suppress(FileExistsError):  # another process may be making it as well
                self._calls.mkdir(folder)
            self.sync_dir(folder.parent)
        if not missing:  # a process killed before its sync may have made it
            self.sync_dir(path.parent)

    def sync_dir(self, path: Path) -> None:
        """Make the names in a directory durable."""
        with naming(path):
            self._calls.sync_dir(path)

    def _remove_folder(self, path: Path) -> None:
        if path.is_symlink():
            self._calls.unlink(path)
        else:
            self._calls.rmdir(path)


class AppendFile:
    """A file open to be written behind its end, without a buffer. One thread may sync while another writes.

    After a failed write or sync the file takes nothing more: what it holds behind its last sync is
    unknown, and the next process recovers it.
    """

    _access = os.O_WRONLY

    def __init__(self, calls: SystemCalls, path: Path, flags: int) -> None:
        self.path = path
        self._calls = calls
        with naming(path):
            fd = calls.open(path, flags | self._access | os.O_APPEND)
            self._size = os.fstat(fd).st_size
        self._open = _OpenFile(path, fd)

    def write(self, data: bytes) -> None:
        """Write all of `data` behind the end, by one system call unless the system takes less."""
        self._open.needed_bytes = len(data)
        with self._open as fd:
            taken = self._calls.write(fd, data)
            self._size += taken
            while taken < len(data):
                more = self._calls.write(fd, memoryview(data)[taken:])
                taken += more
                self._size += more

    def sync(self) -> None:
        """Make what was written durable; returns when it is."""
        with self._open as fd:
            self._calls.fsync(fd)

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes; durable after the next sync."""
        with self._open as fd:
            self._calls.ftruncate(fd, size)
            self._size = size

    def tell(self) -> int:
        """Return the file's size in bytes, which is where the next write begins."""
        return self._size

    def lock(self) -> None:
        """Keep other processes from locking the file until it is closed. Raises CrawlLocked if one has it."""
        with self._open as fd:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CrawlLocked(f"{self.path} is being written by another process") from None

    def close(self) -> None:
        """Close the file without a sync; a second time does nothing."""
        if self._open.fd is not None:
            self._calls.close(self._open.fd)
            self._open.fd = None


class UnnamedFile(AppendFile):
    """A file without a name, which can be read as well."""

    _access = os.O_RDWR

    def read(self, offset: int, size: int) -> bytes:
        """Return at most `size` bytes from an offset on, fewer only at the file's end."""
        with self._open as fd:
            return os.pread(fd, size, offset)


class _OpenFile:
    """Lends a file's descriptor as a context, until it is closed or a call on it has failed."""

    __slots__ = ("_failed", "_path", "fd", "needed_bytes")

    def __init__(self, path: Path, fd: int) -> None:
        self.fd: int | None = fd
        self.needed_bytes = 0
        """Of the last write."""
        self._path = path
        self._failed: CrawlError | None = None

    def __enter__(self) -> int:
        if self._failed is not None:
            raise self._failed
        if self.fd is None:
            raise ValueError(f"{self._path} is closed")
        return self.fd

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            self._failed = _named(error, self._path, needed_bytes=self.needed_bytes)
            raise self._failed from error


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an OSError inside into DiskFull or CrawlError that names the path."""
    try:
        yield
    except OSError as error:
        raise _named(error, path) from error


def disk_full(path: Path, *, needed_bytes: int = 0, what: str = "to write") -> DiskFull:
    """Return what to say of a disk without space for what is to be done with a path; `needed_bytes` where known."""
    needed = f", {needed_bytes:,} needed" if needed_bytes else ""
    return DiskFull(
        f"no space left {what} {path} ({_free_bytes(path):,} bytes free{needed}); "
        "make space and run the same command again"
    )


def _named(error: OSError, path: Path, *, needed_bytes: int = 0) -> CrawlError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path, needed_bytes=needed_bytes)
    return CrawlError(f"{path}: {error.strerror or error}")


def _free_bytes(path: Path) -> int:
    existing = next(folder for folder in path.absolute().parents if folder.is_dir())
    return shutil.disk_usage(existing).free
