"""Inject: seeds enter the crawldb.

Reads: seed lines. Writes: crawldb, the list of seed hosts.
Commits by: one synced batch per partition and chunk of seeds; the hosts of a chunk are listed before it.
If killed: what was committed stays; the same command run again adds the rest.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.seeds import Seed
from batchcrawl.model.clock import Clock
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import Place
from batchcrawl.policy.admission import count_no_longer_costly, new_host
from batchcrawl.policy.priority import seed_level
from batchcrawl.policy.sitemaps import ANY_SITE, name_sitemap
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.sorted_names import add_names
from batchcrawl.web.domains import Domains
from batchcrawl.web.fingerprint import partition_of
from batchcrawl.web.urls import host_key, host_name, requested_url

CHUNK_SEEDS = 10_000


@dataclass
class InjectSummary:
    """What became of the seeds."""

    added: int = 0
    changed: int = 0
    """Known URLs that are now seeds, or have another score or interval."""
    known: int = 0
    """Seeds that were there already."""
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Placed:
    """A seed with its place in the crawl."""

    seed: Seed
    canonical: str
    fingerprint: bytes


def inject(crawl: Crawl, seeds: Iterable[Seed], *, disk: Disk, clock: Clock) -> InjectSummary:
    """Put seeds into the crawldb; a URL that is known becomes a seed and keeps its history."""
    summary = InjectSummary()
    with ExitStack() as stack:
        dbs = [stack.enter_context(CrawlDb(crawl.layout.crawldb(p))) for p in range(crawl.partitions)]
        domains = crawl.domains()
        remaining = iter(seeds)
        while chunk := list(islice(remaining, CHUNK_SEEDS)):
            placed = list(_place(crawl, chunk, summary))
            _list_hosts(crawl, placed, domains, disk)
            for p, db in enumerate(dbs):
                mine = [seed for seed in placed if partition_of(seed.fingerprint, crawl.partitions) == p]
                _apply(db, mine, domains, now=int(clock.now()), summary=summary)
    return summary


def _place(crawl: Crawl, seeds: Iterable[Seed], summary: InjectSummary) -> Iterator[_Placed]:
    fingerprinter = crawl.fingerprinter()
    for seed in seeds:
        canonical = crawl.canonical(seed.url)
        if not canonical.startswith(("http://", "https://")):
            summary.rejected[Rejection.SCHEME.value] += 1
        elif len(canonical) > crawl.job.settings.scope.url_bytes_max:
            summary.rejected[Rejection.TOO_LONG.value] += 1
        else:
            yield _Placed(seed, canonical, fingerprinter.of(canonical))


def _list_hosts(crawl: Crawl, placed: list[_Placed], domains: Domains, disk: Disk) -> None:
    names = {host_name(host_key(seed.canonical)) for seed in placed}
    add_names(disk, crawl.layout.seed_hosts, names)
    add_names(disk, crawl.layout.seed_domains, {domains.registered(name) for name in names})


def _apply(db: CrawlDb, placed: list[_Placed], domains: Domains, *, now: int, summary: InjectSummary) -> None:
    batch = db.batch()
    fresh: set[bytes] = set()
    for one in sorted(placed, key=lambda p: p.fingerprint):
        if one.fingerprint in fresh:
            summary.known += 1
            continue
        fresh.add(one.fingerprint)
        entry = db.load(one.fingerprint)
        if entry is None:
            entry = Entry.new(one.fingerprint, _new_record(one, now))
            batch.enter_host(entry.host_part, new_host(host_key(one.canonical), domains, at=now)).seed = True
            batch.put(entry)
            summary.added += 1
        elif _promote(batch, entry, one.seed):
            batch.put(entry)
            summary.changed += 1
        else:
            summary.known += 1
    if batch.size:
        batch.commit()


def _new_record(placed: _Placed, now: int) -> UrlRecord:
    seed, asked = placed.seed, requested_url(placed.seed.url)
    return UrlRecord(
        url=placed.canonical,
        fetch_url=asked if asked != placed.canonical else None,
        place=Place.READY,
        level=seed_level(seed.score),
        seed=True,
        first_seen_at=now,
        next_fetch_at=now,
        seed_interval_s=seed.interval_s,
        score=seed.score,
        metadata=seed.metadata,
        kind=seed.kind,
        sites=_sites(seed),
    )


def _sites(seed: Seed) -> list[str] | None:
    """A sitemap that the job names may speak of any site."""
    return [ANY_SITE] if seed.kind is UrlKind.SITEMAP else None


def _promote(batch: Batch, entry: Entry, seed: Seed) -> bool:
    """Make a known URL what its seed line says; return whether that changed anything."""
    record = entry.record
    wanted = (True, 0, seed.score, seed.interval_s or record.seed_interval_s, seed.metadata or record.metadata)
    named = seed.kind is UrlKind.SITEMAP and name_sitemap(record, _sites(seed) or ())
    if (record.seed, record.depth, record.score, record.seed_interval_s, record.metadata) == wanted:
        return named
    if record.depth:
        record.body_at = None  # to be parsed again: its links count as nearer now
    record.seed, record.depth, record.score, record.seed_interval_s, record.metadata = wanted
    if record.costly and (host := batch.host(entry.host_part)) is not None:
        count_no_longer_costly(host, record.url)
    record.costly = False
    if record.place is not Place.LEASED:
        record.level = max(record.level, seed_level(seed.score))
    return True
