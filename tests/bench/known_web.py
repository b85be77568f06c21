"""A crawldb filled as real rounds would fill it, from numbers alone: what is known of a web, a fifth of it fetched.

It has as many hosts as a host has known URLs, so that it grows in both alike: 1,000 of 1,000 at a million known URLs,
7,071 of 7,071 at fifty.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from math import isqrt

from batchcrawl.engine.control import Control
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.host import HostRecord, RobotsCopy
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.linking import joined, sketch_of
from batchcrawl.policy.priority import link_level
from batchcrawl.policy.value import LEVEL_MIN
from batchcrawl.store.crawldb import CrawlDb, Entry, Tuning
from batchcrawl.store.seen_keys import owner_of, seen_keys
from batchcrawl.web.fingerprint import Fingerprinter, partition_of

DAY_S = 86_400
FETCHED_OF = 5
"""Every fifth URL is fetched; the others wait."""
_INLINKED = (115, 207, 244)
"""Of 256 URLs so many have no link of another domain, one at most, two at most: 0.8 each, as if a tenth of 40 links of
each fetched page leads to one of all known URLs."""
_BATCH_URLS = 20_000
DEPTHS = 4
_TUNING = Tuning(write_buffer_bytes=256 << 20)
"""LevelDB merges less while it is filled."""
_ROBOTS = "User-agent: *\nDisallow: /cgi-bin/\nDisallow: /search\nDisallow: /private/\nCrawl-delay: 1\n"


@dataclass(frozen=True)
class KnownWeb:
    """Which URLs there are; those of a host beyond `host_urls` are not known yet."""

    hosts: int
    host_urls: int
    now: int

    @classmethod
    def of_size(cls, urls: int, *, now: int) -> "KnownWeb":
        """Return a web of about so many known URLs."""
        return cls(isqrt(urls), isqrt(urls), now)

    @property
    def known(self) -> int:
        """Known URLs."""
        return self.hosts * self.host_urls

    def host(self, number: int) -> str:
        """Return the host key of a host."""
        return f"https://www.site{number:06d}.test"

    def url(self, host: int, page: int) -> str:
        """Return the URL of a page: 62 characters."""
        return f"{self.host(host)}/section-{page % 40:02d}/some-words-{page:08d}"


@dataclass(frozen=True)
class Loading:
    """What the process of a partition needs to know."""

    crawl: Crawl
    web: KnownWeb
    partition: int


def fill_partition(task: Loading, control: Control) -> int:
    """Fill the crawldb of a partition and return how many URLs it has; then LevelDB has merged all that it will."""
    fingerprinter = Fingerprinter(task.crawl.domains())
    with CrawlDb(task.crawl.layout.crawldb(task.partition), tuning=_TUNING) as db:
        count = _put_urls(task, db, fingerprinter)
        _put_seen(task, db, fingerprinter)
    return count


def _put_urls(task: Loading, db: CrawlDb, fingerprinter: Fingerprinter) -> int:
    web, batch, count = task.web, db.batch(), 0
    parts = {fingerprinter.of_host(web.host(number)): number for number in range(web.hosts)}
    for part, number in sorted(parts.items()):
        if partition_of(part, task.crawl.partitions) != task.partition:
            continue
        batch.enter_host(part, _host_record(web, number))
        for fp, url, page in sorted((fingerprinter.of(url), url, page) for url, page in _pages(web, number)):
            batch.put(Entry.new(fp, known_record(web, url, page)))
            count += 1
        if batch.size >= _BATCH_URLS:
            batch.commit()
            batch = db.batch()
    batch.commit()
    return count


def _put_seen(task: Loading, db: CrawlDb, fingerprinter: Fingerprinter) -> None:
    """Put the keys of contents that belong to the partition, whatever partition their pages are in."""
    keys: list[bytes] = []
    for number in range(task.web.hosts):
        for url, page in _pages(task.web, number):
            if page % FETCHED_OF == 0:
                record = known_record(task.web, url, page)
                mine = seen_keys(fingerprinter.of(url), record)
                keys += [key for key in mine if owner_of(key, task.crawl.partitions) == task.partition]
    keys.sort()
    for start in range(0, len(keys), 5 * _BATCH_URLS):
        batch = db.batch()
        for key in keys[start : start + 5 * _BATCH_URLS]:
            batch.put_seen(key)
        batch.commit()


def _pages(web: KnownWeb, host: int) -> Iterator[tuple[str, int]]:
    return ((web.url(host, page), page) for page in range(web.host_urls))


def _host_record(web: KnownWeb, number: int) -> HostRecord:
    host = web.host(number)
    robots = RobotsCopy(fetched_at=web.now - 3600, expires_at=web.now + DAY_S, status=200, text=_ROBOTS)
    return HostRecord(
        host=host,
        domain=host.partition("www.")[2],
        robots=robots,
        delay_s=1.0,
        response_s=0.2,
        address="192.0.2.1",
        requests=web.host_urls // FETCHED_OF,
        body_bytes=25_000 * (web.host_urls // FETCHED_OF),
        first_seen_at=web.now - 30 * DAY_S,
        last_fetch_at=web.now - DAY_S,
    )


def known_record(web: KnownWeb, url: str, page: int) -> UrlRecord:
    """Return what is known of a page."""
    depth = 1 + page % DEPTHS
    record = UrlRecord(
        url=url,
        place=Place.READY,
        level=link_level(depth),
        depth=depth,
        source=_digest(url, 16),
        first_seen_at=web.now - 30 * DAY_S,
        next_fetch_at=web.now - 30 * DAY_S,
    )
    chance = _digest(f"from {url}", 1 + 4 * len(_INLINKED))
    for number, most in enumerate(_INLINKED):
        if chance[0] >= most:
            record.inlinks = joined(record.inlinks, sketch_of(int.from_bytes(chance[1 + 4 * number :][:4], "big")))
    if page % FETCHED_OF == 0:
        _fetched(record, web, page)
    return record


def _fetched(record: UrlRecord, web: KnownWeb, page: int) -> None:
    record.status, record.place, record.level = PageStatus.FETCHED, Place.TIMER, LEVEL_MIN
    record.outcome, record.http_status, record.fetches = FetchOutcome.FETCHED, 200, 1
    record.last_fetch_at = record.content_at = web.now - (1 + page % 20) * DAY_S
    record.interval_s = 30 * DAY_S
    record.next_fetch_at = record.last_fetch_at + record.interval_s
    record.etag, record.content_type = f'"{page:016x}"', "text/html; charset=utf-8"
    record.signature, record.simhash = _digest(f"text {record.url}", 16), _digest(f"like {record.url}", 8)
    record.digest, record.segment = f"sha1:{_digest(record.url, 16).hex()}", "20261101T000000Z"
    record.body_at = float(record.last_fetch_at)


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode(), digest_size=size).digest()
