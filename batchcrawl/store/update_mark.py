"""The mark of an update: how far a segment is applied to a partition."""

import msgspec

from batchcrawl.store.crawldb import Batch, CrawlDb
from batchcrawl.store.meta import read_meta
from batchcrawl.store.segment import Segment


class Mark(msgspec.Struct):
    """How far a segment is applied to a partition, in the same batch as what it tells of."""

    segment: str
    """Content name of the segment, since another may come to have its id."""
    seen: str = ""
    """Fingerprint of the last page whose keys in the indexes of content are applied."""
    urls: str = ""
    """Fingerprint of the last URL applied."""
    hosts: str = ""
    """Host part of the last host applied."""
    done: bool = False
    counts: dict[str, int] = {}

    @property
    def begun(self) -> bool:
        """Something of the segment is applied."""
        return bool(self.seen or self.urls or self.hosts or self.done)


def read_mark(db: CrawlDb, segment: Segment) -> Mark:
    """Return the mark of a segment in a partition; that of another that had the same id and is gone says nothing."""
    mark = read_meta(db, _name(segment), Mark)
    return mark if mark is not None and mark.segment == segment.content_name else Mark(segment.content_name)


def set_mark(batch: Batch, segment: Segment, mark: Mark) -> None:
    """Let a batch carry the mark of a segment."""
    batch.set_meta(_name(segment), msgspec.json.encode(mark))


def _name(segment: Segment) -> str:
    return f"update/{segment.id}"
