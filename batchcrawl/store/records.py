"""Files of JSON lines: compressed ones that appear whole, and logs that grow.

A line file (`.jsonl.zst`) is written once under a temporary name and committed by a rename. It is a row
of zstd frames of about 256 KiB, of links 64, each with its checksum, so `zstdcat` reads it and damage is
found. A log (`.jsonl`) is only ever appended to; what a crash leaves of its last line is a torn tail.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TypeVar

import msgspec
import zstandard

from batchcrawl.errors import CorruptData
from batchcrawl.store.disk import TEMPORARY_SUFFIX, Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.reading import ADVICE, open_stored, size_stored

LINE_BYTES_MAX = 64 << 20
"""No line is longer than this; neither written nor read."""
FRAME_BYTES = 1 << 18
"""Uncompressed bytes after which a zstd frame is ended."""
SMALL_FRAME_BYTES = 1 << 16
"""The same of files of which many are read at once: who does that holds one of each."""
_LINES_AT_ONCE = 32
_CHUNK_BYTES = 1 << 16
_LEVEL = 3

L = TypeVar("L", bound=msgspec.Struct)


class FileInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished file is, as the segment remembers it."""

    name: str
    bytes: int
    """Size on disk."""
    checksum: str
    """SHA-256 of the bytes on disk, lower-case hex."""
    lines: int
    """Lines of a line file, records of a WARC file."""


class LineWriter:
    """Writes a line file. Used as a context it abandons the file unless `finish` was reached. Not thread-safe."""

    def __init__(
        self, disk: Disk, path: Path, line_type: type[msgspec.Struct], *, frame_bytes: int = FRAME_BYTES
    ) -> None:
        self.path = path
        self._disk = disk
        self._frame_bytes = frame_bytes
        self._line_type = line_type
        self._temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
        disk.remove(self._temporary)  # of a killed process
        self._file = disk.open_new(self._temporary)
        self._encoder = msgspec.json.Encoder()
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self._frame = bytearray()
        self._hash = hashlib.sha256()
        self._lines = 0
        self._open = True

    def write(self, line: msgspec.Struct) -> None:
        """Add one line. Raises CorruptData for one longer than LINE_BYTES_MAX."""
        before = len(self._frame)
        _encode_line(self._encoder, line, self._line_type, self._frame)
        if len(self._frame) - before > LINE_BYTES_MAX:
            raise _too_long(self.path, self._lines + 1)
        self._lines += 1
        if len(self._frame) >= self._frame_bytes:
            self._end_frame()

    def write_all(self, lines: Sequence[msgspec.Struct]) -> None:
        """Add lines as `write` does, for a fraction of the time where they are short."""
        for start in range(0, len(lines), _LINES_AT_ONCE):
            part = lines[start : start + _LINES_AT_ONCE]
            if any(type(line) is not self._line_type for line in part):
                raise TypeError(f"another kind of line in a file of {self._line_type.__name__}")
            encoded = self._encoder.encode_lines(part)
            if len(encoded) > self._frame_bytes:
                for line in part:
                    self.write(line)
                continue
            self._frame += encoded
            self._lines += len(part)
            if len(self._frame) >= self._frame_bytes:
                self._end_frame()

    def finish(self) -> FileInfo:
        """Make the content durable, then give the file its name: the commit act."""
        if self._frame or not self._file.tell():  # a file without lines is one empty frame
            self._end_frame()
        self._file.sync()
        self._file.close()
        failpoint("lines.synced")
        self._disk.rename(self._temporary, self.path)
        self._open = False
        failpoint("lines.finished")
        size = self._file.tell()
        return FileInfo(name=self.path.name, bytes=size, checksum=self._hash.hexdigest(), lines=self._lines)

    def abandon(self) -> None:
        """Remove what was written; after `finish` or a second time, do nothing."""
        if self._open:
            self._open = False
            self._file.close()
            self._disk.remove(self._temporary)

    def __enter__(self) -> "LineWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abandon()

    def _end_frame(self) -> None:
        data = self._compressor.compress(self._frame)
        self._frame.clear()
        self._hash.update(data)
        self._file.write(data)


def read_lines(path: Path, line_type: type[L]) -> Iterator[L]:
    """Yield the lines of a line file, holding one frame at a time at most.

    Raises CorruptData naming file and offset for damaged or missing bytes, or the line for one that is no
    `line_type`.
    """
    for lines in read_blocks(path, line_type, bytes_at_once=_CHUNK_BYTES):
        yield from lines


def read_blocks(path: Path, line_type: type[L], *, bytes_at_once: int) -> Iterator[list[L]]:
    """Yield the lines of a line file in lists, those of about so many bytes on disk; otherwise as `read_lines`."""
    decoder = msgspec.json.Decoder(line_type)
    number = 0
    for text in _whole_lines(path, bytes_at_once):
        count = text.count(b"\n")
        try:
            lines = decoder.decode_lines(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            lines = []
        if len(lines) != count:
            raise _unreadable(path, decoder, text.split(b"\n")[:count], number)
        number += count
        yield lines


def check_file(path: Path, info: FileInfo) -> None:
    """Raise CorruptData if a file is not the one that `info` describes, to the last byte."""
    check_size(path, info)
    with open_stored(path) as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if checksum != info.checksum:
        raise CorruptData(f"{path}: its {info.bytes} bytes have the checksum {checksum}, not {info.checksum}; {ADVICE}")


def check_size(path: Path, info: FileInfo) -> None:
    """Raise CorruptData if a file is not there or not as long as `info` says."""
    size = size_stored(path)
    if size != info.bytes:
        raise CorruptData(f"{path} has {size} bytes; {info.bytes} were written; {ADVICE}")


def line_file_info(path: Path) -> FileInfo:
    """Return what a finished line file is. Raises CorruptData when it is damaged."""
    lines = sum(chunk.count(b"\n") for chunk in _decompressed(path))
    return _info(path, lines)


def log_info(path: Path) -> FileInfo:
    """Return what a log is that no one appends to any more."""
    with open_stored(path) as file:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""))
    return _info(path, lines)


class LogWriter:
    """Appends to a log. Thread-safe. Holds a lock on the file, so a second writer gets CrawlLocked."""

    def __init__(self, disk: Disk, path: Path, line_type: type[msgspec.Struct], *, recover: bool = False) -> None:
        self._line_type = line_type
        self._encoder = msgspec.json.Encoder()
        self._lock = Lock()
        self._file = disk.open_append(path)
        try:
            self._file.lock()
            if recover:
                self._recover()
        except BaseException:
            self._file.close()
            raise

    def append(self, lines: Iterable[msgspec.Struct]) -> None:
        """Add whole lines by one write; they are durable only after `sync`."""
        buffer = bytearray()
        with self._lock:
            for line in lines:
                _encode_line(self._encoder, line, self._line_type, buffer)
            if buffer:
                self._file.write(bytes(buffer))
        failpoint("log.appended")

    def sync(self) -> None:
        """Make all durable whose append has returned; others may append meanwhile."""
        self._file.sync()
        failpoint("log.synced")

    def close(self) -> None:
        """Close without a sync; a second time does nothing."""
        with self._lock:
            self._file.close()

    def _recover(self) -> None:
        valid = 0
        for end, _ in log_ends(self._file.path, self._line_type):
            valid = end
        if self._file.tell() > valid:
            self._file.truncate(valid)
        self._file.sync()  # whole lines of a killed process may not be durable yet
        failpoint("log.recovered")


def lines_so_far(path: Path) -> int:
    """Return how many lines a log has now, without reading what they say; 0 for one that is not there."""
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(FRAME_BYTES), b""))
    except FileNotFoundError:
        return 0


def read_log(path: Path, line_type: type[L], *, sealed: bool = False) -> Iterator[L]:
    """Yield the lines of a log; a torn tail is left out, but in a log that is `sealed` there is none.

    Raises CorruptData naming file and offset for a line that is damaged and is not a torn tail.
    """
    for _, line in log_ends(path, line_type, sealed=sealed):
        yield line


def _encode_line(
    encoder: msgspec.json.Encoder, line: msgspec.Struct, line_type: type[msgspec.Struct], buffer: bytearray
) -> None:
    if type(line) is not line_type:
        raise TypeError(f"a {type(line).__name__} in a file of {line_type.__name__}")
    encoder.encode_into(line, buffer, -1)
    buffer += b"\n"


def _too_long(path: Path, number: int) -> CorruptData:
    return CorruptData(f"{path}: line {number} is longer than {LINE_BYTES_MAX} bytes")


def _whole_lines(path: Path, bytes_at_once: int) -> Iterator[bytes]:
    """Yield a line file in pieces that end where a line does."""
    pieces: list[bytes] = []  # of a line that no chunk has ended yet
    number = 0
    for chunk in _decompressed(path, bytes_at_once):
        end = chunk.rfind(b"\n") + 1
        if end:
            whole = chunk if end == len(chunk) and not pieces else b"".join((*pieces, chunk[:end]))
            pieces = [chunk[end:]]
            number += whole.count(b"\n")
            yield whole
            continue
        pieces.append(chunk)
        if sum(map(len, pieces)) > LINE_BYTES_MAX:
            raise _too_long(path, number + 1)
    if any(pieces):
        raise CorruptData(f"{path}: line {number + 1} has no end; the file was cut; {ADVICE}")


def _unreadable(path: Path, decoder: msgspec.json.Decoder[L], texts: Iterable[bytes], before: int) -> CorruptData:
    """Return the error of the first line that cannot be read; `before` lines come before the `texts`."""
    for number, text in enumerate(texts, start=before + 1):
        try:
            decoder.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return CorruptData(f"{path}: line {number} cannot be read: {error}; {ADVICE}")
    return CorruptData(f"{path}: what is behind line {before} cannot be read; {ADVICE}")


def _decompressed(path: Path, bytes_at_once: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Yield what a line file holds, a frame at a time, or a part of one that is long.

    Nothing of zstd's is held meanwhile, which would be several times a small frame.
    """
    with open_stored(path) as file:
        frame: zstandard.ZstdDecompressionObj | None = None
        data, plain, size = b"", list[bytes](), 0
        while data := data or file.read(bytes_at_once):
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                plain.append(frame.decompress(data))
            except zstandard.ZstdError as error:
                raise CorruptData(f"{path}: damaged at or before byte {file.tell()}: {error}; {ADVICE}") from error
            size += len(plain[-1])
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
            if frame is None or size >= FRAME_BYTES:
                whole = b"".join(plain)
                plain, size = [], 0
                yield whole
        if frame is not None or not file.tell():
            raise CorruptData(f"{path}: cut at byte {file.tell()}, in the middle of a frame; {ADVICE}")


def log_ends(path: Path, line_type: type[L], *, sealed: bool = False) -> Iterator[tuple[int, L]]:
    """Yield the lines of a log, each with the offset at which it ends; otherwise as `read_log`."""
    decode = msgspec.json.Decoder(line_type).decode
    end = 0
    with open_stored(path) as file:
        while text := file.readline(LINE_BYTES_MAX):
            try:
                line = decode(text)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                if not sealed and not file.read(1):  # the last line
                    return
                raise CorruptData(f"{path}: damaged at byte {end}: {error}; {ADVICE}") from error
            if not text.endswith(b"\n"):
                if sealed:
                    raise CorruptData(f"{path}: the line at byte {end} has no end; {ADVICE}")
                return
            end += len(text)
            yield end, line


def _info(path: Path, lines: int) -> FileInfo:
    with open_stored(path) as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return FileInfo(name=path.name, bytes=path.stat().st_size, checksum=checksum, lines=lines)
