"""Proves the indexes of content against the URL records, over all partitions."""

from collections.abc import Iterator, Sequence

from batchcrawl.errors import CorruptData
from batchcrawl.model.record import UrlRecord, decode_record
from batchcrawl.model.status import PageStatus
from batchcrawl.store import keys
from batchcrawl.store.check import Fault
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.seen_keys import KINDS, group_of, is_text, owner_of, page_of, seen_keys
from batchcrawl.web.fingerprint import partition_of

Faults = Iterator[tuple[int, Fault]]
"""Each with the number of the partition that has it."""


def verify_seen(partitions: Sequence[CrawlDb]) -> Faults:
    """Yield every fault of the indexes of content with the partition that has it, in bounded memory.

    Between the batches of an update they disagree. A damaged record is passed over, since `verify` tells of it.
    """
    for db in partitions:
        for key, value in db.entries(b"u"):
            record = _decoded(value)
            if record is not None:
                yield from _check_page(partitions, key[1:], record)
    for p, db in enumerate(partitions):
        for kind in KINDS:
            for key, value in db.entries(kind):
                yield from _check_entry(partitions, p, key, value)


def _check_page(partitions: Sequence[CrawlDb], fingerprint: bytes, record: UrlRecord) -> Faults:
    for key in seen_keys(fingerprint, record):
        owner = owner_of(key, len(partitions))
        db = partitions[owner]
        if db.value(key) != b"":
            yield owner, Fault(key, f"the entry of {record.url} is missing or wrong")
            continue
        if not is_text(key):
            continue
        first = page_of(next(db.keys(group_of(key)), key))
        if record.status is PageStatus.FETCHED and first != fingerprint:
            yield (
                owner,
                Fault(key, f"{record.url} is no duplicate, but {_name(partitions, first)} was first with its text"),
            )
        if record.status is PageStatus.DUPLICATE and first == fingerprint:
            yield owner, Fault(key, f"{record.url} is a duplicate, but was first with its text")


def _check_entry(partitions: Sequence[CrawlDb], p: int, key: bytes, value: bytes) -> Faults:
    fingerprint = page_of(key)
    record = _record(partitions, fingerprint)
    at_home = owner_of(key, len(partitions)) == p
    if record is None or not at_home or value != b"" or key not in seen_keys(fingerprint, record):
        yield p, Fault(key, f"an entry that no record asks for ({record.url if record else fingerprint.hex()})")


def _name(partitions: Sequence[CrawlDb], fingerprint: bytes) -> str:
    record = _record(partitions, fingerprint)
    return record.url if record else fingerprint.hex()


def _record(partitions: Sequence[CrawlDb], fingerprint: bytes) -> UrlRecord | None:
    value = partitions[partition_of(fingerprint, len(partitions))].value(keys.url_key(fingerprint))
    return None if value is None else _decoded(value)


def _decoded(value: bytes) -> UrlRecord | None:
    try:
        return decode_record(value)
    except CorruptData:
        return None
