"""Records of hosts and of registered domains: what they have taught us. Stored as MessagePack maps."""

import msgspec

from batchcrawl.model.status import PageStatus

UNREACHABLE_MAX_S = 30 * 86_400.0


class RobotsCopy(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The last answer to a host's robots.txt."""

    fetched_at: float
    expires_at: float
    status: int | None = None
    """HTTP status of the last hop; None when no answer came."""
    text: str | None = None
    """The file, decoded, at most 500 KiB of it; None unless the status was 2xx."""
    unreachable_since: float | None = None
    """Since when the host has not given a usable answer."""
    detail: str | None = None
    """Why there was none."""
    url: str | None = None
    """Where the answer came from, if a redirect led away from the host's own /robots.txt."""

    def is_unreachable(self, now: float) -> bool:
        """Tell whether nothing may be fetched; after 30 days the file counts as absent (RFC 9309, 2.3.1.4)."""
        return self.unreachable_since is not None and now - self.unreachable_since < UNREACHABLE_MAX_S


class RobotsHop(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Where a redirect of a host's robots.txt leads."""

    url: str
    redirects: int
    """Followed so far, with this one."""
    ttl_s: float
    """How long the copy may be used by the answers so far."""


class LastmodCounts(msgspec.Struct, kw_only=True, omit_defaults=True, frozen=True):
    """How dates of the last change have proved on a host: what fetches saw, and what had been told of it."""

    told_changed: int = 0
    """The content had changed, and a newer lastmod had said so."""
    silent_changed: int = 0
    told_same: int = 0
    silent_same: int = 0
    same_days: float = 0.0
    """Time between the fetches that saw the same content."""


class RateCounts(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What refetched pages have shown of change rates."""

    pages: int = 0
    """Pages refetched at least once."""
    rate_sum: float = 0.0
    """Sum of the rates that are believed of them, in changes a day, each bounded."""

    @property
    def mean(self) -> float | None:
        """Their mean, in changes a day; None where there is none."""
        return self.rate_sum / self.pages if self.pages else None


class HostRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the crawldb knows of one host key (scheme, host, port)."""

    host: str
    """The host key, as `http://example.org` or `https://example.org:8443`."""
    domain: str
    """The registered domain."""
    budget_domain: str | None = None
    """The domain whose budget and pauses hold for it, if that is one within the registered domain."""
    seed: bool = False
    """A seed is on this host."""
    urls: dict[int, int] = {}
    """Known URLs by the number of their PageStatus."""
    robots: RobotsCopy | None = None
    delay_s: float | None = None
    """Politeness delay last used; None before the first contact."""
    crawl_delay_s: float | None = None
    response_s: float | None = None
    """Moving average of the time to the whole answer."""
    failures: int = 0
    """Failures of the host in a row."""
    deferred_until: float | None = None
    """The host is put off until this instant."""
    address: str | None = None
    """The IP address last connected to."""
    requests: int = 0
    """Requests for pages so far."""
    body_bytes: int = 0
    first_seen_at: int = 0
    last_fetch_at: float | None = None
    costly: dict[str, int] = {}
    """Known URLs that are costly, by what makes them so (policy.traps)."""
    rejected: dict[str, int] = {}
    """Links not taken because of traps and budgets, by reason: those on its pages that look like a trap, those to it
    that its budgets refuse."""
    patterns: dict[str, tuple[int, int]] = {}
    """Pages, and copies among them, of path patterns that have copies (policy.copies)."""
    lastmod: LastmodCounts | None = None
    last_modified: LastmodCounts | None = None
    """The same of the header Last-Modified of its pages."""
    rates: RateCounts | None = None
    sitemaps: int = 0
    """URLs that were named as sitemaps so far."""
    day: int = 0
    """The last day, in days since 1970 UTC, on which URLs were leased, where the job limits those of a day."""
    day_urls: int = 0
    """How many were leased on it."""

    def count(self, status: PageStatus, change: int) -> None:
        """Add `change` to the number of the host's URLs that have the status."""
        left = self.urls.get(int(status), 0) + change
        if left:
            self.urls[int(status)] = left
        else:
            self.urls.pop(int(status), None)


class DomainRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the crawldb knows of one domain: a registered one, or one that the private section of the public suffix list
    makes within it (`a.github.io`)."""

    domain: str
    urls: int = 0
    """Known URLs of all its hosts."""
    rejected: dict[str, int] = {}
    """Links not taken because of its budget, by reason."""
    refusals: int = 0
    """Answers 429 and 503 of its hosts in a row."""
    deferred_until: float | None = None
    """All its hosts are put off until this instant."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(HostRecord).decode
_decode_domain = msgspec.msgpack.Decoder(DomainRecord).decode


def encode_host(record: HostRecord) -> bytes:
    """Return the bytes of a host record as the crawldb stores them."""
    return _encode(record)


def decode_host(data: bytes) -> HostRecord:
    """Return the host record of its stored bytes. Raises msgspec.MsgspecError when they are damaged."""
    return _decode(data)


def encode_domain(record: DomainRecord) -> bytes:
    """Return the bytes of a domain record as the crawldb stores them."""
    return _encode(record)


def decode_domain(data: bytes) -> DomainRecord:
    """Return the domain record of its stored bytes. Raises msgspec.MsgspecError when they are damaged."""
    return _decode_domain(data)
