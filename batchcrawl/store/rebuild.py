"""Makes what a partition derives from its URL records anew: index entries, counts of hosts and domains.

It is the counterpart of `store.check`, which only tells. A record that cannot be read is lost, and removed.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.model.host import (
    DomainRecord,
    HostRecord,
    decode_domain,
    decode_host,
    encode_domain,
    encode_host,
)
from batchcrawl.model.record import UrlRecord, decode_record, encode_record
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.traps import Costly, costly_of
from batchcrawl.store import keys
from batchcrawl.store.check import Counted, count_by_domain, recount_hosts, stored_hosts
from batchcrawl.store.crawldb import CrawlDb, Entry
from batchcrawl.store.seen_keys import KINDS, group_of, is_text, owner_of, page_of, seen_keys
from batchcrawl.web.fingerprint import domain_part

BATCH_WRITES = 20_000
NewHost = Callable[[UrlRecord], HostRecord]
"""Gives the record of the host of a URL, as if it entered with that."""


class _Writes:
    """Single changes, committed many at a time: each of them is right by itself."""

    def __init__(self, db: CrawlDb) -> None:
        self._db = db
        self._batch = db.raw_batch()
        self._size = 0

    def put(self, key: bytes, value: bytes) -> None:
        self._batch.put(key, value)
        self._count()

    def delete(self, key: bytes) -> None:
        self._batch.delete(key)
        self._count()

    def commit(self) -> None:
        if self._size:
            self._db.write(self._batch)
            self._batch, self._size = self._db.raw_batch(), 0

    def _count(self) -> None:
        self._size += 1
        if self._size == BATCH_WRITES:
            self.commit()


def rebuild_partition(db: CrawlDb, new_host: NewHost) -> Counter[str]:
    """Make everything that the records of a partition imply in it, and return what was changed, by what it was."""
    counts: Counter[str] = Counter()
    for part in (_rebuild_records, _rebuild_indexes):
        part(db, counts)
    _rebuild_hosts(db, new_host, counts)
    _rebuild_domains(db, counts)
    return counts


def rebuild_seen(partitions: Sequence[CrawlDb]) -> Counter[str]:
    """Make the indexes of content anew, and what pages are to one another by them; all partitions are open."""
    counts: Counter[str] = Counter()
    writes = [_Writes(db) for db in partitions]
    for db in partitions:
        for fingerprint, record in db.records():
            for key in seen_keys(fingerprint, record):
                owner = owner_of(key, len(partitions))
                if partitions[owner].value(key) != b"":
                    writes[owner].put(key, b"")
                    counts["entries of texts added"] += 1
    for p, db in enumerate(partitions):
        writes[p].commit()
        for kind in KINDS:
            for key, value in db.entries(kind):
                if not _is_asked_for(partitions, p, key, value):
                    writes[p].delete(key)
                    counts["entries of texts removed"] += 1
        writes[p].commit()
    for db in partitions:
        _judge_pages(partitions, db, counts)
    return counts


def _rebuild_records(db: CrawlDb, counts: Counter[str]) -> None:
    writes = _Writes(db)
    for key, value in db.entries(b"u"):
        try:
            record = decode_record(value)
        except CorruptData:
            writes.delete(key)
            counts["URLs lost"] += 1
            continue
        if (record.place is Place.LEASED) != (record.lease is not None):
            record.place, record.lease = Place.READY, None
            writes.put(key, encode_record(record))
            counts["leases ended"] += 1
        for index, held in keys.index_entries(key[1:], record).items():
            if db.value(index) != held:
                writes.put(index, held)
                counts["index entries added"] += 1
    writes.commit()


def _rebuild_indexes(db: CrawlDb, counts: Counter[str]) -> None:
    writes = _Writes(db)
    for prefix, size, fingerprint_of in (
        (b"r", keys.READY_KEY_BYTES, keys.ready_fingerprint),
        (b"t", keys.TIMER_KEY_BYTES, keys.timer_fingerprint),
    ):
        for key in db.keys(prefix):
            entry = db.load(fingerprint_of(key)) if len(key) == size else None
            if entry is None or key not in entry.stored_index:
                writes.delete(key)
                counts["index entries removed"] += 1
    writes.commit()


def _rebuild_hosts(db: CrawlDb, new_host: NewHost, counts: Counter[str]) -> None:
    writes = _Writes(db)
    both = heapq.merge(recount_hosts(db), stored_hosts(db), key=itemgetter(0))
    for host_part, group in groupby(both, key=itemgetter(0)):
        counted = Counted()
        host = None
        for _, found in group:
            if isinstance(found, Counted):
                counted = found
            else:
                host = _decoded(found)
        if host is None:
            host = _host_of(db, host_part, new_host)
            counts["hosts made again, without what they had taught"] += 1
        elif host.urls != counted.urls or sum(host.costly.values()) != counted.costly:
            counts["hosts counted again"] += 1
        else:
            continue
        key = keys.host_key(host_part)
        if host is None:
            writes.delete(key)
        else:
            host.urls = dict(counted.urls)
            if sum(host.costly.values()) != counted.costly:
                host.costly = _costly_of(db, host_part)
            writes.put(key, encode_host(host))
    writes.commit()


def _host_of(db: CrawlDb, host_part: bytes, new_host: NewHost) -> HostRecord | None:
    host = None
    for _, value in db.entries(b"u" + host_part):
        record = decode_record(value)
        host = host or new_host(record)
        host.seed = host.seed or record.seed
    return host


def _costly_of(db: CrawlDb, host_part: bytes) -> dict[str, int]:
    """Count a host's costly URLs by what makes them so: what does not show is taken for a copy."""
    records = (decode_record(value) for _, value in db.entries(b"u" + host_part))
    kinds = ((costly_of(record.url) or Costly.DUPLICATES).value for record in records if record.costly)
    return dict(Counter(kinds))


def _decoded(data: bytes) -> HostRecord | None:
    try:
        return decode_host(data)
    except msgspec.MsgspecError:
        return None


def _rebuild_domains(db: CrawlDb, counts: Counter[str]) -> None:
    writes = _Writes(db)
    stored = {key[1:]: value for key, value in db.entries(b"d")}
    for part, group in groupby(_domains_of_hosts(db), key=lambda named: named[0][: keys.DOMAIN_PART_BYTES]):
        counted = count_by_domain(db, part)
        for key, name in dict(group).items():
            value = stored.pop(key, None)
            domain = _decoded_domain(value)
            if domain is not None and domain.urls == counted[key]:
                continue
            domain = domain or DomainRecord(domain=name)
            domain.urls = counted[key]
            writes.put(keys.domain_key(key), encode_domain(domain))
            counts["domains counted again"] += 1
    for key in stored:
        writes.delete(keys.domain_key(key))
        counts["domains without hosts removed"] += 1
    writes.commit()


def _domains_of_hosts(db: CrawlDb) -> Iterator[tuple[bytes, str]]:
    """Yield each domain part that there must be, with its name, those of one registered domain together."""
    for part, host in db.hosts():
        yield part[: keys.DOMAIN_PART_BYTES], host.domain
        if host.budget_domain is not None:
            yield domain_part(part, budget=host.budget_domain), host.budget_domain


def _decoded_domain(data: bytes | None) -> DomainRecord | None:
    try:
        return None if data is None else decode_domain(data)
    except msgspec.MsgspecError:
        return None


def _is_asked_for(partitions: Sequence[CrawlDb], p: int, key: bytes, value: bytes) -> bool:
    if owner_of(key, len(partitions)) != p:
        return False
    entry = _entry(partitions, page_of(key))
    return entry is not None and value == b"" and key in seen_keys(entry.fingerprint, entry.record)


def _entry(partitions: Sequence[CrawlDb], fingerprint: bytes) -> Entry | None:
    owner = owner_of(b"u" + fingerprint, len(partitions))
    return partitions[owner].load(fingerprint)


def _judge_pages(partitions: Sequence[CrawlDb], db: CrawlDb, counts: Counter[str]) -> None:
    """Let the first page with a text be fetched, and the others be its duplicates."""
    batch = db.batch()
    for fingerprint, record in db.records():
        for key in filter(is_text, seen_keys(fingerprint, record)):
            first = page_of(next(partitions[owner_of(key, len(partitions))].keys(group_of(key)), key))
            wanted = PageStatus.FETCHED if first == fingerprint else PageStatus.DUPLICATE
            if record.status is wanted or record.status not in (PageStatus.FETCHED, PageStatus.DUPLICATE):
                continue
            entry = db.load(fingerprint)
            if entry is not None:
                entry.record.status, entry.record.duplicate_of = wanted, None if first == fingerprint else first
                batch.put(entry)
                counts["duplicates judged again"] += 1
            if batch.size >= BATCH_WRITES:
                batch.commit()
                batch = db.batch()
    if batch.size:
        batch.commit()
