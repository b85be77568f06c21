"""A sample of a partition's stored pages, even over all of them, that costs a look at each host and one a page taken.

Within a host the second half of the fingerprint is a hash, so the page behind any number there is as good as any other.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain, islice

from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.recrawl import STORED
from batchcrawl.store.crawldb import CrawlDb

TRIES = 30
"""So many URLs of a host are looked at for one that is stored."""


def count_stored(db: CrawlDb) -> int:
    """Return how many pages of a partition are stored, by the counts of its hosts."""
    return sum(_stored(host) for _, host in db.hosts())


def sample_stored(db: CrawlDb, *, pages: int, known: int) -> Iterator[tuple[HostRecord, UrlRecord]]:
    """Yield about `pages` of the `known` stored pages of a partition, each with its host; the same ones each time."""
    step, passed, wanted = known / max(1, pages), 0, 0
    for host_part, host in db.hosts():
        passed += _stored(host)
        while wanted < pages and wanted * step < passed:
            record = _stored_near(db, host_part, wanted)
            if record is not None:
                yield host, record
            wanted += 1


def _stored_near(db: CrawlDb, host_part: bytes, number: int) -> UrlRecord | None:
    """Return a stored page of a host: the first behind a place that `number` says, around."""
    start = blake2b(number.to_bytes(8, "big"), digest_size=8).digest()
    around = chain(db.records(host_part, start=start), db.records(host_part))
    return next((record for _, record in islice(around, TRIES) if record.status in STORED), None)


def _stored(host: HostRecord) -> int:
    return host.urls.get(PageStatus.FETCHED, 0) + host.urls.get(PageStatus.DUPLICATE, 0)
