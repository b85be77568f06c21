"""The meta entry of what the refetched pages of a partition have shown of change rates."""

import msgspec

from batchcrawl.model.host import RateCounts
from batchcrawl.store.crawldb import Batch, CrawlDb
from batchcrawl.store.meta import read_meta

_RATES = "rates"


def read_rates(db: CrawlDb) -> RateCounts | None:
    """Return the counts over all hosts of a partition, or None where no page was refetched yet."""
    return read_meta(db, _RATES, RateCounts)


def set_rates(batch: Batch, counts: RateCounts) -> None:
    """Let a batch carry the counts."""
    batch.set_meta(_RATES, msgspec.json.encode(counts))
