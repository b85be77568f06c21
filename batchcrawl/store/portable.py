"""The crawldb as JSON lines that any crawl of its canonicalisation can take in, whatever its number of partitions.

The first line says what fingerprints depend on; then come seed hosts, seed domains, domain records, host records, and
URL records in the order of fingerprints. Counts and indexes are left out: they follow from the records.
"""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place


class CrawlLine(msgspec.Struct, tag_field="line", tag="crawl", kw_only=True):
    """What the fingerprints depend on."""

    format: int
    canonical_steps: tuple[str, ...]
    hash: str
    signature: str
    suffix_list: str
    """The public suffix list of the crawl's birth."""


class SeedHostLine(msgspec.Struct, tag_field="line", tag="seed_host", kw_only=True):
    """The name of a host that has a seed."""

    name: str


class SeedDomainLine(msgspec.Struct, tag_field="line", tag="seed_domain", kw_only=True):
    """Its registered domain."""

    name: str


class DomainLine(msgspec.Struct, tag_field="line", tag="domain", kw_only=True):
    """A domain record, without the number of its URLs."""

    part: str
    """Its key, hex."""
    record: DomainRecord


class HostLine(msgspec.Struct, tag_field="line", tag="host", kw_only=True):
    """A host record, without the numbers of its URLs."""

    record: HostRecord


class UrlLine(msgspec.Struct, tag_field="line", tag="url", kw_only=True):
    """A URL record: names for numbers, hex for bytes, absent fields left out."""

    fp: str
    record: dict[str, Any]


PortableLine = CrawlLine | SeedHostLine | SeedDomainLine | DomainLine | HostLine | UrlLine
_BYTES = [f.name for f in msgspec.structs.fields(UrlRecord) if f.type is bytes or bytes in get_args(f.type)]
_decode = msgspec.json.Decoder(PortableLine).decode


def record_row(record: UrlRecord) -> dict[str, Any]:
    """Return a record as a JSON-able row: names for numbers, hex for bytes, absent fields left out."""
    row: dict[str, Any] = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None:
            continue
        row[name] = value.hex() if isinstance(value, bytes) else value
    row["status"], row["place"] = record.status.name.lower(), record.place.name.lower()
    if record.outcome is not None:
        row["outcome"] = record.outcome.value
    return row


def record_of(row: dict[str, Any]) -> UrlRecord:
    """Return the record of a row. Raises ValueError, with the reason, for what is none."""
    made = dict(row)
    try:
        for name in _BYTES:
            if name in made:
                made[name] = bytes.fromhex(made[name])
        made["status"] = int(PageStatus[str(row["status"]).upper()])
        made["place"] = int(Place[str(row["place"]).upper()])
        return msgspec.convert(made, UrlRecord, builtin_types=(bytes,))
    except KeyError as error:
        raise ValueError(f"{error} is missing or not known") from error
    except TypeError as error:
        raise ValueError(f"bytes stand as text in hex: {error}") from error


def read_portable(lines: Iterable[bytes], source: str) -> Iterator[tuple[str, PortableLine]]:
    """Yield each line with its place, as `file:line`. Raises UsageError for one that cannot be read."""
    for number, text in enumerate(lines, start=1):
        place = f"{source}:{number}"
        if not text.endswith(b"\n"):
            raise UsageError(f"{place}: the line is cut; the file is not whole")
        try:
            line = _decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UsageError(f"{place}: {error}") from error
        if (number == 1) is not isinstance(line, CrawlLine):
            raise UsageError(f"{place}: the line that says what crawl it is comes first, and once")
        yield place, line
