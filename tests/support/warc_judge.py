"""A judge of WARC files that uses nothing of the crawler: gzip, warcio, fastwarc, and rules that these leave out.

The rules need the bytes as they are (warcio mends a URI with spaces before it shows it), so files are read here
member by member.
"""

import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_CHUNK_BYTES = 1 << 16
_GZIP = 31
_RAW_DEFLATE = -15
_NEEDED = ("WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length")
_URIS = ("WARC-Target-URI", "WARC-Refers-To-Target-URI")
_IDENTICAL, _NOT_MODIFIED = (
    f"http://netpreserve.org/warc/1.1/revisit/{name}" for name in ("identical-payload-digest", "server-not-modified")
)
_NEEDED_IN_REVISIT = ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Payload-Digest")


@dataclass(frozen=True)
class WarcRecord:
    """One record as its bytes say it."""

    offset: int
    fields: tuple[tuple[str, str], ...]
    block: bytes

    def field(self, name: str) -> str | None:
        """Return the first value of a WARC field, or None."""
        return _value(self.fields, name)


@dataclass(frozen=True)
class HttpMessage:
    """The block of a response record, taken apart; the body is as it is stored."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first value of a header field, or None."""
        return _value(self.headers, name)


class BadWarc(Exception):
    """The bytes cannot be read as WARC records of one gzip member each."""


def judge(paths: Sequence[Path]) -> list[str]:
    """Return every fault of WARC files that belong together, as `file: what`."""
    found: list[str] = []
    for path in paths:
        found += [f"{path.name}: {what}" for what in (*_gzip(path), *_warcio(path), *_fastwarc(path))]
    return found + broken_rules(paths)


def broken_rules(paths: Sequence[Path]) -> list[str]:
    """Return the faults by the rules that gzip, warcio and fastwarc leave out, as `file: what`."""
    seen = _Seen()
    found = [f"{path.name}: {what}" for path in paths for what in _of_file(path, seen)]
    found += [f"{where}: WARC-Concurrent-To {target} is nowhere" for where, target in seen.dangling()]
    return found


def unresolved_revisits(paths: Sequence[Path]) -> list[str]:
    """Return the revisits of files whose response, by URI, date and payload digest, is in none of them."""
    bodies: set[tuple[str | None, ...]] = set()
    revisits: list[tuple[str, tuple[str | None, ...]]] = []
    for path in paths:
        for record in read_records(path):
            if record.field("WARC-Type") == "response":
                bodies.add(tuple(map(record.field, ("WARC-Target-URI", "WARC-Date", "WARC-Payload-Digest"))))
            elif record.field("WARC-Type") == "revisit":
                where = f"{path.name}: record at byte {record.offset}"
                revisits.append((where, tuple(map(record.field, _NEEDED_IN_REVISIT))))
    return [f"{where} refers to {' '.join(map(str, body))}" for where, body in revisits if body not in bodies]


def read_records(path: Path) -> Iterator[WarcRecord]:
    """Yield the records of a file, one in memory at a time. Raises BadWarc naming the offset."""
    for offset, plain in _members(path):
        head, gap, rest = plain.partition(b"\r\n\r\n")
        first, *lines = head.decode("utf-8", "replace").split("\r\n")
        fields = _split_fields(lines)
        length = _value(fields, "Content-Length") or ""
        if not gap or not first.startswith("WARC/1.") or not length.isdecimal():
            raise BadWarc(f"no WARC record at byte {offset}: {first[:60]!r}")
        if rest[int(length) :] != b"\r\n\r\n":
            raise BadWarc(f"the gzip member at byte {offset} is not one whole record")
        yield WarcRecord(offset, fields, rest[: int(length)])


def http_message(record: WarcRecord) -> HttpMessage | None:
    """Return the HTTP message in a response or revisit record, or None when it holds none."""
    head, gap, body = record.block.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(maxsplit=2)
    if not gap or len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdecimal():
        return None
    return HttpMessage(int(words[1]), _split_fields(lines), body)


def undo_coding(coding: str, body: bytes, *, whole: bool = True) -> bytes | None:
    """Return a body without its content coding, or None where it does not have it.

    A coding that this judge does not know gives the body as it is. `whole` says that the body was not cut.
    """
    name = coding.rpartition(",")[2].strip().lower()
    if name in {"gzip", "x-gzip"}:
        return _inflate(body, _GZIP, whole=whole)
    if name == "deflate":
        plain = _inflate(body, zlib.MAX_WBITS, whole=whole)
        return _inflate(body, _RAW_DEFLATE, whole=whole) if plain is None else plain
    return body


@dataclass
class _Seen:
    """What must fit together over all files."""

    ids: dict[str, str] = field(default_factory=dict)
    """Record id to where it stands first."""
    pointers: list[tuple[str, str]] = field(default_factory=list)
    """Where a WARC-Concurrent-To stands, and its value."""

    def dangling(self) -> Iterator[tuple[str, str]]:
        return ((where, target) for where, target in self.pointers if target not in self.ids)


def _gzip(path: Path) -> list[str]:
    return [f"gzip: {said}" for said in _run("gzip", "-t", str(path))]


def _warcio(path: Path) -> list[str]:
    return [f"warcio: {said}" for said in _run(sys.executable, "-m", "warcio.cli", "check", str(path))]


def _fastwarc(path: Path) -> list[str]:
    # It compares the payload digest of a revisit record, which is another record's, with its empty payload.
    payloads = [] if _has_revisit(path) else ["--verify-payloads"]
    command = [sys.executable, "-m", "fastwarc.cli", "check", *payloads, str(path)]
    return [f"fastwarc: {said}" for said in _run(*command)]


def _has_revisit(path: Path) -> bool:
    try:
        return any(record.field("WARC-Type") == "revisit" for record in read_records(path))
    except BadWarc:
        return False


def _run(*command: str) -> list[str]:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if ended.returncode == 0 else [(ended.stdout + ended.stderr).strip()]


def _of_file(path: Path, seen: _Seen) -> Iterator[str]:
    number = -1
    try:
        for number, record in enumerate(read_records(path)):
            where = f"record at byte {record.offset}"
            yield from (f"{where} {what}" for what in _of_record(record, first=number == 0))
            identity = record.field("WARC-Record-ID") or ""
            if identity in seen.ids:
                yield f"{where} has the id {identity} of {seen.ids[identity]}"
            seen.ids.setdefault(identity, f"{path.name} at byte {record.offset}")
            seen.pointers += [
                (f"{path.name}: {where}", v) for n, v in record.fields if n.lower() == "warc-concurrent-to"
            ]
    except BadWarc as error:
        yield str(error)
        return
    if number < 0:
        yield "holds no record"


def _of_record(record: WarcRecord, *, first: bool) -> Iterator[str]:
    kind = record.field("WARC-Type")
    if first and kind != "warcinfo":
        yield f"is a {kind}; a file begins with a warcinfo"
    if not first and kind == "warcinfo":
        yield "is a warcinfo that is not the first"
    yield from (f"has no {name}" for name in _NEEDED if record.field(name) is None)
    yield from (f"has a space in its {name}" for name in _URIS if " " in (record.field(name) or ""))
    if "#" in (record.field("WARC-Target-URI") or ""):
        yield "has a fragment in its WARC-Target-URI, which is never asked for"
    if kind == "response":
        yield from _of_response(record)
    if kind == "revisit":
        yield from _of_revisit(record)


def _of_response(record: WarcRecord) -> Iterator[str]:
    if record.field("WARC-Payload-Digest") is None:
        yield "has no WARC-Payload-Digest"
    message = http_message(record)
    if message is None:
        yield "is a response without an HTTP message"
        return
    whole = record.field("WARC-Truncated") is None
    coding = message.header("Content-Encoding")
    if coding is not None and message.body and undo_coding(coding, message.body, whole=whole) is None:
        yield f"keeps Content-Encoding {coding} over a body without it"
    transfer = (message.header("Transfer-Encoding") or "").lower()
    if "chunked" in transfer and not _is_chunked(message.body, whole=whole):
        yield "keeps Transfer-Encoding chunked over a body without it"


def _of_revisit(record: WarcRecord) -> Iterator[str]:
    yield from (f"is a revisit without {name}" for name in _NEEDED_IN_REVISIT if record.field(name) is None)
    profile, message = record.field("WARC-Profile"), http_message(record)
    if profile not in (_IDENTICAL, _NOT_MODIFIED):
        yield f"has the profile {profile}"
    if message is None:
        yield "is a revisit without an HTTP head"
        return
    if message.body:
        yield "is a revisit with a body"
    if (profile == _NOT_MODIFIED) != (message.status == 304):
        yield f"has status {message.status} under the profile {profile}"


def _inflate(body: bytes, window_bits: int, *, whole: bool) -> bytes | None:
    plain = b""
    try:
        while body:  # gzip members may follow one another
            inflater = zlib.decompressobj(window_bits)
            plain += inflater.decompress(body)
            if not inflater.eof:
                return None if whole else plain
            body = inflater.unused_data
    except zlib.error:
        return None
    return plain


def _is_chunked(body: bytes, *, whole: bool) -> bool:
    """Tell whether a body is a chunked one (RFC 9112, section 7.1)."""
    at = 0
    while (line_end := body.find(b"\r\n", at)) >= 0:
        digits = body[at:line_end].partition(b";")[0].strip()
        try:
            size = int(digits, 16)
        except ValueError:
            return False
        if size == 0:
            return True
        at = line_end + 2 + size + 2
        if at <= len(body) and body[at - 2 : at] != b"\r\n":
            return False
    return not whole and at >= len(body) > 0


def _members(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each gzip member's offset and content."""
    offset, rest = 0, b""
    with path.open("rb") as file:
        while rest := rest or file.read(_CHUNK_BYTES):
            inflater = zlib.decompressobj(_GZIP)
            plain, used = bytearray(), 0
            while not inflater.eof:
                data = rest or file.read(_CHUNK_BYTES)
                if not data:
                    raise BadWarc(f"the gzip member at byte {offset} is cut")
                try:
                    plain += inflater.decompress(data)
                except zlib.error as error:
                    raise BadWarc(f"the gzip member at byte {offset} is damaged: {error}") from error
                used, rest = used + len(data), b""
            rest = inflater.unused_data
            yield offset, bytes(plain)
            offset += used - len(rest)


def _split_fields(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = (line.partition(":") for line in lines)
    return tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)


def _value(fields: tuple[tuple[str, str], ...], name: str) -> str | None:
    return next((value for field_name, value in fields if field_name.lower() == name.lower()), None)
