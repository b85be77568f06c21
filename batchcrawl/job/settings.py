"""The settings of a job, each with its one default, unit, range and meaning.

In a job file a time or a size is text with its unit (`"30s"`, `"10MB"`). In code it is a number of the
unit that ends the attribute's name: `politeness.delay_min = "1s"` is `settings.politeness.delay_min_s == 1.0`.
None means not set.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from batchcrawl.job.recrawl_settings import RecrawlSettings
from batchcrawl.job.scope_settings import ScopeSettings, TrapSettings
from batchcrawl.job.setting_types import (
    Bytes,
    Count,
    Memory,
    Seconds,
    Section,
    ShortText,
    SomeSeconds,
    Space,
    Speed,
    UrlText,
    WholeSeconds,
    means,
)
from batchcrawl.job.sitemap_settings import SitemapSettings
from batchcrawl.job.units import DAY, GB, MB, MINUTE
from batchcrawl.web.canonical import DEFAULT_STEPS, STEPS


class CrawlSettings(Section, frozen=True, kw_only=True):
    """What is fixed when the crawl is born."""

    partitions: Annotated[
        Annotated[int, Meta(ge=1, le=256)] | None,
        means(
            "Number of parts of the crawl; not set: the number of cores, at most 8. Fixed when the crawl is born.",
            example=4,
        ),
    ] = None

    canonical_steps: Annotated[
        tuple[ShortText, ...],
        means(
            "Changes to the default canonicalisation: a step's name switches it on, with a minus before it, off. "
            "Fixed when the crawl is born.",
            example=["www", "-tracking"],
        ),
    ] = ()

    def steps(self) -> tuple[str, ...]:
        """Return the names of the canonicalisation steps that are on, in the order in which they are taken."""
        on = set(DEFAULT_STEPS)
        for step in self.canonical_steps:
            if step.startswith("-"):
                on.discard(step[1:])
            else:
                on.add(step)
        return tuple(name for name, _ in STEPS if name in on)

    def partitions_for(self, cores: int) -> int:
        """Return the number of partitions of a crawl born on a machine with so many cores."""
        return self.partitions or max(1, min(cores, 8))


class GenerateSettings(Section, frozen=True, kw_only=True):
    """What a segment holds."""

    urls_max: Annotated[Annotated[int, Meta(ge=1, le=10**8)], means("Most URLs of one segment.")] = 50_000
    duration_s: Annotated[
        WholeSeconds,
        means("Time that a segment is planned for: a host gets at most duration / delay URLs."),
    ] = field(default=30 * MINUTE, name="duration")
    host_urls_max: Annotated[
        Count | None, means("Most URLs of one host in a segment; not set: no limit.", example=500)
    ] = None
    domain_urls_max: Annotated[
        Count | None, means("Most URLs of one registered domain in a segment; not set: no limit.", example=2000)
    ] = None
    domain_hosts_max: Annotated[
        Count | None, means("Most hosts of one registered domain in a segment; not set: no limit.", example=100)
    ] = None
    bytes_day_max: Annotated[
        Bytes | None,
        means(
            "Most bytes of bodies a day (UTC): a segment is made no larger than what is left of them, by the mean of "
            "the last ones. Not set: no limit.",
            example="5GB",
        ),
    ] = None
    host_urls_day_max: Annotated[
        Count | None, means("Most URLs of one host a day (UTC); not set: no limit.", example=1000)
    ] = None
    domain_urls_day_max: Annotated[
        Count | None, means("Most URLs of one registered domain a day (UTC); not set: no limit.", example=5000)
    ] = None
    limits_file: Annotated[
        ShortText | None,
        means(
            "File of such limits, seen from the job file: a host name or registered domain, a tab, most URLs, and of a "
            "domain a tab and most hosts. They hold beside those above; 0 is nothing. Above 4 MiB it must be sorted.",
            example="limits.tsv",
        ),
    ] = None


class PolitenessSettings(Section, frozen=True, kw_only=True):
    """Gaps between requests to one host. Crawl-delay and Retry-After are always obeyed."""

    delay_min_s: Annotated[Seconds, means("Least gap between two requests to a host.")] = field(
        default=1.0, name="delay_min"
    )
    delay_max_s: Annotated[Seconds, means("Longest gap that a slow host brings about by itself.")] = field(
        default=MINUTE, name="delay_max"
    )
    domain_gap_s: Annotated[
        Seconds, means("Least gap between two requests to hosts of one registered domain; never above delay_min.")
    ] = field(default=0.5, name="domain_gap")
    address_gap_s: Annotated[
        Seconds, means("Least gap between two requests to hosts at one address; never above delay_min.")
    ] = field(default=0.2, name="address_gap")
    factor: Annotated[
        Annotated[float, Meta(ge=0, le=1000)], means("The gap is at least so many times the host's last response time.")
    ] = 5.0
    backoff_min_s: Annotated[SomeSeconds, means("First pause after 429, 503 or a failure of the host.")] = field(
        default=MINUTE, name="backoff_min"
    )
    backoff_max_s: Annotated[SomeSeconds, means("Longest such pause; each is double the one before.")] = field(
        default=DAY, name="backoff_max"
    )
    host_failures_max: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        means("After so many failures in a row a host is put off, its URLs with it; after so many refusals, a domain."),
    ] = 3


class FetchSettings(Section, frozen=True, kw_only=True):
    """How pages are asked for."""

    threads: Annotated[Annotated[int, Meta(ge=1, le=2000)], means("Requests at the same time, beside slow ones.")] = 64
    time_limit_s: Annotated[
        WholeSeconds | None, means("After it nothing more is asked for; not set: until all is done.", example="1h")
    ] = field(default=None, name="time_limit")
    deadline_s: Annotated[SomeSeconds, means("Longest time for one whole fetch.")] = field(
        default=MINUTE, name="deadline"
    )
    connect_timeout_s: Annotated[SomeSeconds, means("Longest time to connect, TLS included.")] = field(
        default=10.0, name="connect_timeout"
    )
    read_timeout_s: Annotated[SomeSeconds, means("Longest silence of the server.")] = field(
        default=20.0, name="read_timeout"
    )
    bytes_per_second_min: Annotated[
        Speed,
        means("An answer is cut that brings fewer bytes a second over any 20 s from its first byte on; 0B: none is."),
    ] = field(default=100, name="speed_min")
    body_bytes_max: Annotated[Bytes, means("A body is cut there and marked as truncated.")] = 10 * MB
    content_types: Annotated[
        Annotated[tuple[ShortText, ...], Meta(min_length=1, max_length=200)],
        means("Media types that are kept; of others the body is not read."),
    ] = (
        "text/html",
        "application/xhtml+xml",
        "application/xml",
        "text/xml",
        "text/plain",
        "application/rss+xml",
        "application/atom+xml",
    )
    retries_max: Annotated[
        Annotated[int, Meta(ge=0, le=255)], means("A URL that fails more often in a row is given up.")
    ] = 3
    warc_bytes_max: Annotated[Bytes, means("A WARC file is closed at this size.")] = GB
    disk_free_min: Annotated[
        Space,
        means(
            "Fetch ends, to go on once there is space, when the disk of the crawl has less free; a twentieth of a "
            "small disk is enough."
        ),
    ] = GB
    headers: Annotated[
        dict[str, str], means("Header fields sent besides, name and value.", example={"Accept-Language": "en"})
    ] = {}
    cookies: Annotated[
        bool, means("Send back to a host the cookies that it has set since the step began; they are never stored.")
    ] = False
    conditional: Annotated[bool, means("Ask whether a stored page has changed (ETag, Last-Modified).")] = True
    full_every: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)],
        means("A page that the server says is unchanged is asked for as a whole at least every so many visits."),
    ] = 10
    robots_ttl_s: Annotated[
        Annotated[float, Meta(ge=1, le=DAY, extra={"unit": "duration"})],
        means("A host's robots.txt is read anew after this time, or sooner where its Cache-Control says so."),
    ] = field(default=DAY, name="robots_ttl")


class NetworkSettings(Section, frozen=True, kw_only=True):
    """How hosts are reached."""

    proxy: Annotated[
        ShortText | None,
        means(
            "Proxy for all requests, as http://host:port, https://, socks5://, or socks5h:// which resolves the names.",
            example="http://127.0.0.1:8765",
        ),
    ] = None
    proxy_credentials: Annotated[
        ShortText | None,
        means("Environment variable that holds user:password for the proxy.", example="CRAWL_PROXY_LOGIN"),
    ] = None
    credentials: Annotated[
        dict[str, str],
        means(
            "Scheme and host (and port) to Basic or Bearer and the environment variable that holds user:password or "
            "the token; sent to that host only, and never stored.",
            example={"https://intranet.example.org": "Basic INTRANET_LOGIN"},
        ),
    ] = {}
    client_certificate: Annotated[
        ShortText | None,
        means(
            "PEM file of a certificate and its key, seen from the job file, shown to hosts that ask for one.",
            example="client.pem",
        ),
    ] = None
    allow_addresses: Annotated[
        tuple[ShortText, ...],
        means(
            "Address ranges that may be connected to although they are not public, as 127.0.0.0/8.",
            example=["127.0.0.0/8"],
        ),
    ] = ()
    resolver: Annotated[
        Literal["dns", "system"],
        means(
            "Who finds names: hosts file and name servers of the system, by the TTL of their answers, or whatever else "
            "the system is set up to ask (mDNS, LDAP), without."
        ),
    ] = "dns"
    name_servers: Annotated[
        tuple[ShortText, ...],
        means("Name servers, as 192.0.2.53 or 127.0.0.1:5353, instead of the system's.", example=["192.0.2.53"]),
    ] = ()
    names: Annotated[
        dict[str, str],
        means(
            "Host name, *.suffix or * to the address, or address:port, to connect to in place of asking DNS.",
            example={"*.test": "127.0.0.1:8765"},
        ),
    ] = {}
    verify_tls_except: Annotated[
        tuple[ShortText, ...], means("Host names whose certificate is not checked.", example=["old.example.org"])
    ] = ()


class ParseSettings(Section, frozen=True, kw_only=True):
    """What is kept of a page."""

    links_max: Annotated[Annotated[int, Meta(ge=0, le=10**6)], means("Most links taken of one page.")] = 5000
    resources: Annotated[
        tuple[
            Literal["img", "source", "video", "audio", "script", "object", "embed", "stylesheet", "icon"],
            ...,
        ],
        means(
            "Kinds of resources of a page that are links, too; fetch.content_types must name their media types.",
            example=["img", "source"],
        ),
    ] = ()
    text_bytes_max: Annotated[Bytes, means("Most text kept of one page.")] = MB
    decoded_bytes_max: Annotated[Bytes, means("Most bytes a body may become when its content coding is undone.")] = (
        50 * MB
    )
    duplicates: Annotated[
        Literal["skip", "follow"],
        means("What becomes of the links of a page whose text is known under another URL: skipped, or followed."),
    ] = "skip"
    near_duplicates: Annotated[
        bool, means("Mark pages whose text is nearly that of an earlier one, by the SimHash of its words.")
    ] = True
    chunk_pages: Annotated[
        Annotated[int, Meta(ge=1, le=100_000)],
        means("Most pages parsed between two commits; a kill loses at most these."),
    ] = 500
    page_cpu_s: Annotated[
        SomeSeconds, means("CPU time for one page; one that takes more is left, and recorded as failed.")
    ] = field(default=30.0, name="page_cpu")
    page_time_s: Annotated[SomeSeconds, means("Time for one page, waiting included; likewise.")] = field(
        default=MINUTE, name="page_time"
    )
    worker_memory_bytes_max: Annotated[
        Memory,
        means(
            "Memory of a process that parses, beyond what it begins with; a page that needs more is recorded as "
            "failed. Linux only."
        ),
    ] = field(default=GB, name="worker_memory")


class Settings(Section, frozen=True, kw_only=True):
    """A whole job file."""

    contact: Annotated[
        ShortText | None,
        means(
            "URL or e-mail address where the owner of a host can reach you; sent with every request.",
            example="https://example.org/crawler",
        ),
    ] = None
    user_agent: Annotated[
        ShortText | None,
        means("User-Agent sent; not set: product token, version and contact.", example="examplebot/1.0"),
    ] = None
    product_token: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100)] | None,
        means(
            "Name that robots.txt knows the crawler by; not set: the first word of user_agent, else batchcrawl.",
            example="examplebot",
        ),
    ] = None
    data: Annotated[
        ShortText | None,
        means(
            "Directory of the crawl, seen from the job file; not set: data/ and the job's name.",
            example="../data/other",
        ),
    ] = None
    seeds: Annotated[tuple[UrlText, ...], means("URLs to begin with.", example=["https://example.org/"])] = ()
    seed_files: Annotated[
        tuple[ShortText, ...], means("Files of such URLs, one a line, seen from the job file.", example=["seeds.txt"])
    ] = ()
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    generate: GenerateSettings = field(default_factory=GenerateSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    parse: ParseSettings = field(default_factory=ParseSettings)
    recrawl: RecrawlSettings = field(default_factory=RecrawlSettings)
    sitemaps: SitemapSettings = field(default_factory=SitemapSettings)
