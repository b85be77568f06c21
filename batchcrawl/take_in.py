"""Take in: a crawl is born from what `write_out` has written, with as many partitions as its job asks for.

Reads: JSON lines. Writes: a new crawldb, lists of seed hosts, public suffix list.
Commits by: crawl.toml, written last.
If killed: there is no crawl yet; the same command begins again.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import NoReturn

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.job.crawl import require_unborn
from batchcrawl.job.load import Job
from batchcrawl.model.host import RateCounts
from batchcrawl.model.status import Place
from batchcrawl.policy.host_prior import add
from batchcrawl.policy.recrawl import returned_place
from batchcrawl.store import changing, keys
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FORMAT_VERSION, Identity, write_identity
from batchcrawl.store.layout import Layout
from batchcrawl.store.portable import (
    CrawlLine,
    DomainLine,
    HostLine,
    PortableLine,
    SeedDomainLine,
    SeedHostLine,
    UrlLine,
    record_of,
)
from batchcrawl.store.rates_mark import set_rates
from batchcrawl.store.seen_keys import contents_of, keys_of, owner_of
from batchcrawl.store.sorted_names import add_names
from batchcrawl.web.domains import Domains
from batchcrawl.web.fingerprint import Fingerprinter, partition_of

Placed = tuple[str, PortableLine]
"""A line and where it stands, as `file:line`."""


@dataclass
class TakenIn:
    """What was taken in."""

    urls: int = 0
    hosts: int = 0
    leased: int = 0
    """URLs that a segment had, which is not here: they may be taken again."""


def take_in(job: Job, lines: Iterable[Placed], *, cores: int, disk: Disk) -> TakenIn:
    """Make the crawl of a job that has none yet. Raises UsageError where there is one, or for a wrong line.

    Each line must be right by itself; what follows from the records (counts, index entries) is made anew.
    """
    layout, remaining = Layout(job.data_dir), iter(lines)
    if layout.identity.exists():
        raise UsageError(f"{job.name} is crawled already, in {layout.root}; import makes a new crawl: take another job")
    if not layout.importing.exists():
        require_unborn(layout)
    first = next(remaining, None)
    if first is None:
        raise UsageError("there is no line to import")
    identity = _identity(job, first, cores)
    disk.write_file(layout.importing, b"")
    _begin(layout, identity, first[1], disk)
    with ExitStack() as stack:
        dbs = [stack.enter_context(CrawlDb(layout.crawldb(p))) for p in range(identity.partitions)]
        taken = _Taker(layout, dbs, disk).take(remaining)
    write_identity(disk, layout.identity, identity)
    disk.remove(layout.importing)
    return taken


def _identity(job: Job, first: Placed, cores: int) -> Identity:
    place, line = first
    assert isinstance(line, CrawlLine)  # read_portable holds that
    if line.format > FORMAT_VERSION:
        raise UsageError(f"{place}: format {line.format} is newer than this program's {FORMAT_VERSION}")
    facts = {"canonical_steps": line.canonical_steps, "hash": line.hash, "signature": line.signature}
    try:
        return msgspec.convert({"partitions": job.settings.crawl.partitions_for(cores), **facts}, Identity)
    except msgspec.MsgspecError as error:
        raise UsageError(f"{place}: {error}") from error


def _begin(layout: Layout, identity: Identity, line: PortableLine, disk: Disk) -> None:
    """Make empty databases in the place of what an import that was cut has left."""
    assert isinstance(line, CrawlLine)
    disk.remove_tree(layout.crawldbs)
    disk.remove(layout.seed_hosts)
    disk.remove(layout.seed_domains)
    disk.make_dir(layout.segments)
    for p in range(identity.partitions):
        disk.make_dir(layout.crawldb(p).parent)
        CrawlDb(layout.crawldb(p), create=True).close()
    disk.sync_dir(layout.crawldbs)
    disk.write_file(layout.suffix_list, line.suffix_list.encode("utf-8"))


@dataclass
class _Taker:
    """Takes lines into the databases of all partitions."""

    layout: Layout
    dbs: list[CrawlDb]
    disk: Disk
    taken: TakenIn = field(default_factory=TakenIn)
    _last: bytes = b""

    def __post_init__(self) -> None:
        self._rates = [RateCounts() for _ in self.dbs]
        self._fingerprinter = Fingerprinter(Domains(self.layout.suffix_list.read_text(encoding="utf-8")))

    def take(self, lines: Iterator[Placed]) -> TakenIn:
        """Take all lines in, as many at once as fit into a batch a partition."""
        while chunk := list(islice(lines, changing.BATCH_URLS)):
            for kind, path in ((SeedHostLine, self.layout.seed_hosts), (SeedDomainLine, self.layout.seed_domains)):
                if names := [line.name for _, line in chunk if isinstance(line, kind)]:
                    add_names(self.disk, path, names)
            batches = [db.batch() for db in self.dbs]
            for place, line in chunk:
                try:
                    self._take(batches, line)
                except ValueError as error:
                    raise UsageError(f"{place}: {error}") from error
            for batch, rates in zip(batches, self._rates, strict=True):
                if rates.pages:
                    set_rates(batch, rates)
                batch.commit()
        return self.taken

    def _take(self, batches: list[Batch], line: PortableLine) -> None:
        if isinstance(line, DomainLine):
            part = bytes.fromhex(line.part)
            if len(part) not in (keys.DOMAIN_PART_BYTES, 2 * keys.DOMAIN_PART_BYTES):
                raise ValueError(f"{line.part!r} is no key of a domain")
            line.record.urls = 0
            batches[partition_of(part, len(batches))].enter_domain(part, line.record)
        elif isinstance(line, HostLine):
            part = self._fingerprinter.of_host(line.record.host)
            line.record.urls = {}
            partition = partition_of(part, len(batches))
            batches[partition].enter_host(part, line.record)
            if line.record.rates is not None:
                add(self._rates[partition], line.record.rates.pages, line.record.rates.rate_sum)
            self.taken.hosts += 1
        elif isinstance(line, UrlLine):
            self._take_url(batches, line)

    def _take_url(self, batches: list[Batch], line: UrlLine) -> None:
        fingerprint, record = bytes.fromhex(line.fp), record_of(line.record)
        if fingerprint != self._fingerprinter.of(record.url):
            raise ValueError(f"{line.fp!r} is not the fingerprint of {record.url!r}")
        if fingerprint <= self._last:
            raise ValueError("URLs must come in the order of their fingerprints, each once")
        self._last = fingerprint
        if record.place is Place.LEASED:
            record.place = returned_place(record, record.lease or 0)
            self.taken.leased += 1
        record.lease = None
        entry = Entry.new(fingerprint, record)
        batch = batches[partition_of(fingerprint, len(batches))]
        if batch.host(entry.host_part) is None:
            _no_host(record.url)
        batch.put(entry)
        for key in (key for content in contents_of(fingerprint, record) for key in keys_of(content)):
            batches[owner_of(key, len(batches))].put_seen(key)
        self.taken.urls += 1


def _no_host(url: str) -> NoReturn:
    raise ValueError(f"no line before says of the host of {url!r}")
