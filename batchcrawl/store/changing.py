"""The loop of all that changes URL records which it finds by fingerprint and cannot hold all in memory."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from batchcrawl.store.crawldb import Batch, CrawlDb, Entry

BATCH_URLS = 10_000
"""URLs looked at between two commits."""
Change = Callable[[Batch, bytes, Entry | None], None]
"""Puts what becomes of a URL into the batch, if anything does; of one that is not known there is no entry."""


class Changed(NamedTuple):
    """What one batch did."""

    seen: int
    """URLs looked at."""
    changed: int
    """URLs put."""


def change_urls(db: CrawlDb, fingerprints: Iterable[bytes], change: Change) -> Iterator[Changed]:
    """Load URLs, let `change` put what becomes of them, and commit, BATCH_URLS at a time.

    Yields after each commit, so that whoever runs it may stop there. `fingerprints` may read the database: an iterator
    over it does not see what is changed meanwhile. One that comes twice must be no harm to change twice.
    """
    remaining = iter(fingerprints)
    while chunk := list(islice(remaining, BATCH_URLS)):
        batch = db.batch()
        for fingerprint in sorted(set(chunk)):
            change(batch, fingerprint, db.load(fingerprint))
        if batch.size:
            batch.commit()
        yield Changed(len(chunk), batch.size)
