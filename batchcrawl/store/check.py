"""Proves what a partition derives from its URL records: index entries, counts of hosts and domains."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.model.host import decode_domain, decode_host
from batchcrawl.model.record import UrlRecord, decode_head, decode_record
from batchcrawl.model.status import Place
from batchcrawl.store import keys
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.web.fingerprint import domain_part


@dataclass(frozen=True)
class Fault:
    """Something in a partition that does not agree with the rest."""

    key: bytes
    """The LevelDB key that is wrong or missing."""
    what: str


def verify(db: CrawlDb) -> Iterator[Fault]:
    """Yield every fault of a partition, in bounded memory.

    Costs two passes over the URL records and one over their keys, one over everything else, and one or two look-ups
    a key. Damage that LevelDB itself finds raises CorruptData, since behind it nothing can be read.
    """
    yield from _check_records(db)
    yield from _check_hosts(db)
    yield from _check_domains(db)
    yield from _check_index(db, b"r", keys.READY_KEY_BYTES, keys.ready_fingerprint)
    yield from _check_index(db, b"t", keys.TIMER_KEY_BYTES, keys.timer_fingerprint)


def _check_records(db: CrawlDb) -> Iterator[Fault]:
    for key, value in db.entries(b"u"):
        fingerprint = key[1:]
        if len(fingerprint) != keys.FINGERPRINT_BYTES:
            yield Fault(key, f"the key of a URL record has {len(key)} bytes")
            continue
        try:
            record = decode_record(value)
        except CorruptData as error:
            yield Fault(key, str(error))
            continue
        yield from _check_record(db, fingerprint, record)


def _check_record(db: CrawlDb, fingerprint: bytes, record: UrlRecord) -> Iterator[Fault]:
    for key, value in keys.index_entries(fingerprint, record).items():
        stored = db.value(key)
        if stored is None:
            yield Fault(key, f"the index entry of {record.url} is missing")
        elif stored != value:
            yield Fault(key, f"the index entry of {record.url} holds {stored.hex() or 'nothing'}")
    if (record.place is Place.LEASED) != (record.lease is not None):
        yield Fault(
            keys.url_key(fingerprint), f"{record.url} has the place {record.place.name} and lease {record.lease}"
        )


@dataclass
class Counted:
    """What the URL records of a host say together."""

    urls: Counter[int] = field(default_factory=Counter)
    costly: int = 0


def _check_hosts(db: CrawlDb) -> Iterator[Fault]:
    both = heapq.merge(recount_hosts(db), stored_hosts(db), key=itemgetter(0))
    for host_part, group in groupby(both, key=itemgetter(0)):
        counted = Counted()
        stored: bytes | None = None
        for _, found in group:
            if isinstance(found, Counted):
                counted = found
            else:
                stored = found
        yield from _check_host(keys.host_key(host_part), counted, stored)


def recount_hosts(db: CrawlDb) -> Iterator[tuple[bytes, Counted | bytes]]:
    """Yield each host part that has URL records, with what these say together."""
    for host_part, group in groupby(db.entries(b"u"), key=lambda entry: entry[0][1 : 1 + keys.HOST_PART_BYTES]):
        counted = Counted()
        for _, value in group:
            try:
                head = decode_head(value)
                counted.urls[int(head.status)] += 1
                counted.costly += head.costly
            except CorruptData:
                continue  # told of with the records
        yield host_part, counted


def stored_hosts(db: CrawlDb) -> Iterator[tuple[bytes, Counted | bytes]]:
    """Yield each host part that has a host record, with that as it is stored."""
    for key, value in db.entries(b"h"):
        yield key[1:], value


def _check_host(key: bytes, counted: Counted, stored: bytes | None) -> Iterator[Fault]:
    if stored is None:
        yield Fault(key, f"the host record of {counted.urls.total()} URLs is missing")
        return
    try:
        host = decode_host(stored)
    except msgspec.MsgspecError as error:
        yield Fault(key, f"the host record is damaged: {error}")
        return
    if host.urls != counted.urls:
        yield Fault(key, f"{host.host} counts {_told(host.urls)}, but has {_told(counted.urls)}")
    if sum(host.costly.values()) != counted.costly:
        yield Fault(key, f"{host.host} counts {sum(host.costly.values())} costly URLs, but has {counted.costly}")


def _check_domains(db: CrawlDb) -> Iterator[Fault]:
    def registered(entry: tuple[bytes, bytes]) -> bytes:
        return entry[0][1 : 1 + keys.DOMAIN_PART_BYTES]

    for part, group in groupby(db.entries(b"d"), key=registered):
        counted = count_by_domain(db, part)
        for key, stored in group:
            try:
                domain = decode_domain(stored)
            except msgspec.MsgspecError as error:
                yield Fault(key, f"the domain record is damaged: {error}")
                continue
            if domain.urls != counted[key[1:]]:
                yield Fault(key, f"{domain.domain} counts {domain.urls} URLs, but has {counted[key[1:]]}")


def count_by_domain(db: CrawlDb, part: bytes) -> Counter[bytes]:
    """Count the URLs of a registered domain by the domain parts of their hosts."""
    counted = Counter({part: sum(1 for _ in db.keys(b"u" + part))})
    for key, stored in db.entries(b"h" + part):
        try:
            host = decode_host(stored)
        except msgspec.MsgspecError:
            continue  # told of with the hosts
        within = domain_part(key[1:], budget=host.budget_domain)
        if within != part:
            counted[within] += sum(host.urls.values())
            counted[part] -= sum(host.urls.values())
    return counted


def _told(urls: dict[int, int]) -> str:
    return ", ".join(f"{count} of status {status}" for status, count in sorted(urls.items())) or "no URLs"


def _check_index(
    db: CrawlDb, prefix: bytes, key_bytes: int, fingerprint_of: Callable[[bytes], bytes]
) -> Iterator[Fault]:
    for key in db.keys(prefix):
        if len(key) != key_bytes:
            yield Fault(key, f"an index key has {len(key)} bytes instead of {key_bytes}")
            continue
        fingerprint = fingerprint_of(key)
        record = _record(db, fingerprint)
        if record is None or key not in keys.index_entries(fingerprint, record):
            yield Fault(key, f"an index entry that no record asks for ({record.url if record else fingerprint.hex()})")


def _record(db: CrawlDb, fingerprint: bytes) -> UrlRecord | None:
    value = db.value(keys.url_key(fingerprint))
    try:
        return None if value is None else decode_record(value)
    except CorruptData:
        return None  # told of with the records
