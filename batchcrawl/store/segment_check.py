"""Proves that the crawldb knows what its segments say: a database that lost its last changes may agree with itself."""

from collections.abc import Iterator, Sequence

from batchcrawl.model.entries import FetchEntry
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment
from batchcrawl.store.update_mark import read_mark


def verify_segment(partitions: Sequence[CrawlDb], segment: Segment) -> Iterator[tuple[int, str]]:
    """Yield what partitions do not know of a segment: that it is applied, or that URLs are leased to it.

    Of one that is half applied, nothing is said. Raises CorruptData where its fetch lists are damaged.
    """
    for p, db in enumerate(partitions):
        if segment.is_done("updated"):
            if not read_mark(db, segment).done:
                yield p, f"knows nothing of the update of segment {segment.id}: its last changes are lost"
        elif segment.is_done("generated") and not segment.paths.half_applied:
            yield from ((p, what) for what in _not_leased(db, segment, p))


def _not_leased(db: CrawlDb, segment: Segment, p: int) -> Iterator[str]:
    lines = read_lines(segment.paths.fetch_list(p), FetchEntry)
    heads = ((line, db.head(bytes.fromhex(line.fp))) for line in lines)
    lost = [line.url for line, head in heads if head is None or head.lease != segment.lease]
    if lost:
        yield f"{len(lost):,} URLs of segment {segment.id} are not leased to it, as {lost[0]}"
