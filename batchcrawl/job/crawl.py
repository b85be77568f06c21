"""An opened crawl: its job, where it lies, and what was fixed at its birth."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from batchcrawl.errors import CorruptData, UsageError, WrongOrder
from batchcrawl.job.load import Job
from batchcrawl.job.seed_files import job_seeds
from batchcrawl.job.seeds import Seed
from batchcrawl.policy.scope import Hosts, Scope
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import Identity, read_identity, write_identity
from batchcrawl.store.layout import Layout
from batchcrawl.store.sorted_names import SortedNames
from batchcrawl.web.domains import Domains, bundled_list
from batchcrawl.web.fingerprint import Fingerprinter
from batchcrawl.web.urls import canonicalise, host_key, host_name


@dataclass(frozen=True)
class Crawl:
    """What every step of a crawl needs; a value that may be sent to another process."""

    job: Job
    layout: Layout
    identity: Identity

    @property
    def partitions(self) -> int:
        """How many partitions the crawl has."""
        return self.identity.partitions

    @property
    def cores(self) -> int:
        """How many partitions a step runs at once."""
        return os.cpu_count() or 1

    def fingerprinter(self) -> Fingerprinter:
        """Return a new fingerprinter by the public suffix list of the crawl's birth."""
        return Fingerprinter(self.domains())

    def domains(self) -> Domains:
        """Return the registered domains by the public suffix list of the crawl's birth."""
        return Domains(self.layout.suffix_list.read_text(encoding="utf-8"))

    def scope(self) -> Scope:
        """Return what decides which links are taken, by the job's rules and the crawl's seeds."""
        hosts, seed_domains = SortedNames(self.layout.seed_hosts), SortedNames(self.layout.seed_domains)
        return self._scope(hosts.__contains__, seed_domains.__contains__)

    def require_no_purge(self) -> None:
        """Raise WrongOrder while a purge is decided and not done: what it has settled must hold when it goes on."""
        if self.layout.purge.is_dir():
            raise WrongOrder(f"a purge was cut; run 'batchcrawl purge {self.job.argument}' first, which ends it")

    def canonical(self, url: str) -> str:
        """Return the canonical form of a serialised URL by the steps fixed at birth."""
        return canonicalise(url, frozenset(self.identity.canonical_steps))

    def _scope(self, is_seed_host: Callable[[str], bool], is_seed_domain: Callable[[str], bool]) -> Scope:
        within = self.job.settings.scope.within
        domains = self.domains()

        def has_seed(host: str) -> bool:
            name = host_name(host)
            return is_seed_host(name) or (within == "seed-domain" and is_seed_domain(domains.registered(name)))

        return Scope(self.job.scope, Hosts(has_seed, domains.registered))


@dataclass(frozen=True)
class UnbornCrawl(Crawl):
    """What inject would make of a job that has no crawl yet; nothing of it is on disk."""

    def domains(self) -> Domains:
        """Return the registered domains by the list that a crawl is born with today."""
        return Domains(bundled_list())

    def scope(self) -> Scope:
        """Return what decides which links are taken, by the job's rules and the seeds that the job names."""
        seeds = [seed for seed in job_seeds(self.job) if isinstance(seed, Seed)]
        names = {host_name(host_key(self.canonical(seed.url))) for seed in seeds}
        registered = self.domains().registered
        return self._scope(names.__contains__, {registered(name) for name in names}.__contains__)


def open_or_plan(job: Job) -> Crawl:
    """Open the crawl of a job, or return what inject would make of it. Raises as `open_crawl` for a damaged one."""
    layout = Layout(job.data_dir)
    if layout.identity.exists() or layout.restoring.exists():
        return open_crawl(job)
    require_unborn(layout)
    return UnbornCrawl(job, layout, _identity_at_birth(job))


def open_crawl(job: Job) -> Crawl:
    """Open the crawl of a job. Raises UsageError when it is not born yet, CorruptData when it lost its crawl.toml."""
    layout = Layout(job.data_dir)
    _require_no_restore(job, layout)
    if not layout.identity.exists():
        require_unborn(layout)
        raise UsageError(f"{job.name}: nothing is crawled yet; run 'batchcrawl inject {job.argument}' first")
    return Crawl(job, layout, read_identity(layout.identity))


def open_or_create(job: Job, disk: Disk) -> Crawl:
    """Open the crawl of a job, or bring it to life: crawl.toml is written last and is the commit act.

    Raises CorruptData when it lost its crawl.toml.
    """
    layout = Layout(job.data_dir)
    if layout.identity.exists() or layout.restoring.exists():
        return open_crawl(job)
    require_unborn(layout)
    identity = _identity_at_birth(job)
    disk.make_dir(layout.segments)
    for partition in range(identity.partitions):
        disk.make_dir(layout.crawldb(partition).parent)
        CrawlDb(layout.crawldb(partition), create=True).close()
    disk.sync_dir(layout.crawldbs)
    disk.write_file(layout.suffix_list, bundled_list().encode("utf-8"))
    write_identity(disk, layout.identity, identity)
    return Crawl(job, layout, identity)


def _identity_at_birth(job: Job) -> Identity:
    wanted = job.settings.crawl
    return Identity(partitions=wanted.partitions_for(os.cpu_count() or 1), canonical_steps=tuple(wanted.steps()))


def require_unborn(layout: Layout) -> None:
    """Raise CorruptData for a crawl that has had seeds or segments: a birth that was cut leaves an empty database.

    Raises WrongOrder for one whose import was cut.
    """
    if layout.importing.exists():
        raise WrongOrder(f"{layout.root}: an import was cut; run 'batchcrawl db import' again")
    if layout.seed_hosts.exists() or layout.segment_ids():
        raise CorruptData(
            f"{layout.identity} is missing but crawldb/ is there; put the file back from a copy, "
            f"or move {layout.root} away to begin anew"
        )


def fixed_at_birth(job: Job, identity: Identity) -> list[str]:
    """Return a line for each setting of the job that asks for something else than what the crawl was born with."""
    wanted = job.settings.crawl
    lines = []
    if wanted.partitions not in (None, identity.partitions):
        lines.append(_says_else("crawl.partitions", wanted.partitions, identity.partitions))
    if wanted.canonical_steps and wanted.steps() != identity.canonical_steps:
        lines.append(_says_else("crawl.canonical_steps", list(wanted.steps()), list(identity.canonical_steps)))
    return [f"{job.shown}: {line}" for line in lines]


def _says_else(setting: str, wanted: object, born: object) -> str:
    return f"{setting} is fixed at birth: {born} is in force and not {wanted}; another value takes a new crawl"


def _require_no_restore(job: Job, layout: Layout) -> None:
    if layout.restoring.exists():
        raise WrongOrder(
            f"{job.name}: a restore was cut, so the crawl is a mixture; {layout.restoring} names the snapshot, "
            f"and 'batchcrawl restore {job.argument} NAME' goes on with it"
        )
