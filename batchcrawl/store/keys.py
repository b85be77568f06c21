"""Keys of a partition's LevelDB. The prefix byte comes first; numbers are big-endian, so keys sort as meant.

u  fingerprint[16]                                            URL record
r  host part[8]  255 - level[1]  next fetch[4]  URL part[8]   ready index, best first within a host
t  minute[4]  fingerprint[16]                                 timer index; the value says whether the URL is ready, too
h  host part[8]                                               host record
d  domain part[4 or 8]                                        domain record
m  name                                                       meta

Those of the indexes of content, which lie in the partition of the content, are in `seen_keys`.
"""

import struct

from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import Place

FINGERPRINT_BYTES = 16
HOST_PART_BYTES = 8
DOMAIN_PART_BYTES = 4

_READY = struct.Struct(">c8sBI8s")
_TIMER = struct.Struct(">cI16s")
READY_KEY_BYTES = _READY.size
TIMER_KEY_BYTES = _TIMER.size
RISES = b"\x01"
"""Value of the timer of a URL that is ready already, and rises then."""

IndexEntries = dict[bytes, bytes]
"""Keys of the ready and timer indexes, with their values."""


def url_key(fingerprint: bytes) -> bytes:
    """Return the key of a URL record."""
    return b"u" + fingerprint


def host_key(host_part: bytes) -> bytes:
    """Return the key of a host record."""
    return b"h" + host_part


def domain_key(domain_part: bytes) -> bytes:
    """Return the key of a domain record."""
    return b"d" + domain_part


def meta_key(name: str) -> bytes:
    """Return the key of a meta entry."""
    return b"m" + name.encode()


def ready_key(fingerprint: bytes, *, level: int, next_fetch_at: int) -> bytes:
    """Return the ready index key of a URL."""
    return _READY.pack(b"r", fingerprint[:8], 255 - level, next_fetch_at, fingerprint[8:])


def ready_level(key: bytes) -> int:
    """Return the priority level that a ready key holds."""
    return 255 - key[9]


def ready_fingerprint(key: bytes) -> bytes:
    """Return the fingerprint that a ready key holds."""
    return key[1:9] + key[14:22]


def timer_key(fingerprint: bytes, *, next_fetch_at: int) -> bytes:
    """Return the timer index key of a URL: it is due once its minute has begun."""
    return _TIMER.pack(b"t", -(-next_fetch_at // 60), fingerprint)


def timer_bound(now: float) -> bytes:
    """Return the first timer key that is not yet due at `now` (seconds since 1970)."""
    return b"t" + (int(now) // 60 + 1).to_bytes(4, "big")


def timer_fingerprint(key: bytes) -> bytes:
    """Return the fingerprint that a timer key holds."""
    return key[5:21]


def timer_instant(key: bytes) -> int:
    """Return the instant at which a timer is due, in seconds since 1970."""
    return int.from_bytes(key[1:5], "big") * 60


def index_entries(fingerprint: bytes, record: UrlRecord) -> IndexEntries:
    """Return the index entries that a record must have by its place, the ready one first."""
    place, at = record.place, min(record.next_fetch_at or 0, INSTANT_MAX)
    if place is Place.READY:
        return {ready_key(fingerprint, level=record.level, next_fetch_at=at): b""}
    if place is Place.TIMER:
        return {timer_key(fingerprint, next_fetch_at=at): b""}
    if place is Place.RISING:
        ready = ready_key(fingerprint, level=record.level, next_fetch_at=at)
        return {ready: b"", timer_key(fingerprint, next_fetch_at=at): RISES}
    return {}


def host_prefix(host_part: bytes) -> bytes:
    """Return the prefix of a host's ready keys."""
    return b"r" + host_part


def level_prefix(host_part: bytes, level: int) -> bytes:
    """Return the prefix of a host's ready keys of one level; those of lower levels come behind them."""
    return b"r" + host_part + bytes([255 - level])


def after(prefix: bytes) -> bytes:
    """Return the smallest key greater than every key that starts with `prefix`."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1])
