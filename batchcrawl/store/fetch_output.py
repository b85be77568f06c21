"""What the fetch step of one partition writes: WARC files, fetch log, host log, in the order that makes resuming sure.

An exchange is appended to its WARC file before its line is appended to the log, and WARC files and host log
are synced before the log is: so a line that a power failure leaves behind may point to bytes that it took, and opening
cuts the log there; bytes without a line are kept and fetched again.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from batchcrawl.model.body import SpooledBody
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.model.exchange import Answer
from batchcrawl.model.revisit import Revisit
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.records import FileInfo, LogWriter, log_ends, log_info, read_log
from batchcrawl.store.warc_file import OPEN_SUFFIX
from batchcrawl.store.warc_writer import Location, WarcWriter


class OutputClosedError(Exception):
    """The step has been told to drop what is in flight; nothing more is written."""


class FetchOutput:
    """The growing files of one partition. Thread-safe. Opened again, it goes on where the last process was cut."""

    def __init__(
        self,
        disk: Disk,
        paths: SegmentPaths,
        partition: int,
        *,
        info: Mapping[str, str],
        clock: Clock,
        warc_bytes_max: int,
    ) -> None:
        """`info` goes into the warcinfo records. Raises CrawlLocked when another process has the files."""
        self._paths = paths
        self._partition = partition
        self._writing = _Writing()
        with ExitStack() as opened:
            self._log = LogWriter(disk, paths.fetch_log(partition), FetchLogLine, recover=True)
            opened.callback(self._log.close)
            self._host_log = LogWriter(disk, paths.host_log(partition), HostLogLine, recover=True)
            opened.callback(self._host_log.close)
            self._warc = WarcWriter(
                disk,
                paths.fetch_dir,
                str(partition),
                segment=paths.root.name,
                info=info,
                clock=clock,
                file_bytes_max=warc_bytes_max,
            )
            opened.callback(self._warc.abandon)
            self._cut_log(disk)
            opened.pop_all()

    @property
    def directory(self) -> Path:
        """Where the files grow."""
        return self._paths.fetch_dir

    def lines(self) -> Iterator[FetchLogLine]:
        """Yield the outcomes so far."""
        return read_log(self._paths.fetch_log(self._partition), FetchLogLine)

    def logged(self) -> set[str]:
        """Return the fingerprints that have their outcome."""
        return {line.fp for line in self.lines()}

    def host_lines(self) -> Iterator[HostLogLine]:
        """Yield what was learned of hosts so far."""
        return read_log(self._paths.host_log(self._partition), HostLogLine)

    def spool(self) -> SpooledBody:
        """Return a file for a body that is too large for the memory. Raises DiskFull or CrawlError."""
        return self._warc.spool()

    def store(self, answer: Answer, *, fp: str, revisit: Revisit | None = None) -> Location:
        """Append an exchange to the WARC file, without its body if it is a revisit. Raises OutputClosedError."""
        with self._writing:
            if revisit is not None:
                return self._warc.write_revisit(answer, revisit, fp=fp)
            return self._warc.write_exchange(answer, fp=fp)

    def log(self, *lines: FetchLogLine) -> None:
        """Append outcomes; that of a stored exchange comes after it. Raises OutputClosedError."""
        with self._writing:
            self._log.append(lines)

    def log_host(self, line: HostLogLine) -> None:
        """Append what is known of a host. Raises OutputClosedError."""
        with self._writing:
            self._host_log.append([line])

    def sync(self) -> None:
        """Make durable what was appended before the call."""
        self._warc.sync()
        self._host_log.sync()
        self._log.sync()

    def suspend(self) -> None:
        """Sync and close, to be opened again later; what comes after gets OutputClosedError."""
        with self._closing():
            self._warc.suspend()
            self._sync_logs()

    def seal(self) -> dict[str, FileInfo]:
        """Finish all files and return them by their path in the segment."""
        with self._closing():
            files = self._warc.close()
            self._sync_logs()
        for path in (self._paths.fetch_log(self._partition), self._paths.host_log(self._partition)):
            files.append(log_info(path))
        return {f"{self._paths.fetch_dir.name}/{file.name}": file for file in files}

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Let nothing more be written, and close all files in the end, also where the disk is full or fails."""
        self._writing.allowed = False
        try:
            yield
        finally:
            self._warc.abandon()
            self._host_log.close()
            self._log.close()

    def _sync_logs(self) -> None:
        self._host_log.sync()
        self._log.sync()

    def _cut_log(self, disk: Disk) -> None:
        """Cut the log before the first line whose exchange did not reach the disk."""
        path = self._paths.fetch_log(self._partition)
        sizes: dict[str, int] = {}
        end = 0
        for next_end, line in log_ends(path, FetchLogLine):
            if line.warc is not None and line.offset is not None and line.length is not None:
                size = sizes.setdefault(line.warc, _warc_size(self._paths.fetch_dir / line.warc))
                if line.offset + line.length > size:
                    disk.truncate(path, end)
                    return
            end = next_end


class _Writing:
    """The context of a write: allowed or OutputClosedError."""

    __slots__ = ("allowed",)

    def __init__(self) -> None:
        self.allowed = True

    def __enter__(self) -> None:
        if not self.allowed:
            raise OutputClosedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ValueError) and not self.allowed:
            raise OutputClosedError from error  # it was closed between the look and the write


def _warc_size(path: Path) -> int:
    for candidate in (path, path.with_name(path.name + OPEN_SUFFIX)):
        if candidate.exists():
            return candidate.stat().st_size
    return 0
