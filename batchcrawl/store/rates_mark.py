"""The meta entry of what the refetched pages of a partition have shown of change rates."""

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.model.host import RateCounts
from batchcrawl.store.crawldb import Batch, CrawlDb
from batchcrawl.store.reading import ADVICE

_RATES = "rates"


def read_rates(db: CrawlDb) -> RateCounts | None:
    """Return the counts over all hosts of a partition, or None where no page was refetched yet."""
    data = db.meta(_RATES)
    try:
        return None if data is None else msgspec.json.decode(data, type=RateCounts)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{db.path}: {_RATES}: {error}; {ADVICE}") from error


def set_rates(batch: Batch, counts: RateCounts) -> None:
    """Let a batch carry the counts."""
    batch.set_meta(_RATES, msgspec.json.encode(counts))
