"""Fingerprints: the 16-byte keys of URLs, built so that the URLs of a host and of a domain are neighbours.

    bytes 0-3    BLAKE2b with a digest of 4 bytes (RFC 7693) of the registered domain
    bytes 4-7    the same of the host key
    bytes 8-15   BLAKE2b with a digest of 8 bytes of the canonical URL

Strings are hashed as UTF-8. A partition is a range of the first four bytes.
"""

from hashlib import blake2b

from batchcrawl.web.domains import Domains
from batchcrawl.web.urls import host_key, host_name

FINGERPRINT_BYTES = 16
HOST_PART_BYTES = 8
_CACHED_HOSTS_MAX = 100_000


def fingerprint(*, domain: str, host: str, url: str) -> bytes:
    """Return the 16-byte fingerprint of a canonical URL under its registered domain and host key."""
    return host_part(domain=domain, host=host) + _hash(url, 8)


def host_part(*, domain: str, host: str) -> bytes:
    """Return the first 8 bytes that all fingerprints of a host key share."""
    return _hash(domain, 4) + _hash(host, 4)


def domain_part(host_part: bytes, *, budget: str | None) -> bytes:
    """Return what names a host's domain in the crawldb: 4 bytes of the registered one, and 4 more of one within it.

    `budget` is the domain that the private section of the public suffix list makes, None where it makes none.
    """
    return host_part[:4] + (b"" if budget is None else _hash(budget, 4))


def partition_of(fp: bytes, partitions: int) -> int:
    """Return which of `partitions` equal ranges of the first four bytes holds a fingerprint, from 0."""
    return int.from_bytes(fp[:4], "big") * partitions >> 32


class Fingerprinter:
    """Fingerprints URLs, remembering the part of hosts seen before."""

    def __init__(self, domains: Domains) -> None:
        self._domains = domains
        self._host_parts: dict[str, bytes] = {}

    def of(self, canonical_url: str) -> bytes:
        """Return the fingerprint of a canonical URL."""
        host = host_key(canonical_url)
        part = self._host_parts.get(host)
        if part is None:
            part = self._remember(host)
        return part + blake2b(canonical_url.encode("utf-8", "surrogatepass"), digest_size=8).digest()

    def of_host(self, host: str) -> bytes:
        """Return the host part of a host key."""
        return self._host_parts.get(host) or self._remember(host)

    def _remember(self, host: str) -> bytes:
        if len(self._host_parts) >= _CACHED_HOSTS_MAX:
            self._host_parts.clear()
        part = host_part(domain=self._domains.registered(host_name(host)), host=host)
        self._host_parts[host] = part
        return part


def _hash(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
