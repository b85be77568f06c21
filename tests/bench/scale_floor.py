"""What LevelDB alone takes for the links of a segment: each target read once, in order, and nothing done with it."""

import time
from dataclasses import dataclass

import plyvel

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import Line
from batchcrawl.store.crawldb import Tuning
from batchcrawl.store.keys import url_key
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment


class _Target(Line):
    fp: str


@dataclass(frozen=True)
class _Reading:
    crawl: Crawl
    segment: Segment
    partition: int


def floor_cpu_s(crawl: Crawl, segment: Segment) -> float:
    """Return the processor time that reading the targets of a segment's links takes, of all partitions together."""
    tasks = [_Reading(crawl, segment, p) for p in range(crawl.partitions)]
    return sum(run_partitions(read_partition, tasks, parallel=crawl.cores, control=Control()))


def read_partition(task: _Reading, control: Control) -> float:
    """Return the processor time of one partition's reads, without that of LevelDB's own thread."""
    paths = task.segment.listed("parse", end=f".links-{task.partition}.jsonl.zst")
    targets = sorted({bytes.fromhex(line.fp) for path in paths for line in read_lines(path, _Target)})
    tuning = Tuning()
    db = plyvel.DB(
        str(task.crawl.layout.crawldb(task.partition)),
        lru_cache_size=tuning.cache_bytes,
        bloom_filter_bits=tuning.bloom_bits,
    )
    started = time.thread_time()
    for target in targets:
        db.get(url_key(target), verify_checksums=True)
    spent = time.thread_time() - started
    db.close()
    return spent
