"""Keys by which pages with the same content find one another, whatever partitions they are in.

s  signature[16]  content_at[4]  bytes of the URL[2]  fingerprint[16]     a page with that text, in their order

The first key of a signature is that of the first page: the one that has had the text for the longest time, then the one
with the shorter URL. A page's keys follow from its record alone, as its index entries do; but they lie in the partition
that the content belongs to, so that all pages with one content meet there.
"""

import struct

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.store.keys import FINGERPRINT_BYTES
from batchcrawl.web.fingerprint import partition_of

KINDS = (b"s",)
_ORDER = struct.Struct(">IH16s")
_URL_BYTES_MAX = 0xFFFF


def seen_entries(fingerprint: bytes, record: UrlRecord) -> dict[bytes, bytes]:
    """Return the keys of a page in the indexes of content, with their values: none of a sitemap or feed."""
    if record.signature is None or record.kind is not UrlKind.PAGE:
        return {}
    return {signature_key(record.signature) + _order(fingerprint, record): b""}


def signature_key(signature: bytes) -> bytes:
    """Return the start of the keys of the pages with a text."""
    return b"s" + signature


def group_of(key: bytes) -> bytes:
    """Return the start that a key shares with those of the other pages with its content."""
    return key[: -_ORDER.size]


def page_of(key: bytes) -> bytes:
    """Return the fingerprint of the page that a key belongs to."""
    return key[-FINGERPRINT_BYTES:]


def owner_of(key: bytes, partitions: int) -> int:
    """Return the partition that a key lies in."""
    return partition_of(key[1:], partitions)


def _order(fingerprint: bytes, record: UrlRecord) -> bytes:
    at = min(record.content_at or 0, INSTANT_MAX)
    return _ORDER.pack(at, min(len(record.url), _URL_BYTES_MAX), fingerprint)
