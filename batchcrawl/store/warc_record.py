"""The bytes of one WARC/1.1 record, each a gzip member of its own.

Pure: ids come from what is recorded, so the same exchange gives the same record. The gzip is ISA-L's at
level 1, which works outside the GIL: for the two records of a 25 KB page it takes a quarter of the CPU time
of zlib's level 1 and compresses a little better. The head is put together here, since a record built and
written by fastwarc costs twice as much in all.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import cast

from isal import isal_zlib

from batchcrawl.model.body import SpooledBody
from batchcrawl.model.digest import digest_of
from batchcrawl.model.exchange import Answer
from batchcrawl.model.revisit import Revisit

Fields = Iterable[tuple[str, str | None]]
"""Field names and values in their order; those whose value is None are left out."""

InflateError = cast("type[Exception]", isal_zlib.error)

_GZIP = 31
"""The window bits that stand for a gzip member with its checksum."""
_LEVEL = 1
_RECORD_END = b"\r\n\r\n"
_UNSAFE_IN_URI = re.compile(r"[^!-~]")
_UNSAFE_IN_VALUE = re.compile(r"[\x00-\x1f\x7f]+")


def gzip_member(fields: Fields, *block: bytes) -> bytes:
    """Return a whole record as one gzip member. The block may come in pieces; its digest and length are added."""
    head = _record_head(fields, block_digest=digest_of(block), block_bytes=sum(map(len, block)))
    return isal_zlib.compress(b"".join((head, *block, _RECORD_END)), _LEVEL, _GZIP)


def gzip_member_of(fields: Fields, block_head: bytes, body: SpooledBody) -> Iterator[bytes]:
    """Yield, in pieces, the gzip member of a record whose block is a head and a body that is not held in memory."""
    block_digest = digest_of(chain((block_head,), body.pieces()))
    head = _record_head(fields, block_digest=block_digest, block_bytes=len(block_head) + len(body))
    compressor = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)
    for piece in chain((head, block_head), body.pieces(), (_RECORD_END,)):
        yield compressor.compress(piece)
    yield compressor.flush()


def inflater() -> "isal_zlib.Decompress":
    """Return what undoes one gzip member and checks its checksum, in half the time of zlib's; raises InflateError."""
    return isal_zlib.decompressobj(_GZIP)


def warcinfo_fields(*, record_id: str, at: float, file_name: str) -> Fields:
    """Return the fields of the record that opens a file (WARC/1.1, section 6.2)."""
    return (
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", record_id),
        ("WARC-Date", warc_date(at)),
        ("WARC-Filename", file_name),
        ("Content-Type", "application/warc-fields"),
    )


def warcinfo_block(info: Mapping[str, str]) -> bytes:
    """Return the block of a warcinfo record: one line a field."""
    lines = [f"{name}: {_one_line(value)}\r\n" for name, value in info.items()]
    return "".join(lines).encode("utf-8", "replace")


def exchange_fields(answer: Answer) -> Fields:
    """Return what the records of an exchange have in common; the others take it after their id."""
    return (
        ("WARC-Target-URI", _uri(answer.url)),
        ("WARC-Date", warc_date(answer.started_at)),
        ("WARC-IP-Address", answer.address),
    )


def response_fields(answer: Answer, *, common: Fields, record_id: str) -> Fields:
    """Return the fields of a response record (WARC/1.1, section 6.3)."""
    return (
        ("WARC-Type", "response"),
        ("WARC-Record-ID", record_id),
        *common,
        ("Content-Type", "application/http;msgtype=response"),
        ("WARC-Payload-Digest", answer.payload_digest),
        ("WARC-Truncated", answer.truncated or ("unspecified" if answer.unwanted else None)),
    )


def revisit_fields(revisit: Revisit, *, common: Fields, record_id: str) -> Fields:
    """Return the fields of a revisit record, which refers to the earlier one (WARC/1.1, section 6.7)."""
    return (
        ("WARC-Type", "revisit"),
        ("WARC-Record-ID", record_id),
        *common,
        ("Content-Type", "application/http;msgtype=response"),
        ("WARC-Profile", revisit.profile.uri),
        ("WARC-Refers-To-Target-URI", _uri(revisit.refers_to_uri)),
        ("WARC-Refers-To-Date", warc_date(revisit.refers_to_at)),
        ("WARC-Payload-Digest", revisit.payload_digest),
    )


def request_fields(*, common: Fields, record_id: str, concurrent_to: str) -> Fields:
    """Return the fields of the request record that belongs to an answer (WARC/1.1, section 6.5)."""
    return (
        ("WARC-Type", "request"),
        ("WARC-Record-ID", record_id),
        *common,
        ("Content-Type", "application/http;msgtype=request"),
        ("WARC-Concurrent-To", concurrent_to),
    )


def strict_head(head: bytes) -> bytes:
    """Return an HTTP head whose lines all end in CRLF and that has its one empty line at the end.

    What a lenient client took may be looser; readers of WARC files look for the first empty line.
    """
    if _is_strict(head):
        return head
    lines = [line for line in re.split(rb"[\r\n]+", head) if line]
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def record_id(*parts: str) -> str:
    """Return the id that follows from the parts: their BLAKE2b as a UUID of version 8 (RFC 9562, section 5.8)."""
    digits = hashlib.blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:]}>"


def warc_date(at: float) -> str:
    """Return seconds since 1970 as UTC with microseconds (WARC/1.1, section 5.4; W3C-DTF)."""
    fraction, second = math.modf(at)
    microseconds = round(fraction * 1_000_000)
    if not 0 <= microseconds < 1_000_000:
        second, microseconds = second + math.copysign(1, fraction), microseconds % 1_000_000
    return f"{_to_the_second(int(second))}.{microseconds:06d}Z"


def _record_head(fields: Fields, *, block_digest: str, block_bytes: int) -> bytes:
    told = [(name, value) for name, value in fields if value is not None]
    if not "".join([value for _, value in told]).isprintable():  # so it is asked once a record
        told = [(name, _one_line(value)) for name, value in told]
    lines = ["WARC/1.1", *[f"{name}: {value}" for name, value in told]]
    lines += [f"WARC-Block-Digest: {block_digest}", f"Content-Length: {block_bytes}", "", ""]
    return "\r\n".join(lines).encode("utf-8", "replace")


def _is_strict(head: bytes) -> bool:
    lines = head.count(b"\n")
    alike = head.count(b"\r") == lines == head.count(b"\r\n")
    return alike and head.find(b"\r\n\r\n") == len(head) - 4 and not head.startswith(b"\r")


@lru_cache(maxsize=16)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


def _uri(url: str) -> str:
    """Escape what would end the field early; a serialised URL has nothing of it."""
    return _UNSAFE_IN_URI.sub(lambda found: "".join(f"%{b:02X}" for b in found[0].encode("utf-8", "replace")), url)


def _one_line(value: str) -> str:
    return _UNSAFE_IN_VALUE.sub(" ", value)
