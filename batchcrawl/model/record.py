"""The URL record: a fixed binary head that can be read alone, then a MessagePack tail.

docs/FORMAT.md gives the byte layout with a worked example. Instants are whole seconds since 1970 UTC;
zero on disk stands for an absent instant.
"""

import math
import struct
from typing import Any

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.status import PageStatus, Place

RECORD_VERSION = 1

_HEAD = struct.Struct("<BBBBHBBBBHHHIIIIIIff")
HEAD_BYTES = _HEAD.size
_LARGEST = (*[0xFF] * 4, 0xFFFF, *[0xFF] * 4, *[0xFFFF] * 3, *[0xFFFF_FFFF] * 6, math.inf, math.inf)
"""What each field of the head can hold."""
INSTANT_MAX = 0xFFFF_FFFF
"""The last instant that a record and its index entry can hold, in 2106; a later one is stored as this."""
_FLAG_SEED = 1
_FLAG_COSTLY = 2
_FLAG_SITEMAP = 4
_FLAG_FEED = 8
_FLAG_WAS_PAGE = 16
_FLAG_WAS_COPY = 32


class UrlRecord(msgspec.Struct):
    """Everything that the crawldb knows of one URL. The key (fingerprint) is not part of it."""

    url: str
    """The canonical URL."""
    # head: fixed width
    status: PageStatus = PageStatus.UNFETCHED
    place: Place = Place.NONE
    level: int = 0
    """Priority level, 0 to 255; a higher level is taken first."""
    depth: int = 0
    """Links from the nearest seed."""
    retries: int = 0
    """Failures since the last conclusive answer."""
    outcome: FetchOutcome | None = None
    """How the last fetch ended."""
    seed: bool = False
    hops: int = 0
    """Links since the crawl's own hosts were left, at least; 0 on one of them."""
    costly: bool = False
    """Looks like a part of the web that goes on without end: taken last, and only so much of it."""
    kind: UrlKind = UrlKind.PAGE
    """What stands there: as found, or before that as said."""
    http_status: int | None = None
    fetches: int = 0
    """Conclusive answers so far."""
    changes: int = 0
    """How many of them differed from the one before."""
    first_seen_at: int = 0
    last_fetch_at: int | None = None
    """When the last conclusive answer came; a failure is no observation and leaves it."""
    last_change_at: int | None = None
    next_fetch_at: int | None = None
    """When the URL becomes or became ready."""
    interval_s: int | None = None
    """Fetch interval last set by the schedule."""
    lease: int | None = None
    """The segment that holds the URL, as the instant of its id."""
    rate_a: float = 0.0
    """Shape of the belief about the change rate (policy.schedule); 0 before the first fetch."""
    rate_b: float = 0.0
    """Rate parameter of that belief, in days."""
    # tail: MessagePack array of the URL and these, in this order
    fetch_url: str | None = None
    """The URL as linked, where it differs from the canonical one: what is asked for."""
    score: float | None = None
    """The seed's own score."""
    seed_interval_s: int | None = None
    """Fetch interval that the seed line asks for."""
    source: bytes | None = None
    """Fingerprint of the page that first linked here; None for a seed."""
    etag: str | None = None
    last_modified: str | None = None
    signature: bytes | None = None
    """Exact signature of the page's text, 16 bytes."""
    simhash: bytes | None = None
    """Near-duplicate signature, 8 bytes."""
    digest: str | None = None
    """Payload digest of the stored body, `sha1:` and base32."""
    content_type: str | None = None
    redirect: str | None = None
    """The target of the redirect, canonical."""
    segment: str | None = None
    """Id of the segment that stores the latest body."""
    duplicate_of: bytes | None = None
    """Fingerprint of the page with the same content."""
    metadata: dict[str, str] | None = None
    """Other key=value pairs of the seed line."""
    body_at: float | None = None
    """Start of the exchange that stores the body; None unless the copy is a whole one that came with status 200."""
    content_encoding: str | None = None
    """The body's Content-Encoding as sent."""
    not_modified: int = 0
    """Answers "not modified" in a row since the body last came."""
    lastmod_at: int | None = None
    """Its last change, as sitemaps and feeds tell it: the latest instant told."""
    signals: int = 0
    """How often they have told a later one since the last conclusive answer."""
    sites: list[str] | None = None
    """Of a sitemap: registered domains beside its own that it may speak for; `*` is any."""
    content_at: int | None = None
    """Since when the page has had its text, as far as was seen: the visit that first brought the signature."""
    near_to: bytes | None = None
    """Fingerprint of the first page before it whose text is near to its own, when this was last settled."""
    inlinks: int = 0
    """Sketch of the registered domains beside its own that link here (policy.linking)."""
    # head again: flags
    was_page: bool = False
    """At some time it was `fetched`, as a page."""
    was_copy: bool = False
    """At some time it was a `duplicate`."""


class RecordHead(msgspec.Struct):
    """The part of a record that scans read without decoding the rest."""

    status: PageStatus
    place: Place
    level: int
    depth: int
    retries: int
    outcome: FetchOutcome | None
    last_fetch_at: int | None
    next_fetch_at: int | None
    lease: int | None
    costly: bool


class _Tail(msgspec.Struct, array_like=True):
    url: str
    fetch_url: str | None = None
    score: float | None = None
    seed_interval_s: int | None = None
    source: bytes | None = None
    etag: str | None = None
    last_modified: str | None = None
    signature: bytes | None = None
    simhash: bytes | None = None
    digest: str | None = None
    content_type: str | None = None
    redirect: str | None = None
    segment: str | None = None
    duplicate_of: bytes | None = None
    metadata: dict[str, str] | None = None
    body_at: float | None = None
    content_encoding: str | None = None
    not_modified: int | None = None
    lastmod_at: int | None = None
    signals: int | None = None
    sites: list[str] | None = None
    content_at: int | None = None
    near_to: bytes | None = None
    inlinks: int | None = None


_ARRAY_16 = 0xDC
_encode_tail = _encode_text = msgspec.msgpack.Encoder().encode
_decode_tail = msgspec.msgpack.Decoder(_Tail).decode


def encode_record(record: UrlRecord) -> bytes:
    """Return the bytes of a record as the crawldb stores them; too large a counter or instant becomes the largest."""
    r = record
    fields = (
        RECORD_VERSION, r.status, r.place, r.level, r.depth, r.retries, 0 if r.outcome is None else r.outcome.number,
        _FLAG_SEED * r.seed | _FLAG_COSTLY * r.costly | _FLAGS[r.kind]
        | _FLAG_WAS_PAGE * r.was_page | _FLAG_WAS_COPY * r.was_copy, r.hops,
        r.http_status or 0, r.fetches, r.changes, r.first_seen_at, r.last_fetch_at or 0, r.last_change_at or 0,
        r.next_fetch_at or 0, r.interval_s or 0, r.lease or 0, r.rate_a, r.rate_b,
    )  # fmt: skip
    try:
        head = _HEAD.pack(*fields)
    except struct.error:  # a counter or instant is too large
        head = _HEAD.pack(*map(min, fields, _LARGEST))
    tail = _Tail(
        r.url, r.fetch_url, r.score, r.seed_interval_s, r.source, r.etag, r.last_modified, r.signature, r.simhash,
        r.digest, r.content_type, r.redirect, r.segment, r.duplicate_of, r.metadata, r.body_at, r.content_encoding,
        r.not_modified or None, r.lastmod_at, r.signals or None, r.sites, r.content_at, r.near_to, r.inlinks or None,
    )  # fmt: skip
    return head + _encode_tail(tail)


def decode_record(data: bytes) -> UrlRecord:
    """Return the record of its stored bytes. Raises CorruptData when they are not a record."""
    head = _unpack(data)
    try:
        tail = _decode_tail(memoryview(data)[HEAD_BYTES:])
    except msgspec.MsgspecError as error:
        raise CorruptData(f"URL record of {len(data)} bytes is damaged: {error}") from error
    return UrlRecord(
        tail.url, _STATUS[head[1]], _PLACE[head[2]], head[3], head[4], head[5], _OUTCOME[head[6]],
        bool(head[7] & _FLAG_SEED), head[8], bool(head[7] & _FLAG_COSTLY), _KIND[head[7] & _FLAGS_OF_KIND],
        head[9] or None, head[10], head[11], head[12], head[13] or None, head[14] or None, head[15] or None,
        head[16] or None, head[17] or None, head[18], head[19],
        tail.fetch_url, tail.score, tail.seed_interval_s, tail.source, tail.etag, tail.last_modified, tail.signature,
        tail.simhash, tail.digest, tail.content_type, tail.redirect, tail.segment, tail.duplicate_of, tail.metadata,
        tail.body_at, tail.content_encoding, tail.not_modified or 0, tail.lastmod_at, tail.signals or 0, tail.sites,
        tail.content_at, tail.near_to, tail.inlinks or 0,
        bool(head[7] & _FLAG_WAS_PAGE), bool(head[7] & _FLAG_WAS_COPY),
    )  # fmt: skip


def decode_head(data: bytes) -> RecordHead:
    """Return the fixed part of a stored record. Raises CorruptData when it is none."""
    head = _unpack(data)
    return RecordHead(
        status=_STATUS[head[1]], place=_PLACE[head[2]], level=head[3], depth=head[4], retries=head[5],
        outcome=_OUTCOME[head[6]], last_fetch_at=head[13] or None, next_fetch_at=head[15] or None,
        lease=head[17] or None, costly=bool(head[7] & _FLAG_COSTLY),
    )  # fmt: skip


def is_known_as(data: bytes, url: str, *, depth: int, hops: int) -> bool:
    """Tell from stored bytes whether they are the record of a URL that is at most so far from a seed.

    False where that takes a look at the whole record, too. This is what most links come to, so nothing is decoded.
    """
    if len(data) <= HEAD_BYTES or data[0] != RECORD_VERSION or not url.isascii():
        return False
    if int.from_bytes(data[4:6], "little") > depth or data[9] > hops:
        return False
    array = 3 if data[HEAD_BYTES] == _ARRAY_16 else 1
    return data.startswith(_encode_text(url), HEAD_BYTES + array)


def _unpack(data: bytes) -> tuple[Any, ...]:
    """Return the fields of the head, of a known version and with known numbers in it."""
    if data and data[0] != RECORD_VERSION:
        raise CorruptData(f"URL record has version {data[0]}; this program reads version {RECORD_VERSION}")
    try:
        head = _HEAD.unpack_from(data)
    except struct.error as error:
        raise CorruptData(f"URL record of {len(data)} bytes is damaged: {error}") from error
    if head[1] not in _STATUS or head[2] not in _PLACE or head[6] not in _OUTCOME:
        raise CorruptData(
            f"URL record has status {head[1]}, place {head[2]}, outcome {head[6]}; one of them is unknown"
        )
    return head


_STATUS = {int(status): status for status in PageStatus}
_PLACE = {int(place): place for place in Place}
_FLAGS = {UrlKind.PAGE: 0, UrlKind.SITEMAP: _FLAG_SITEMAP, UrlKind.FEED: _FLAG_FEED}
_FLAGS_OF_KIND = _FLAG_SITEMAP | _FLAG_FEED
_KIND = {flags: kind for kind, flags in _FLAGS.items()} | {_FLAGS_OF_KIND: UrlKind.PAGE}
_OUTCOME: dict[int, FetchOutcome | None] = {0: None, **{outcome.number: outcome for outcome in FetchOutcome}}
