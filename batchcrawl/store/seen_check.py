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

Faults = Iterator[tuple[CrawlDb, Fault]]


def verify_seen(partitions: Sequence[CrawlDb]) -> Faults:
    """Yield every fault of the indexes of content with the partition that has it, in bounded memory.

    Between the batches of an update they disagree. A damaged record is passed over, since `verify` tells of it.
    """
    for db in partitions:
        for key, value in db.entries(b"u"):
            record = _decoded(value)
            if record is not None:
                yield from _check_page(partitions, key[1:], record)
    for db in partitions:
        for kind in KINDS:
            for key, value in db.entries(kind):
                yield from _check_entry(partitions, db, key, value)


def _check_page(partitions: Sequence[CrawlDb], fingerprint: bytes, record: UrlRecord) -> Faults:
    for key in seen_keys(fingerprint, record):
        db = partitions[owner_of(key, len(partitions))]
        if db.value(key) != b"":
            yield db, Fault(key, f"the entry of {record.url} is missing or wrong")
            continue
        if not is_text(key):
            continue
        first = page_of(next(db.keys(group_of(key)), key))
        if record.status is PageStatus.FETCHED and first != fingerprint:
            yield (
                db,
                Fault(key, f"{record.url} is no duplicate, but {_name(partitions, first)} was first with its text"),
            )
        if record.status is PageStatus.DUPLICATE and first == fingerprint:
            yield db, Fault(key, f"{record.url} is a duplicate, but was first with its text")


def _check_entry(partitions: Sequence[CrawlDb], db: CrawlDb, key: bytes, value: bytes) -> Faults:
    fingerprint = page_of(key)
    record = _record(partitions, fingerprint)
    at_home = partitions[owner_of(key, len(partitions))] is db
    if record is None or not at_home or value != b"" or key not in seen_keys(fingerprint, record):
        yield db, Fault(key, f"an entry that no record asks for ({record.url if record else fingerprint.hex()})")


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
