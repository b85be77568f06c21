"""Keys by which pages with the same content find one another, whatever partitions they are in.

s  signature[16]              content_at[4]  bytes of the URL[2]  fingerprint[16]     a page with that text
v  band[4] table[1] simhash[8] content_at[4]  bytes of the URL[2]  fingerprint[16]    a page with a text like that

The last three are a page's **order**: the first page of a text is the one that has had it for the longest time, then
the one with the shorter URL. A page's keys follow from its record alone, as its index entries do; but they lie in the
partition that the content belongs to, so that all pages with one content meet there.

Two SimHashes that differ in at most NEAR_BITS bits agree in two of five blocks at least, since the bits lie in three of
them at most; so each page stands in a table for each pair of blocks, under what it has in them, its band (G. S. Manku,
A. Jain, A. Das Sarma, Detecting near-duplicates for web crawling, 2007).
"""

import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.store.keys import FINGERPRINT_BYTES
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.signature import SIMHASH_BYTES

KINDS = (b"s", b"v")
ORDER_BYTES = 22
_ORDER = struct.Struct(">IH16s")
_BAND = struct.Struct(">cIB")
_URL_BYTES_MAX = 0xFFFF
_BLOCKS = ((51, 0x1FFF), (38, 0x1FFF), (25, 0x1FFF), (12, 0x1FFF), (0, 0xFFF))
"""Of each block of a SimHash the lowest bit and the mask: four of 13 bits and one of 12."""


def contents_of(fingerprint: bytes, record: UrlRecord) -> set[bytes]:
    """Return what a page has in the indexes of content, as `keys_of` takes it: nothing of a sitemap or feed."""
    if record.signature is None or record.kind is not UrlKind.PAGE:
        return set()
    at = min(record.content_at or 0, INSTANT_MAX)
    order = _ORDER.pack(at, min(len(record.url), _URL_BYTES_MAX), fingerprint)
    text = b"s" + record.signature + order
    return {text} if record.simhash is None else {text, b"v" + record.simhash + order}


def keys_of(content: bytes) -> list[bytes]:
    """Return the keys of one content of a page: that of its text, or those of its SimHash."""
    if is_text(content):
        return [content]
    return [_BAND.pack(b"v", band, table) + content[1:] for table, band in enumerate(_bands(content))]


def seen_keys(fingerprint: bytes, record: UrlRecord) -> set[bytes]:
    """Return all keys of a page; their values are empty."""
    return {key for content in contents_of(fingerprint, record) for key in keys_of(content)}


def is_text(key: bytes) -> bool:
    """Tell whether a key is that of a text, not of a SimHash."""
    return key.startswith(b"s")


def group_of(key: bytes) -> bytes:
    """Return the start that a key shares with those of the other pages with its text, or in its band."""
    return key[:-ORDER_BYTES] if is_text(key) else key[: _BAND.size]


def run_of(key: bytes) -> bytes:
    """Return the start that a key shares with those of the pages with its text, or with its very SimHash and band."""
    return key[:-ORDER_BYTES]


def simhash_of(key: bytes) -> int:
    """Return the SimHash in a key of one."""
    return int.from_bytes(key[_BAND.size : _BAND.size + SIMHASH_BYTES], "big")


def order_of(key: bytes) -> bytes:
    """Return the order of the page that a key belongs to."""
    return key[-ORDER_BYTES:]


def page_of(key: bytes) -> bytes:
    """Return the fingerprint of the page that a key or an order belongs to."""
    return key[-FINGERPRINT_BYTES:]


def owner_of(key: bytes, partitions: int) -> int:
    """Return the partition that a key lies in."""
    return partition_of(key[1:], partitions)


def owners_of(content: bytes, partitions: int) -> Collection[int]:
    """Return the partitions that are to know of a content: of a SimHash all, since most hold one of its bands."""
    return (owner_of(content, partitions),) if is_text(content) else range(partitions)


@dataclass(frozen=True)
class Share:
    """The keys that lie in one partition."""

    partition: int
    partitions: int

    def keys(self, contents: Iterable[str]) -> list[bytes]:
        """Return those of contents in hex."""
        keys = [key for content in contents for key in keys_of(bytes.fromhex(content))]
        return [key for key in keys if owner_of(key, self.partitions) == self.partition]


def _bands(content: bytes) -> list[int]:
    """Return what a SimHash has in each pair of blocks, as the highest bits of a number of 32."""
    simhash = int.from_bytes(content[1 : 1 + SIMHASH_BYTES], "big")
    a, b, c, d, e = ((simhash >> low) & mask for low, mask in _BLOCKS)
    return [
        a << 19 | b << 6, a << 19 | c << 6, a << 19 | d << 6, a << 19 | e << 7,
        b << 19 | c << 6, b << 19 | d << 6, b << 19 | e << 7,
        c << 19 | d << 6, c << 19 | e << 7,
        d << 19 | e << 7,
    ]  # fmt: skip
