"""Compact: LevelDB gives back the room of what was replaced or removed.

Reads: crawldb. Writes: crawldb; no record changes.
Commits by: LevelDB's own manifest. If killed: the tables are as they were, or new ones; the same command goes on.
"""

from dataclasses import dataclass
from pathlib import Path

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.store.crawldb import CrawlDb


@dataclass(frozen=True)
class Sizes:
    """Bytes on disk of all partitions."""

    before: int
    after: int


def compact(crawl: Crawl, *, control: Control) -> Sizes:
    """Compact every partition."""
    paths = [crawl.layout.crawldb(p) for p in range(crawl.partitions)]
    before = sum(map(_bytes_of, paths))
    run_partitions(compact_partition, paths, parallel=crawl.cores, control=control)
    return Sizes(before, sum(map(_bytes_of, paths)))


def compact_partition(path: Path, control: Control) -> None:
    """Compact one partition; it cannot be stopped on the way."""
    with CrawlDb(path) as db:
        db.compact()


def _bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
