"""Enter: the URLs of a list come into the crawldb, so that a segment can be made of them.

Reads: the list, crawldb. Writes: crawldb.
Commits by: synced batches in the order of fingerprints.
If killed: what was committed stays, ready; the same command run again enters the rest.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.seeds import Seed
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import Place
from batchcrawl.policy.admission import new_host
from batchcrawl.policy.priority import link_level
from batchcrawl.policy.scope import Scope
from batchcrawl.store.changing import change_urls
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.urls import host_key, requested_url


@dataclass
class Entered:
    """What became of a list."""

    fingerprints: list[bytes] = field(default_factory=list)
    """Of all URLs that were taken, those that were known included."""
    new: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Listed:
    canonical: str
    fetch_url: str | None
    hops: int


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    partition: int
    listed: dict[bytes, _Listed]
    """By fingerprint."""
    now: int


def enter(crawl: Crawl, seeds: Iterable[Seed], *, scoped: bool, now: int, control: Control) -> Entered:
    """Let the URLs of a list in that are not known; they are no seeds. `now` is in seconds since 1970.

    Only if `scoped` the rules of the job are asked. Memory is that of the list.
    """
    entered = Entered()
    scope, fingerprinter = crawl.scope(), crawl.fingerprinter()
    listed: list[dict[bytes, _Listed]] = [{} for _ in range(crawl.partitions)]
    for seed in seeds:
        canonical = crawl.canonical(seed.url)
        host = host_key(canonical)
        hops = 0 if scope.owns(host) else 1
        rejection = _rejection(crawl, scope if scoped else None, canonical, hops)
        if rejection is not None:
            entered.rejected[rejection.value] += 1
            continue
        fingerprint, asked = fingerprinter.of(canonical), requested_url(seed.url)
        one = _Listed(canonical, asked if asked != canonical else None, hops)
        listed[partition_of(fingerprint, crawl.partitions)].setdefault(fingerprint, one)
    tasks = [_Task(crawl, p, of_partition, now) for p, of_partition in enumerate(listed)]
    entered.new = sum(run_partitions(enter_partition, tasks, parallel=crawl.cores, control=control))
    entered.fingerprints = [fingerprint for of_partition in listed for fingerprint in sorted(of_partition)]
    return entered


def enter_partition(task: _Task, control: Control) -> int:
    """Let the URLs of one partition in that it does not know; return how many."""
    new, seen, domains = 0, 0, task.crawl.domains()

    def enter_url(batch: Batch, fingerprint: bytes, entry: Entry | None) -> None:
        if entry is None:
            one = task.listed[fingerprint]
            entry = Entry.new(fingerprint, _new_record(one, task.now))
            batch.enter_host(entry.host_part, new_host(host_key(one.canonical), domains, at=task.now))
            batch.put(entry)

    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        for step in change_urls(db, sorted(task.listed), enter_url):
            new, seen = new + step.changed, seen + step.seen
            control.report(Progress(seen, len(task.listed)))
            control.raise_if_stopping()
    return new


def _rejection(crawl: Crawl, scope: Scope | None, canonical: str, hops: int) -> Rejection | None:
    if not canonical.startswith(("http://", "https://")):
        return Rejection.SCHEME
    if len(canonical) > crawl.job.settings.scope.url_bytes_max:
        return Rejection.TOO_LONG
    if scope is None:
        return None
    return scope.decide(canonical, host=host_key(canonical), depth=0, hops=hops).rejection


def _new_record(one: _Listed, now: int) -> UrlRecord:
    return UrlRecord(
        url=one.canonical,
        fetch_url=one.fetch_url,
        place=Place.READY,
        level=link_level(0),
        hops=one.hops,
        first_seen_at=now,
        next_fetch_at=now,
    )
