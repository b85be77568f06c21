"""One partition of the crawl database: URL records, their index entries and host records in one LevelDB.

A URL record, its index entries and the counts of its host change in one WriteBatch, always; `Batch` is the
only way to write. `verify` in store.check proves the indexes against the records.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import plyvel

from batchcrawl.errors import CorruptData, CrawlError, CrawlLocked
from batchcrawl.model.host import DomainRecord, HostRecord, decode_domain, decode_host, encode_domain, encode_host
from batchcrawl.model.record import RecordHead, UrlRecord, decode_head, decode_record, encode_record
from batchcrawl.model.status import PageStatus
from batchcrawl.store import keys
from batchcrawl.store.disk import disk_full
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.forward import Forward
from batchcrawl.store.reading import ADVICE
from batchcrawl.web.fingerprint import domain_part


@dataclass(frozen=True)
class Tuning:
    """What LevelDB spends memory on; the defaults are chosen by `python -m tests.bench crawldb`."""

    cache_bytes: int = 16 << 20
    """Blocks kept, uncompressed; the steps read in the order of keys, so few are needed again."""
    write_buffer_bytes: int = 16 << 20
    """Larger buffers compact less; LevelDB keeps up to two of them in memory."""
    open_files: int = 64
    """Files kept open, each mapped into memory with its index: what is read in order needs one of each level."""
    bloom_bits: int = 10
    """Bits a key of the filter that spares most reads of a key that is not there, as a new link's is not."""


Decoded = TypeVar("Decoded")


@dataclass
class Entry:
    """A URL record in hand, and what the database holds for it until the next batch."""

    fingerprint: bytes
    record: UrlRecord
    stored_status: PageStatus | None
    """None for a URL that the database does not know yet."""
    stored_index: keys.IndexEntries

    @classmethod
    def new(cls, fingerprint: bytes, record: UrlRecord) -> "Entry":
        """Return the entry of a URL that enters the database."""
        return cls(fingerprint, record, None, {})

    @property
    def host_part(self) -> bytes:
        """The first half of the fingerprint: the URL's host."""
        return self.fingerprint[: keys.HOST_PART_BYTES]


class CrawlDb:
    """One partition, open. Only one process may have it open."""

    def __init__(self, path: Path, *, create: bool = False, tuning: Tuning = Tuning()) -> None:
        """Open the LevelDB at `path`. Raises CrawlLocked, CorruptData, DiskFull or CrawlError.

        Damage in LevelDB's log is CorruptData, where by default LevelDB would pass over the batch in silence; a log
        that a crash left shorter is none, but one that a power cut left with wrong bytes at its end is.
        """
        self.path = path
        for needed in () if create else (path, path / "CURRENT"):
            if not needed.exists():
                raise CorruptData(f"{needed} is missing; {ADVICE}")
        with _translated(path):
            self._db = plyvel.DB(
                str(path),
                create_if_missing=create,
                paranoid_checks=True,
                lru_cache_size=tuning.cache_bytes,
                write_buffer_size=tuning.write_buffer_bytes,
                max_open_files=tuning.open_files,
                bloom_filter_bits=tuning.bloom_bits,
            )

    def close(self) -> None:
        """Close the database; it may be closed twice."""
        self._db.close()

    def __enter__(self) -> "CrawlDb":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def load(self, fingerprint: bytes) -> Entry | None:
        """Return the entry of a URL, or None when it is not known."""
        data = self.value(keys.url_key(fingerprint))
        return None if data is None else self.entry(fingerprint, data)

    def entry(self, fingerprint: bytes, data: bytes) -> Entry:
        """Return the entry of a URL whose record is stored as `data`."""
        record = self._decoded(keys.url_key(fingerprint), data, decode_record)
        return Entry(fingerprint, record, record.status, keys.index_entries(fingerprint, record))

    def head(self, fingerprint: bytes) -> RecordHead | None:
        """Return the fixed part of a URL record, or None when the URL is not known: much cheaper than `load`."""
        key = keys.url_key(fingerprint)
        data = self.value(key)
        return None if data is None else self._decoded(key, data, decode_head)

    def host(self, host_part: bytes) -> HostRecord | None:
        """Return a host record, or None when the host is not known."""
        key = keys.host_key(host_part)
        data = self.value(key)
        return None if data is None else self._decoded(key, data, decode_host)

    def domain(self, host_part: bytes, host: HostRecord) -> DomainRecord | None:
        """Return the record of the domain whose budget and pauses hold for a host, or None when there is none."""
        key = keys.domain_key(domain_part(host_part, budget=host.budget_domain))
        data = self.value(key)
        return None if data is None else self._decoded(key, data, decode_domain)

    def meta(self, name: str) -> bytes | None:
        """Return a meta entry, or None."""
        return self.value(keys.meta_key(name))

    def value(self, key: bytes) -> bytes | None:
        """Return the value of a key as stored, or None."""
        try:
            value: bytes | None = self._db.get(key, verify_checksums=True)
        except plyvel.Error as error:
            raise _translation(self.path, error) from error
        return value

    def records(self, prefix: bytes = b"", *, start: bytes = b"") -> Iterator[tuple[bytes, UrlRecord]]:
        """Yield every URL, or those with a prefix from the bytes `start` behind it on, in the order of fingerprints."""
        for key, value in self.entries(b"u" + prefix, start=start):
            yield key[1:], self._decoded(key, value, decode_record)

    def hosts(self, domain_part: bytes = b"") -> Iterator[tuple[bytes, HostRecord]]:
        """Yield every host, or those of a registered domain, in the order of host parts."""
        for key, value in self.entries(b"h" + domain_part):
            yield key[1:], self._decoded(key, value, decode_host)

    def domains(self) -> Iterator[tuple[bytes, DomainRecord]]:
        """Yield every domain in the order of domain parts."""
        for key, value in self.entries(b"d"):
            yield key[1:], self._decoded(key, value, decode_domain)

    def entries(self, prefix: bytes, *, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Yield every key that starts with `prefix` and its value as stored, in order; from `prefix` + `start` on."""
        where = {"start": prefix + start, "stop": keys.after(prefix)} if start else {"prefix": prefix}
        with _translated(self.path):
            yield from self._db.iterator(**where, verify_checksums=True)

    def keys(self, prefix: bytes) -> Iterator[bytes]:
        """Yield every key that starts with `prefix`, in order."""
        with _translated(self.path):
            yield from self._db.iterator(prefix=prefix, include_value=False)

    def due_timers(self, now: float) -> Iterator[bytes]:
        """Yield the fingerprints whose timers are due at `now` (seconds since 1970), the oldest first."""
        with _translated(self.path):
            for key in self._db.iterator(start=b"t", stop=keys.timer_bound(now), include_value=False):
                yield keys.timer_fingerprint(key)

    def ready_hosts(self) -> Iterator[bytes]:
        """Yield the host parts that have ready URLs: one seek a host, whatever the number of its URLs."""
        with _translated(self.path), self._db.raw_iterator() as cursor:
            cursor.seek(b"r")
            while cursor.valid() and cursor.key().startswith(b"r"):
                prefix = cursor.key()[: 1 + keys.HOST_PART_BYTES]
                yield prefix[1:]
                cursor.seek(keys.after(prefix))

    def ready(self, host_part: bytes, *, level_max: int = 255) -> Iterator[bytes]:
        """Yield a host's ready keys of levels up to `level_max`, best first."""
        prefix, start = keys.host_prefix(host_part), keys.level_prefix(host_part, level_max)
        with _translated(self.path):
            yield from self._db.iterator(start=start, stop=keys.after(prefix), include_value=False)

    def waiting(self) -> Iterator[bytes]:
        """Yield the timer keys of the URLs that are not ready, the earliest first."""
        return (key for key, value in self.entries(b"t") if value != keys.RISES)

    @contextmanager
    def forward(self, prefix: bytes) -> Iterator[Forward]:
        """Yield what finds keys with a prefix that are asked for in ascending order."""
        with _translated(self.path), self._db.iterator(prefix=prefix, include_value=False) as iterator:
            yield Forward(iterator)

    def batch(self) -> "Batch":
        """Return an empty batch."""
        return Batch(self)

    def write(self, batch: "plyvel.WriteBatch") -> None:
        """Write a LevelDB batch through to the disk."""
        failpoint("crawldb.commit")
        with _translated(self.path):
            batch.write()
        failpoint("crawldb.committed")

    def compact(self) -> None:
        """Give back the room of what was replaced or removed; takes as long as to write all anew."""
        with _translated(self.path):
            self._db.compact_range()

    def raw_batch(self) -> "plyvel.WriteBatch":
        """Return a LevelDB batch that is synced when written."""
        return self._db.write_batch(sync=True)

    def _decoded(self, key: bytes, data: bytes, decode: Callable[[bytes], Decoded]) -> Decoded:
        try:
            return decode(data)
        except (CorruptData, msgspec.MsgspecError) as error:
            raise CorruptData(f"{self.path}: key {key[:1].decode()} {key[1:].hex()}: {error}; {ADVICE}") from error


class Batch:
    """Changes that reach the disk together or not at all. Not usable after commit."""

    def __init__(self, db: CrawlDb) -> None:
        self._db = db
        self._writes = db.raw_batch()
        self._hosts: dict[bytes, HostRecord] = {}
        self._domains: dict[bytes, DomainRecord] = {}
        self.size = 0
        """URL records put or removed so far."""

    def host(self, host_part: bytes) -> HostRecord | None:
        """Return a host record for changing; it is written with the batch. None when it is not known."""
        record = self._hosts.get(host_part)
        if record is None:
            record = self._db.host(host_part)
            if record is not None:
                self._hosts[host_part] = record
        return record

    def enter_host(self, host_part: bytes, new: HostRecord) -> HostRecord:
        """Return a host record for changing; a host that is not known enters with the record `new`."""
        return self.host(host_part) or self._hosts.setdefault(host_part, new)

    def domain(self, host_part: bytes, host: HostRecord) -> DomainRecord:
        """Return the record of a host's domain for changing; it is written with the batch.

        One of a registered domain that is not there, as in crawls from before there were any, is made from the records
        of its hosts.
        """
        part = domain_part(host_part, budget=host.budget_domain)
        record = self._domains.get(part)
        if record is None:
            record = self._domains[part] = self._db.domain(host_part, host) or self._new_domain(part, host)
        return record

    def enter_domain(self, part: bytes, new: DomainRecord) -> None:
        """Let a domain enter under its key, with the record `new`."""
        self._domains[part] = new

    def put(self, entry: Entry) -> None:
        """Store a URL record with its index entries, and move the counts of its host and domain.

        The host must be known to the database or the batch. The entry may be put again.
        """
        record = entry.record
        index = keys.index_entries(entry.fingerprint, record)
        if entry.stored_index != index:
            for key in entry.stored_index.keys() - index.keys():
                self._writes.delete(key)
            for key, value in index.items():
                if entry.stored_index.get(key) != value:
                    self._writes.put(key, value)
        self._writes.put(keys.url_key(entry.fingerprint), encode_record(record))
        if entry.stored_status is not record.status:
            self._move_count(entry, record.status)
        entry.stored_index, entry.stored_status = index, record.status
        self.size += 1

    def remove(self, entry: Entry) -> None:
        """Take a stored URL out with its index entries, and move the counts of its host and domain.

        Its keys in the indexes of content lie elsewhere; they are for the caller to drop.
        """
        host, status = self.host(entry.host_part), entry.stored_status
        if host is None or status is None:
            raise CorruptData(f"{self._db.path}: no host record for {entry.record.url}; {ADVICE}")
        for key in entry.stored_index:
            self._writes.delete(key)
        self._writes.delete(keys.url_key(entry.fingerprint))
        self.domain(entry.host_part, host).urls -= 1
        host.count(status, -1)
        entry.stored_index, entry.stored_status = {}, None
        self.size += 1

    def put_seen(self, key: bytes) -> None:
        """Store a key of the indexes of content."""
        self._writes.put(key, b"")

    def drop_seen(self, key: bytes) -> None:
        """Remove a key of the indexes of content; one that is not there is no error."""
        self._writes.delete(key)

    def set_meta(self, name: str, value: bytes) -> None:
        """Store a meta entry."""
        self._writes.put(keys.meta_key(name), value)

    def commit(self) -> None:
        """Write everything at once, synced."""
        for host_part, record in self._hosts.items():
            self._writes.put(keys.host_key(host_part), encode_host(record))
        for part, domain in self._domains.items():
            self._writes.put(keys.domain_key(part), encode_domain(domain))
        self._db.write(self._writes)

    def _new_domain(self, part: bytes, host: HostRecord) -> DomainRecord:
        if host.budget_domain is not None:
            return DomainRecord(domain=host.budget_domain)
        known = sum(sum(other.urls.values()) for _, other in self._db.hosts(part) if other.budget_domain is None)
        return DomainRecord(domain=host.domain, urls=known)

    def _move_count(self, entry: Entry, status: PageStatus) -> None:
        host = self.host(entry.host_part)
        if host is None:
            raise CorruptData(f"{self._db.path}: no host record for {entry.record.url}; {ADVICE}")
        if entry.stored_status is None:
            self.domain(entry.host_part, host).urls += 1
        else:
            host.count(entry.stored_status, -1)
        host.count(status, +1)


def mend(path: Path) -> None:
    """Let LevelDB rebuild its files from what it can read of them; call it in a process that it may abort.

    Damaged blocks and log records are left out. Raises CrawlError.
    """
    with _translated(path):
        plyvel.repair_db(str(path), bloom_filter_bits=Tuning().bloom_bits)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except plyvel.Error as error:
        raise _translation(path, error) from error


def _translation(path: Path, error: plyvel.Error) -> CrawlError:
    """Return our error for one of LevelDB's, which tells of its kind by how its text begins or ends."""
    text = error.args[0].decode(errors="replace") if error.args else ""
    if isinstance(error, plyvel.CorruptionError) or text.startswith("Corruption"):
        return CorruptData(f"{path}: LevelDB finds damage: {text}; {ADVICE}")
    if text.endswith((os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))):
        return disk_full(path)
    if text.startswith("IO error: lock "):
        return CrawlLocked(f"{path}: another process has the crawldb open")
    return CrawlError(f"{path}: {text}")
