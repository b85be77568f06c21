"""Keys by which pages with the same content find one another, whatever partitions they are in.

s  signature[16]            content_at[4]  bytes of the URL[2]  fingerprint[16]    a page with that text
v  SimHash[8]               content_at[4]  bytes of the URL[2]  fingerprint[16]    a page with a text like that
w  its halves exchanged[8]  content_at[4]  bytes of the URL[2]  fingerprint[16]    the same page

The last three are a page's **order**: the first page of a text is the one that has had it for the longest time, then
the one with the shorter URL. A page's keys follow from its record alone, as its index entries do; but they lie in the
partition that the content belongs to, so that all pages with one content meet there.
"""

import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.store.keys import FINGERPRINT_BYTES
from batchcrawl.web.fingerprint import partition_of

TEXT_KIND = b"s"
NEAR_KINDS = (b"v", b"w")
KINDS = (TEXT_KIND, *NEAR_KINDS)
HALF_BITS = 32
ORDER_BYTES = 22
_ORDER = struct.Struct(">IH16s")
_URL_BYTES_MAX = 0xFFFF


def contents_of(fingerprint: bytes, record: UrlRecord) -> set[bytes]:
    """Return what a page has in the indexes of content, as `keys_of` takes it: nothing of a sitemap or feed."""
    if record.signature is None or record.kind is not UrlKind.PAGE:
        return set()
    at = min(record.content_at or 0, INSTANT_MAX)
    order = _ORDER.pack(at, min(len(record.url), _URL_BYTES_MAX), fingerprint)
    text = TEXT_KIND + record.signature + order
    return {text} if record.simhash is None else {text, NEAR_KINDS[0] + record.simhash + order}


def keys_of(content: bytes) -> list[bytes]:
    """Return the keys of one content of a page: that of its text, or the two of its SimHash, by each half."""
    if is_text(content):
        return [content]
    return [content, NEAR_KINDS[1] + content[5:9] + content[1:5] + content[9:]]


def seen_keys(fingerprint: bytes, record: UrlRecord) -> set[bytes]:
    """Return all keys of a page; their values are empty."""
    return {key for content in contents_of(fingerprint, record) for key in keys_of(content)}


def is_text(key: bytes) -> bool:
    """Tell whether a key is that of a text, not of a SimHash."""
    return key.startswith(TEXT_KIND)


def group_of(key: bytes) -> bytes:
    """Return the start that a key shares with those of the other pages with its text, or with its very SimHash."""
    return key[:-ORDER_BYTES]


def half_of(key: bytes) -> int:
    """Return the half of a SimHash that a key of one begins with."""
    return int.from_bytes(key[1:5], "big")


def rest_of(key: bytes) -> int:
    """Return the other half."""
    return int.from_bytes(key[5:9], "big")


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
    """Return the partitions that are to know of a content: of a SimHash all, as near ones lie in most of them."""
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

    @property
    def halves(self) -> range:
        """Halves of SimHashes by which keys lie in it."""
        bounds = (-(-(p << HALF_BITS) // self.partitions) for p in (self.partition, self.partition + 1))
        return range(*bounds)
