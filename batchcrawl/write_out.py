"""Write out: the crawldb leaves as JSON lines, from which `take_in` makes another crawl.

Reads: crawldb, lists of seed hosts, public suffix list. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections.abc import Iterator

from msgspec import structs

from batchcrawl.job.crawl import Crawl
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.portable import (
    CrawlLine,
    DomainLine,
    HostLine,
    PortableLine,
    SeedDomainLine,
    SeedHostLine,
    UrlLine,
    record_row,
)
from batchcrawl.store.segment import require_none_half_applied
from batchcrawl.store.sorted_names import SortedNames


def write_out(crawl: Crawl) -> Iterator[PortableLine]:
    """Yield the whole crawldb, in an order in which it can be taken in line by line.

    Raises WrongOrder while a segment is half applied or a purge is not ended: then records do not agree.
    """
    crawl.require_no_purge()
    require_none_half_applied(crawl.layout, crawl.job.argument)
    identity, layout = crawl.identity, crawl.layout
    yield CrawlLine(
        format=identity.format,
        canonical_steps=identity.canonical_steps,
        hash=identity.hash,
        signature=identity.signature,
        suffix_list=layout.suffix_list.read_text(encoding="utf-8"),
    )
    yield from (SeedHostLine(name=name) for name in SortedNames(layout.seed_hosts))
    yield from (SeedDomainLine(name=name) for name in SortedNames(layout.seed_domains))
    for p in range(crawl.partitions):
        with CrawlDb(layout.crawldb(p)) as db:
            for part, domain in db.domains():
                yield DomainLine(part=part.hex(), record=structs.replace(domain, urls=0))
    for p in range(crawl.partitions):
        with CrawlDb(layout.crawldb(p)) as db:
            for _, host in db.hosts():
                yield HostLine(record=structs.replace(host, urls={}))
    for p in range(crawl.partitions):
        with CrawlDb(layout.crawldb(p)) as db:
            for fingerprint, record in db.records():
                yield UrlLine(fp=fingerprint.hex(), record=record_row(record))
