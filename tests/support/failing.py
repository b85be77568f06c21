"""A disk that is full, or fails, from some operation on."""

import os
import threading
from pathlib import Path

from batchcrawl.store.disk import SystemCalls


class FailingFrom(SystemCalls):
    """From the operation `number` on, counted from 1, whatever needs space or the device fails; removing does not."""

    def __init__(self, number: int, *, error: int) -> None:
        self._left = number
        self._error = error
        self._lock = threading.Lock()

    def open(self, path: Path, flags: int) -> int:
        if flags & os.O_CREAT:
            self._operation()
        return super().open(path, flags)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._operation()
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._operation()
        super().fsync(fd)

    def rename(self, source: Path, target: Path) -> None:
        self._operation()
        super().rename(source, target)

    def mkdir(self, path: Path) -> None:
        self._operation()
        super().mkdir(path)

    def _operation(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                raise OSError(self._error, os.strerror(self._error))
