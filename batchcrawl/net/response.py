"""An answer as it comes from the socket: its head kept byte for byte, its body framed, all within limits.

Framing follows RFC 9112, section 6, as leniently as curl: it rejects a status line that is none, a NUL in the head, a
folded first field, a length that is no number, transfer codings other than gzip and chunked, and broken chunks. Of
two lengths the last counts, and a length beyond 64 bits does not; the connection is closed then.
"""

import re
import socket
import zlib
from collections.abc import Iterator

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt
from batchcrawl.net.failure import FetchError
from batchcrawl.net.source import Source

_READ_BYTES = 65536
_CHUNK_LINE_BYTES_MAX = 4096
_SMALL_CHUNK_BYTES = 32
_SMALL_CHUNKS_MAX = 20_000
"""Each takes six microseconds, so that a server of endless ones would take a processor for itself."""
_HEAD_LINES_MAX = 1000
"""Each takes many times its bytes in memory; browsers and curl meet their limits later, servers long before."""
_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]|[23])[ \t]+([1-9][0-9]{2})(?![0-9])")
_CHUNK_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_FRAMING_FIELD = re.compile(rb"^(?=(?:transfer-encoding|content-length)[ \t]*:)", re.IGNORECASE | re.MULTILINE)


class RecordedResponse:
    """The answer to one request, from its first byte on."""

    def __init__(self, sock: socket.socket, attempt: Attempt) -> None:
        self._source = Source(sock, attempt)
        self._attempt = attempt
        self.status = 0
        self.head = b""
        self.fields: tuple[tuple[str, str], ...] = ()
        self.length: int | None = None
        """What the head says of the body, if it says so in a way that counts."""
        self.first_byte_at: float | None = None
        self._by_name: dict[str, str] = {}
        self._version = 11
        self._chunked = False
        self._gzipped = False
        self._closes = False
        self._complete = False

    @property
    def keeps_connection(self) -> bool:
        """Tell whether the connection can carry another request: the whole body was read, and nothing beyond it."""
        return self._complete and not self._closes and not self._source.pending

    def begin(self) -> None:
        """Read the head of the final answer. Raises FetchError when it is no HTTP."""
        self.head = self._read_head()
        while 100 <= self.status < 200 and self.status != 101:
            self.head = self._read_head()
        self.fields = _fields(self.head)
        self._by_name = _joined(self.fields)
        self._frame()
        if self._chunked or self._gzipped:
            self.head = _FRAMING_FIELD.sub(b"X-Crawler-", self.head)

    def field(self, name: str) -> str | None:
        """Return the values of a field joined by commas, or None. The name must be lower-case."""
        return self._by_name.get(name)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes, transfer codings undone. Raises FetchError when it is broken."""
        if self._chunked:
            framed = self._dechunked()
        elif self.length is None:
            framed = self._to_the_end()
        else:
            framed = self._exactly(self.length)
        yield from _gunzipped(framed) if self._gzipped else framed
        self._complete = True

    def _read_head(self) -> bytes:
        limit = self._attempt.header_bytes_max
        head = self._source.head(limit)
        if head is None:
            head = self._read_by_line(limit)
        else:
            self._begin_with(head[: head.index(b"\n") + 1])
            _refuse_nul(head)
            _refuse_many_lines(head.count(b"\n"))
        # An interim answer and the final one share the limit.
        self._attempt.header_bytes_max = limit - len(head)
        return head

    def _read_by_line(self, limit: int) -> bytes:
        lines = [self._head_line(limit)]
        self._begin_with(lines[0])
        while lines[-1] not in (b"\r\n", b"\n"):
            limit -= len(lines[-1])
            line = self._head_line(limit)
            if not line:
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the answer ends within its head")
            lines.append(line)
            _refuse_many_lines(len(lines))
        return b"".join(lines)

    def _begin_with(self, line: bytes) -> None:
        if self.first_byte_at is None and line:
            self.first_byte_at = self._attempt.clock.now()
        self._take_status(line)

    def _head_line(self, limit: int) -> bytes:
        line = self._source.line(limit + 1)
        if len(line) > limit:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the head of the answer is too long")
        _refuse_nul(line)
        return line

    def _take_status(self, line: bytes) -> None:
        if not line:
            raise FetchError(FetchOutcome.CONNECT_FAILED, "the connection was closed without an answer")
        found = _STATUS_LINE.match(line)
        if found is None:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no status line but {line[:60]!r}")
        self._version = 10 if found[1] == b"1.0" else 11
        self.status = int(found[2])

    def _frame(self) -> None:
        options = self._by_name.get("connection", "").lower()
        self._closes = "close" in options or (self._version == 10 and "keep-alive" not in options)
        codings = self._codings()
        if self.status in (204, 304) or self.status < 200:
            self.length = 0
        elif codings:
            if codings not in (["chunked"], ["gzip"], ["gzip", "chunked"]):
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"transfer codings {codings} are not known")
            self._chunked = codings[-1] == "chunked"
            self._gzipped = codings[0] == "gzip"
        else:
            self._take_length()
        if self.length is None and not self._chunked:
            self._closes = True

    def _codings(self) -> list[str]:
        value = self._by_name.get("transfer-encoding")
        if value is None:
            return []
        codings = [coding.strip() for coding in value.lower().split(",")]
        return [coding for coding in codings if coding not in ("", "identity")]

    def _take_length(self) -> None:
        lengths = [length.strip() for length in self._by_name.get("content-length", "").split(",")]
        if lengths == [""]:
            return
        if not (lengths[-1].isascii() and lengths[-1].isdigit()):
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no length but {lengths[-1]!r}")
        if len(set(lengths)) > 1:
            self._closes = True
        if len(lengths[-1]) < 20:
            self.length = int(lengths[-1])

    def _to_the_end(self) -> Iterator[bytes]:
        while data := self._source.some(_READ_BYTES):
            yield data

    def _exactly(self, length: int) -> Iterator[bytes]:
        left = length
        while left:
            data = self._source.some(left)
            if not data:
                raise FetchError(FetchOutcome.CONNECT_FAILED, f"the body was cut {left} bytes before its end")
            left -= len(data)
            yield data

    def _dechunked(self) -> Iterator[bytes]:
        small = 0
        while size := self._chunk_size():
            small += size < _SMALL_CHUNK_BYTES
            if small > _SMALL_CHUNKS_MAX:
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"more than {_SMALL_CHUNKS_MAX} tiny chunks")
            yield from self._exactly(size)
            if self._source.line(2) not in (b"\r\n", b"\n"):
                raise FetchError(FetchOutcome.PROTOCOL_ERROR, "a chunk is longer than it says")
        left = self._attempt.header_bytes_max
        while (line := self._head_line(left)) not in (b"\r\n", b"\n", b""):
            left -= len(line)

    def _chunk_size(self) -> int:
        line = self._source.line(_CHUNK_LINE_BYTES_MAX)
        if not line:
            raise FetchError(FetchOutcome.CONNECT_FAILED, "the body was cut between chunks")
        found = _CHUNK_LINE.fullmatch(line)
        if found is None:
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no chunk size but {line[:60]!r}")
        return int(found[1], 16)


def _refuse_nul(head: bytes) -> None:
    if b"\0" in head:
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, "the head of the answer holds a NUL")


def _refuse_many_lines(number: int) -> None:
    if number > _HEAD_LINES_MAX:
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"the head of the answer has more than {_HEAD_LINES_MAX} lines")


def _fields(head: bytes) -> tuple[tuple[str, str], ...]:
    fields: list[tuple[str, str]] = []
    for text in head.decode("latin-1").split("\n")[1:-2]:
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
