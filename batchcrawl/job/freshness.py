"""How much of what a crawl has stored is still right, as far as is believed of its pages."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import groupby

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.recrawl import STORED, Intervals, belief_of, weight_of
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.policy.value import still_right
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.keys import HOST_PART_BYTES
from batchcrawl.store.rates_mark import read_rates
from batchcrawl.web.urls import host_key

WORST_MAX = 10


@dataclass
class HostFreshness:
    """The expected share of a host's copies that are still right."""

    host: str
    copies: int = 0
    plain: float = 0.0
    weighted: float = 0.0
    stale_weight: float = 0.0
    """Weight of its copies that are expected to be wrong."""


@dataclass
class Freshness:
    """The expected share of the stored copies that are still right."""

    copies: int = 0
    plain: float = 0.0
    weighted: float = 0.0
    """Each copy by the weight of its page."""
    worst: list[HostFreshness] = field(default_factory=list)
    """The hosts with the most stale weight, at most WORST_MAX, the most first."""


@dataclass
class _Sum:
    copies: int = 0
    right: float = 0.0
    weights: float = 0.0
    weighted: float = 0.0

    def add(self, *, weight: float, chance: float) -> None:
        self.copies, self.right = self.copies + 1, self.right + chance
        self.weights, self.weighted = self.weights + weight, self.weighted + weight * chance

    def add_all(self, other: "_Sum") -> None:
        self.copies, self.right = self.copies + other.copies, self.right + other.right
        self.weights, self.weighted = self.weights + other.weights, self.weighted + other.weighted


def freshness(crawl: Crawl, *, now: float) -> Freshness:
    """Estimate how fresh the stored copies are; costs a look at every URL record."""
    rules, total, worst = update_rules(crawl, None), _Sum(), list[HostFreshness]()
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for host, found in _by_host(db, rules, now):
                total.add_all(found)
                worst.append(_told(host, found))
                if len(worst) > 100 * WORST_MAX:
                    worst = _worst(worst)
    if not total.copies:
        return Freshness()
    return Freshness(total.copies, total.right / total.copies, total.weighted / total.weights, _worst(worst))


def _by_host(db: CrawlDb, rules: UpdateRules, now: float) -> Iterator[tuple[str, _Sum]]:
    priors = Priors(read_rates(db))
    stored = ((fp, record) for fp, record in db.records() if record.status in STORED and record.last_fetch_at)
    for part, entries in groupby(stored, key=lambda entry: entry[0][:HOST_PART_BYTES]):
        found, name, prior = _Sum(), "", priors.of(db.host(part))
        for _, record in entries:
            intervals = rules.of(record, prior)
            found.add(weight=weight_of(record, intervals), chance=_chance(record, intervals, now))
            name = name or host_key(record.url)
        yield name, found


def _chance(record: UrlRecord, intervals: Intervals, now: float) -> float:
    return still_right(belief_of(record, intervals.prior), (now - (record.last_fetch_at or 0)) / DAY_S)


def _told(host: str, found: _Sum) -> HostFreshness:
    plain, weighted = found.right / found.copies, found.weighted / found.weights
    return HostFreshness(host, found.copies, plain, weighted, found.weights - found.weighted)


def _worst(hosts: list[HostFreshness]) -> list[HostFreshness]:
    return nlargest(WORST_MAX, hosts, key=lambda host: host.stale_weight)
