"""Reads back what `warc_writer` wrote: one exchange at its offset, or all records."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fastwarc import WarcRecord

from batchcrawl.errors import CorruptData
from batchcrawl.model.digest import digest
from batchcrawl.store.reading import open_stored
from batchcrawl.store.warc_file import OPEN_SUFFIX, inflate_member, scan_warc
from batchcrawl.store.warc_record import InflateError


@dataclass(frozen=True, kw_only=True)
class StoredRecord:
    """One WARC record as it stands in a file."""

    offset: int
    """Where its gzip member begins."""
    length: int
    """Bytes of that member."""
    kind: str
    """`warcinfo`, `response`, `revisit` or `request`."""
    fields: dict[str, str]
    """The WARC fields, names as written."""
    block: bytes


@dataclass(frozen=True, kw_only=True)
class StoredResponse:
    """An answer read back from a response or revisit record."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    """Header fields in the order sent, values decoded as latin-1."""
    body: bytes
    """The payload as sent, content codings kept; empty in a revisit."""
    target_uri: str
    date: str
    """WARC-Date: when the request was sent."""
    digest: str | None
    """Payload digest, `sha1:` and base32; in a revisit that of the body referred to, if known."""
    address: str | None
    truncated: str | None
    revisit: bool
    refers_to_uri: str | None
    refers_to_date: str | None

    def header(self, name: str) -> str | None:
        """Return the first value of a header field, or None. The name must be lower-case."""
        return next((value for field, value in self.headers if field.lower() == name), None)


def read_exchange(path: Path, offset: int, *, length: int | None = None, verify: bool = False) -> StoredResponse:
    """Return the answer stored at an offset of a WARC file, finished or still open.

    With the `length` of its gzip member no more is read. The gzip checksum is always checked, the digests if `verify`.
    Raises CorruptData naming file and offset when there is no whole response or revisit record.
    """
    with _open(path) as file:
        record = _record(file, path, offset, length)
    if record.kind not in {"response", "revisit"}:
        raise CorruptData(f"{path}: a {record.kind} record at byte {offset}, where a response was expected")
    head, gap, body = record.block.partition(b"\r\n\r\n")
    if not gap:
        raise CorruptData(f"{path}: the response at byte {offset} has no end of its head")
    if verify:
        _verify(path, record, body)
    return _response(path, record, head, body)


def iter_warc(path: Path, offset: int = 0) -> Iterator[StoredRecord]:
    """Yield the records of a WARC file from an offset on, one in memory at a time.

    Raises CorruptData naming file and offset at damage; in a file that is still open, a torn tail just ends it.
    """
    with _open(path) as file:
        size = file.seek(0, 2)
        if file.name.endswith(OPEN_SUFFIX):
            size = scan_warc(Path(file.name), offset).valid_bytes
        while offset < size:
            record = _record(file, path, offset)
            yield record
            offset += record.length


def _open(path: Path) -> BinaryIO:
    still_open = path.with_name(path.name + OPEN_SUFFIX)
    return open_stored(still_open if still_open.exists() and not path.exists() else path)


def _record(file: BinaryIO, path: Path, offset: int, length: int | None = None) -> StoredRecord:
    plain = bytearray()
    try:
        end = inflate_member(file, offset, plain, length=length)
    except (InflateError, EOFError, ValueError) as error:
        raise CorruptData(f"{path}: no whole record at byte {offset}: {error}") from error
    return _parsed(path, bytes(plain), offset=offset, length=end - offset)


def _parsed(path: Path, plain: bytes, *, offset: int, length: int) -> StoredRecord:
    try:
        record = WarcRecord.from_bytes(plain)
        fields = record.headers.to_dict()
        block = record.reader.read()
        size = int(fields["Content-Length"])
        kind = fields["WARC-Type"]
    except (ValueError, KeyError, OSError) as error:
        raise CorruptData(f"{path}: no WARC record at byte {offset}: {error!r}") from error
    if len(block) != size:
        raise CorruptData(f"{path}: the record at byte {offset} has {len(block)} of {size} bytes")
    return StoredRecord(offset=offset, length=length, kind=kind, fields=fields, block=block)


def _verify(path: Path, record: StoredRecord, body: bytes) -> None:
    claims = [("WARC-Block-Digest", record.block)]
    if record.kind == "response":  # in a revisit it is the digest of another record's payload
        claims.append(("WARC-Payload-Digest", body))
    for name, data in claims:
        if record.fields.get(name) != digest(data):
            raise CorruptData(
                f"{path}: the record at byte {record.offset} says {name} {record.fields.get(name)}; "
                f"its bytes have {digest(data)}"
            )


def _response(path: Path, record: StoredRecord, head: bytes, body: bytes) -> StoredResponse:
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(maxsplit=2)
    fields = record.fields
    if len(words) < 2 or not words[1].isdecimal() or not {"WARC-Target-URI", "WARC-Date"} <= fields.keys():
        raise CorruptData(f"{path}: the response at byte {record.offset} begins with {first[:80]!r}")
    return StoredResponse(
        status=int(words[1]),
        reason=words[2] if len(words) > 2 else "",
        headers=_headers(lines),
        body=body,
        target_uri=fields["WARC-Target-URI"],
        date=fields["WARC-Date"],
        digest=fields.get("WARC-Payload-Digest"),
        address=fields.get("WARC-IP-Address"),
        truncated=fields.get("WARC-Truncated"),
        revisit=record.kind == "revisit",
        refers_to_uri=fields.get("WARC-Refers-To-Target-URI"),
        refers_to_date=fields.get("WARC-Refers-To-Date"),
    )


def _headers(lines: list[str]) -> tuple[tuple[str, str], ...]:
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[0] in " \t" and headers:  # a folded line (RFC 9112, section 5.2)
            headers[-1] = (headers[-1][0], headers[-1][1] + " " + line.strip(" \t"))
        elif colon and name.strip(" \t"):
            headers.append((name.strip(" \t"), value.strip(" \t")))
    return tuple(headers)
