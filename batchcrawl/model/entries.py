"""The lines of a segment's files, each a JSON object. Fingerprints and signatures stand as lower-case hex.

Instants (`_at`) are seconds since 1970 UTC. Absent fields are left out.
"""

import msgspec

from batchcrawl.model.host import RobotsCopy, RobotsHop
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.revisit import RevisitProfile


class Line(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """Base of every line. None holds itself, so the garbage collector need not look at them."""


class FetchEntry(Line):
    """A URL of the fetch list."""

    fp: str
    """Fingerprint of the canonical URL, 32 hex digits."""
    url: str
    """What to ask for: the URL as linked."""
    host: str
    """Host key of `url`."""
    level: int = 0
    depth: int = 0
    hops: int = 0
    fetches: int = 0
    etag: str | None = None
    last_modified: str | None = None
    digest: str | None = None
    """Payload digest of the stored copy."""
    last_fetch_at: int | None = None
    content_type: str | None = None
    """Content-Type of the stored copy as sent."""
    content_encoding: str | None = None
    """Its Content-Encoding as sent."""
    body_at: float | None = None
    """Start of the exchange that has the body of the stored copy; without it, nothing may refer to that copy."""
    body_segment: str | None = None
    """Id of the segment that stores that exchange."""
    not_modified: int = 0
    """Answers `not_modified` in a row since the body last came."""
    kind: UrlKind = UrlKind.PAGE
    sites: list[str] = []
    """Of a sitemap: registered domains beside its own that it may speak for; `*` is any."""


class HostSheet(Line):
    """What the fetch step must know of a host of the fetch list."""

    host: str
    domain: str
    urls: int
    """How many lines of the fetch list are on this host."""
    robots: RobotsCopy | None = None
    delay_s: float | None = None
    crawl_delay_s: float | None = None
    response_s: float | None = None
    failures: int = 0
    deferred_until: float | None = None
    budget_domain: str | None = None
    """The domain whose pauses hold for it, if that is one within the registered domain."""
    domain_refusals: int = 0
    """Answers 429 and 503 of that domain's hosts in a row."""
    domain_deferred_until: float | None = None
    address: str | None = None


class FetchLogLine(Line):
    """The outcome of one URL of the fetch list."""

    fp: str
    url: str
    host: str
    outcome: FetchOutcome
    depth: int = 0
    hops: int = 0
    status: int | None = None
    """HTTP status, if an answer came."""
    queued_at: float | None = None
    started_at: float | None = None
    first_byte_at: float | None = None
    ended_at: float | None = None
    body_bytes: int | None = None
    """Bytes of the body as sent, after the chunked coding is undone."""
    address: str | None = None
    redirect: str | None = None
    """The Location, resolved against the URL, as the WHATWG standard serialises it."""
    content_type: str | None = None
    """The Content-Type header as sent, its beginning if it is very long."""
    content_encoding: str | None = None
    """The Content-Encoding header as sent."""
    digest: str | None = None
    """`sha1:` and base32 of the body as sent, after the chunked coding is undone; of a revisit, of the body meant."""
    revisit: RevisitProfile | None = None
    """Why the body was not stored again."""
    body_at: float | None = None
    """Of a revisit: start of the exchange that has the body."""
    body_segment: str | None = None
    """Of a revisit: id of the segment that stores that exchange."""
    truncated: str | None = None
    """`length` or `time`, as in WARC-Truncated."""
    etag: str | None = None
    last_modified: str | None = None
    retry_after: str | None = None
    """The Retry-After header as sent."""
    warc: str | None = None
    """Name of the WARC file in the segment's fetch/ that holds the response."""
    offset: int | None = None
    """Byte offset of the response's gzip member."""
    length: int | None = None
    """Length of that member in bytes."""
    tries: int = 0
    """Requests sent for it."""
    delay_s: float | None = None
    """The politeness delay that preceded it."""
    detail: str | None = None
    """What exactly failed, or the line of robots.txt that forbids the URL."""
    kind: UrlKind = UrlKind.PAGE
    """As in the fetch list."""
    sites: list[str] = []
    """As in the fetch list."""


class HostLogLine(Line):
    """What the fetch step learned of a host; the last line of a host wins."""

    host: str
    at: float
    robots: RobotsCopy | None = None
    robots_hop: RobotsHop | None = None
    """Where robots.txt is to be asked for next: a redirect has led there."""
    delay_s: float | None = None
    crawl_delay_s: float | None = None
    response_s: float | None = None
    failures: int = 0
    deferred_until: float | None = None
    refused_at: float | None = None
    """When the last request for its robots.txt began, if the answer was 429 or 503."""
    domain_refusals: int | None = None
    """Answers 429 and 503 of its domain's hosts in a row; None where nothing was learned of the domain."""
    domain_deferred_until: float | None = None
    address: str | None = None


class PageLine(Line):
    """What parse found in one stored page."""

    fp: str
    url: str
    redirect: str | None = None
    """Where the URL points, if it is a redirect; then there is no page and the fields of one are absent."""
    failed: str | None = None
    """Why the page could not be parsed; then the other fields are absent."""
    kind: UrlKind = UrlKind.PAGE
    """What was found; a sitemap or feed has links and a signature, and no text."""
    cut: str | None = None
    """Of a sitemap or feed: the limit at which reading ended, bytes, entries or tags."""
    content_type: str | None = None
    media_type: str | None = None
    """What the body was taken for: the type of Content-Type, or what its bytes look like where that names none."""
    charset: str | None = None
    title: str | None = None
    description: str | None = None
    language: str | None = None
    canonical: str | None = None
    robots: list[str] = []
    """Directives of meta robots and X-Robots-Tag for this crawler, lower-case."""
    unavailable_at: int | None = None
    """When the page will be gone, as an `unavailable_after` of them says."""
    text: str | None = None
    words: int = 0
    signature: str | None = None
    """Exact signature of the text, 32 hex digits."""
    simhash: str | None = None
    """Near-duplicate signature, 16 hex digits."""
    links: int = 0
    """Links written."""
    rejected: dict[str, int] = {}
    """Links not taken, by reason."""


class LinkLine(Line):
    """One link of one page, in the bucket of the partition that owns its target."""

    fp: str
    """Fingerprint of the target."""
    url: str
    """Canonical URL of the target."""
    source: str
    """Fingerprint of the page."""
    depth: int
    """Depth of the target by this link."""
    hops: int = 0
    """Links since the crawl's own hosts were left, by this link; 0 on one of them."""
    kind: str = "a"
    """What holds the link: a, area, frame, iframe, link, meta, a kind of resource, header, redirect. In a sitemap:
    sitemap, or index for a sitemap in an index; in a feed: feed. Of sitemaps that no page holds: robots for one that
    robots.txt names, probe for one that is only guessed."""
    linked: str | None = None
    """The URL as linked, where it differs from the canonical one."""
    anchor: str | None = None
    rel: tuple[str, ...] = ()
    position: int = 0
    """Number of the link on its page, from 0."""
    lastmod_at: int | None = None
    """Last change of the target, as a sitemap or feed of its site says: the earliest instant that is meant."""
    lastmod_until: int | None = None
    """The latest that is meant, and not after the sitemap was fetched; absent where it is the same."""
    leads_to: UrlKind = UrlKind.PAGE
    """What the target is said to be: a page, or a sitemap."""
    sites: list[str] = []
    """Of a link to a sitemap: registered domains beside its own that it may speak for; `*` is any."""


class RejectionLine(Line):
    """How many links of a chunk to one host were not taken for one reason."""

    reason: str
    links: int
    host: str | None = None
    """Host key of the targets, or of the page where a target has none; absent for the sum of the hosts left out."""


class RejectedLink(Line):
    """A link that was not taken."""

    url: str
    """As resolved, or as written where it was not; cut at 2,000 characters."""
    source: str
    """URL of the page."""
    reason: str
    rule: str
    """What rejects it, as people read it."""
    place: str
    """`file:line` of the rule, or `default`."""
