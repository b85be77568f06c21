"""The digest of payload bytes, as the fetch log, the crawldb and WARC records have it."""

import base64
import hashlib


def digest(data: bytes) -> str:
    """Return `sha1:` and base32, the form of a digest that all readers of WARC files check."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
