"""An answer as it comes from the socket: its head kept byte for byte, its body framed, all within limits.

Framing follows RFC 9112, section 6, as leniently as curl: it rejects a status line that is none, a NUL in the head, a
folded first field, a length that is no number, transfer codings other than gzip and chunked, and broken chunks. Of
two lengths the last counts, and a length beyond 64 bits does not; the connection is closed then.
"""

import io
import re
import socket
import zlib
from collections.abc import Iterator
from http.client import HTTPMessage, HTTPResponse

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt
from batchcrawl.net.failure import FetchError

_BUFFER_BYTES = 16384
_READ_BYTES = 65536
_CHUNK_LINE_BYTES_MAX = 4096
_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]|[23])[ \t]+([1-9][0-9]{2})(?![0-9])[ \t]*(.*)", re.DOTALL)
_CHUNK_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_FRAMING_FIELD = re.compile(rb"^(?=(?:transfer-encoding|content-length)[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_NO_FIELDS = HTTPMessage()
"""Shown to the pool, which needs none; ours are kept as they were sent."""


class RecordedResponse(HTTPResponse):
    """http.client's response with its own reader, so that no server can outlast or outgrow the limits."""

    def __init__(self, sock: socket.socket, attempt: Attempt, *, method: str | None) -> None:
        super().__init__(sock, method=method)
        self.fp = io.BufferedReader(_DeadlineReader(self.fp.detach(), sock, attempt), _BUFFER_BYTES)
        self._attempt = attempt
        self.head = b""
        self.fields: tuple[tuple[str, str], ...] = ()
        self._by_name: dict[str, str] = {}
        self._gzipped = False
        self.first_byte_at: float | None = None
        self.complete = False
        """The whole body was read, so that the connection can carry another request."""

    def begin(self) -> None:
        """Read the head of the final answer. Raises FetchError when it is no HTTP."""
        self.headers = self.msg = _NO_FIELDS
        lines = self._read_head()
        while 100 <= self.status < 200 and self.status != 101:
            lines = self._read_head()
        self.head = b"".join(lines)
        self.fields = _fields(lines)
        self._by_name = _joined(self.fields)
        self._frame()
        if self.chunked or self._gzipped:
            self.head = _FRAMING_FIELD.sub(b"X-Crawler-", self.head)

    def field(self, name: str) -> str | None:
        """Return the values of a field joined by commas, or None. The name must be lower-case."""
        return self._by_name.get(name)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes, transfer codings undone. Raises FetchError when it is broken."""
        if self.chunked:
            framed = self._chunked()
        elif self.length is None:
            framed = self._to_the_end()
        else:
            framed = self._exactly(self.length)
        yield from _gunzipped(framed) if self._gzipped else framed
        self.complete = True
        self.close()

    def _read_head(self) -> list[bytes]:
        left = self._attempt.header_bytes_max
        lines = [self._head_line(left)]
        if self.first_byte_at is None and lines[0]:
            self.first_byte_at = self._attempt.clock.now()
        self._take_status(lines[0])
        while lines[-1] not in (b"\r\n", b"\n"):
            left -= len(lines[-1])
            line = self._head_line(left)
            if not line:
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the answer ends within its head")
            lines.append(line)
        # An interim answer and the final one share the limit.
        self._attempt.header_bytes_max = left
        return lines

    def _head_line(self, limit: int) -> bytes:
        line = self.fp.readline(limit + 1)
        if len(line) > limit:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the head of the answer is too long")
        if b"\0" in line:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the head of the answer holds a NUL")
        return line

    def _take_status(self, line: bytes) -> None:
        if not line:
            raise FetchError(FetchOutcome.CONNECT_FAILED, "the connection was closed without an answer")
        found = _STATUS_LINE.match(line)
        if found is None:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no status line but {line[:60]!r}")
        self.version = 10 if found[1] == b"1.0" else 11
        self.code = self.status = int(found[2])
        self.reason = found[3].strip().decode("latin-1")

    def _frame(self) -> None:
        codings = [coding.strip() for coding in (self.field("transfer-encoding") or "").lower().split(",")]
        codings = [coding for coding in codings if coding not in ("", "identity")]
        self.chunked = False
        self.length = None
        self.will_close = self._closes()
        if self.status in (204, 304) or self.status < 200:
            self.length = 0
        elif codings:
            if codings not in (["chunked"], ["gzip"], ["gzip", "chunked"]):
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"transfer codings {codings} are not known")
            self.chunked = codings[-1] == "chunked"
            self._gzipped = codings[0] == "gzip"
        else:
            self._take_length()
        if self.length is None and not self.chunked:
            self.will_close = True

    def _take_length(self) -> None:
        lengths = [length.strip() for length in (self.field("content-length") or "").split(",")]
        if lengths == [""]:
            return
        if not (lengths[-1].isascii() and lengths[-1].isdigit()):
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no length but {lengths[-1]!r}")
        if len(set(lengths)) > 1:
            self.will_close = True
        if len(lengths[-1]) < 20:
            self.length = int(lengths[-1])

    def _closes(self) -> bool:
        options = (self.field("connection") or "").lower()
        return "close" in options or (self.version == 10 and "keep-alive" not in options)

    def _to_the_end(self) -> Iterator[bytes]:
        while data := self.fp.read1(_READ_BYTES):
            yield data

    def _exactly(self, length: int) -> Iterator[bytes]:
        left = length
        while left:
            data = self.fp.read1(min(left, _READ_BYTES))
            if not data:
                raise FetchError(FetchOutcome.CONNECT_FAILED, f"the body was cut {left} bytes before its end")
            left -= len(data)
            yield data

    def _chunked(self) -> Iterator[bytes]:
        while size := self._chunk_size():
            yield from self._exactly(size)
            if self.fp.readline(2) not in (b"\r\n", b"\n"):
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, "a chunk is longer than it says")
        left = self._attempt.header_bytes_max
        while (line := self._head_line(left)) not in (b"\r\n", b"\n", b""):
            left -= len(line)

    def _chunk_size(self) -> int:
        line = self.fp.readline(_CHUNK_LINE_BYTES_MAX)
        if not line:
            raise FetchError(FetchOutcome.CONNECT_FAILED, "the body was cut between chunks")
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no chunk size but {line[:60]!r}")
        return int(found[1], 16)


class _DeadlineReader(io.RawIOBase):
    """A socket's reader that waits no longer than the deadline, and for no bytes that only drip in."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, attempt: Attempt) -> None:
        self._raw = raw
        self._sock = sock
        self._attempt = attempt
        self._window_from: float | None = None
        self._window_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int | None:  # type: ignore[override]
        left = self._attempt.time_left()
        if left < self._attempt.read_timeout_s:
            self._sock.settimeout(left)
        if self._attempt.bytes_per_second_min:
            self._judge_speed()
        count = self._raw.readinto(buffer)
        self._window_bytes += count or 0
        return count

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()

    def _judge_speed(self) -> None:
        attempt, now = self._attempt, self._attempt.clock.monotonic()
        if self._window_from is None:
            # The time up to the first byte is the server's to think; read timeout and deadline bound it.
            self._window_from = now if self._window_bytes else None
            self._window_bytes = 0
            return
        spent_s = now - self._window_from
        if spent_s < attempt.speed_window_s:
            return
        if self._window_bytes < attempt.bytes_per_second_min * spent_s:
            detail = (
                f"{self._window_bytes} bytes in {spent_s:.1f} s, slower than {attempt.bytes_per_second_min} a second"
            )
            raise FetchError(FetchOutcome.TIMEOUT, detail)
        self._window_from, self._window_bytes = now, 0


def _fields(lines: list[bytes]) -> tuple[tuple[str, str], ...]:
    fields: list[tuple[str, str]] = []
    for line in lines[1:-1]:
        text = line.decode("latin-1")
        if text[0] in " \t":
            if not fields:
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the first header field is a continuation")
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {text.strip()}")
            continue
        name, colon, value = text.partition(":")
        if colon:
            fields.append((name.rstrip(), value.strip()))
    return tuple(fields)


def _joined(fields: tuple[tuple[str, str], ...]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in fields:
        lower = name.lower()
        joined[lower] = f"{joined[lower]}, {value}" if lower in joined else value
    return joined


def _gunzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        data = chunk
        try:
            while data and not decoder.eof:
                if piece := decoder.decompress(data, _READ_BYTES):
                    yield piece
                data = decoder.unconsumed_tail
        except zlib.error as error:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"broken transfer coding: {error}") from error
    if not decoder.eof:
        raise FetchError(FetchOutcome.CONNECT_FAILED, "the body was cut within its transfer coding")
