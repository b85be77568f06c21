"""Standing: how a crawl stands at a glance, its segments and its hosts.

Reads: crawldb, manifests of the segments. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import msgspec

from batchcrawl.job.budgeting import seen_budget
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.day_bytes import bytes_today
from batchcrawl.job.freshness import Freshness, freshness
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.budget import BudgetState
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.budget import used_on_day_of
from batchcrawl.policy.domain_state import put_off_until
from batchcrawl.policy.limits import Load, limit_of
from batchcrawl.store import keys
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.lock import holder_of
from batchcrawl.store.records import lines_so_far
from batchcrawl.store.rounds import Round, round_of
from batchcrawl.store.segment import COMMANDS, STEPS, Segment
from batchcrawl.web.domains import list_version


@dataclass
class TrapStatus:
    """What a crawl has met of one trap, or of one budget."""

    urls: int = 0
    """Known URLs that it made costly."""
    rejected: int = 0
    """Links that it kept out."""
    hosts: int = 0
    """Hosts, or registered domains, that it was met on."""
    most: str = ""
    """The one of them with the most of both."""
    most_of_both: int = 0

    def add(self, name: str, *, urls: int, rejected: int) -> None:
        """Add what was met on one host or domain."""
        self.urls += urls
        self.rejected += rejected
        self.hosts += 1
        if urls + rejected > self.most_of_both:
            self.most, self.most_of_both = name, urls + rejected


HORIZONS_S = {"due_1h": 3600, "due_1d": 86_400, "due_7d": 7 * 86_400}
"""How far ahead it is counted what comes due."""
ROUNDS_MAX = 10
HOSTS_MAX = 5
FAILURES = frozenset(
    {"server_error", "timeout", "connect_failed", "dns_failed", "tls_failed", "protocol_error", "redirect_invalid"}
    | {"deferred", "denied", "address_refused", "robots_denied"}
)
"""Outcomes of URLs that did not give what was asked for, though they may have it."""


@dataclass(frozen=True)
class HostBrief:
    """A host and the number that brought it into a list."""

    host: str
    number: float


@dataclass
class TopHosts:
    """The hosts with the largest numbers."""

    busiest: list[HostBrief] = field(default_factory=list)
    """By requests for pages so far."""
    slowest: list[HostBrief] = field(default_factory=list)
    """By the time to the whole answer, in seconds."""
    put_off: list[HostBrief] = field(default_factory=list)
    """By the instant until which they are put off."""

    def add(self, host: HostRecord, *, put_off: float | None) -> None:
        """Let a host take its place."""
        for top, number in ((self.busiest, host.requests), (self.slowest, host.response_s), (self.put_off, put_off)):
            if number:
                top[:] = nlargest(HOSTS_MAX, [*top, HostBrief(host.host, number)], key=lambda brief: brief.number)


@dataclass
class CrawlStatus:
    """What a crawl knows and what it has done."""

    known: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    hosts: int = 0
    put_off_hosts: int = 0
    ready: int = 0
    """URLs that generate may take now, those of hosts put off included."""
    out: int = 0
    """URLs that are leased to a segment."""
    timers: int = 0
    """URLs that come due later."""
    next_due_at: int | None = None
    due_1h: int = 0
    """URLs that may be taken within an hour, those that may be now included."""
    due_1d: int = 0
    due_7d: int = 0
    duplicates: int = 0
    """Pages whose text is known under another URL."""
    due_hosts: int = 0
    """Hosts with URLs that may be taken now, put off or not."""
    due_hosts_put_off: int = 0
    requests: int = 0
    body_bytes: int = 0
    suffix_list: str | None = None
    """Version of the public suffix list that the crawl was born with, its date first; None where it states none."""
    segments: int = 0
    unfinished: dict[str, str] = field(default_factory=dict)
    """Segments with a step left, and that step's stamp."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Segments that are not fetched to the end, and how many of their URLs have their outcome."""
    at_work: int | None = None
    """The process that works on the crawl now."""
    rounds: list[Round] = field(default_factory=list)
    """The newest, at most ROUNDS_MAX, oldest first."""
    errors: Counter[str] = field(default_factory=Counter)
    """How often fetches failed in these rounds, by outcome."""
    top_hosts: TopHosts = field(default_factory=TopHosts)
    limit: str = ""
    """What limits the crawl now, in a sentence."""
    traps: dict[str, TrapStatus] = field(default_factory=dict)
    """By trap or budget: calendar, facets, duplicates, path_depth, ..., host_budget, domain_budget."""
    price: float = 0.0
    """What the last refetch that is taken is worth, in weighted days; pages worth less than the floor only wait."""
    floor: float = 0.0
    budget: BudgetState | None = None
    """How the budget of refetches stands; None without one."""
    refetches_today: int | None = None
    """Refetches leased since midnight, UTC; None without a budget."""
    bytes_today: int | None = None
    """Bytes of bodies since midnight, UTC, with what segments will bring that are not fetched; None without a limit."""
    freshness: Freshness | None = None
    """None unless asked for."""


def crawl_status(crawl: Crawl, *, now: float, full: bool = False) -> CrawlStatus:
    """Return the state of a crawl; costs a look at every host and index entry, if `full` at every URL record."""
    status = CrawlStatus(suffix_list=list_version(crawl.layout.suffix_list.read_text("utf-8")))
    status.budget = seen_budget(crawl)
    prices = update_rules(crawl, status.budget).in_force
    status.price, status.floor = prices.price, prices.floor
    if status.budget is not None:
        status.refetches_today = used_on_day_of(status.budget, now)
    if crawl.job.settings.generate.bytes_day_max is not None:
        status.bytes_today = bytes_today(crawl, now=now)
    if full:
        status.freshness = freshness(crawl, now=now)
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            _add_partition(status, db, now)
    status.out = status.known - status.ready - status.timers
    status.at_work = holder_of(crawl.layout.lock)
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        status.segments += 1
        step = segment.next_step()
        if step is not None:
            status.unfinished[name] = step
        if step == "fetched":
            status.outcomes[name] = sum(lines_so_far(segment.paths.fetch_log(p)) for p in range(crawl.partitions))
        status.rounds = [*status.rounds, round_of(segment)][-ROUNDS_MAX:]
    for done in status.rounds:
        status.errors.update({name: urls for name, urls in done.outcomes.items() if name in FAILURES})
    status.duplicates = status.statuses["duplicate"]
    status.limit = limit_of(_load(crawl, status, now))
    return status


def _load(crawl: Crawl, status: CrawlStatus, now: float) -> Load:
    settings = crawl.job.settings
    done = [told for told in status.rounds if "update" in told.seconds]
    waiting = next(iter(status.unfinished.items()), None) if status.at_work is None else None
    return Load(
        due=status.ready,
        due_hosts=status.due_hosts,
        due_hosts_put_off=status.due_hosts_put_off,
        later=status.timers,
        next_due_s=None if status.next_due_at is None else max(0.0, status.next_due_at - now),
        threads=settings.fetch.threads,
        delay_s=settings.politeness.delay_min_s,
        free_bytes=shutil.disk_usage(crawl.layout.root).free,
        floor_bytes=settings.fetch.disk_free_min,
        round_bytes=done[-1].body_bytes if done else 0,
        unfetched=status.statuses["unfetched"],
        refetches_today=status.refetches_today or 0,
        budget=None if status.budget is None else status.budget.budget,
        bytes_today=status.bytes_today or 0,
        bytes_day_max=settings.generate.bytes_day_max,
        steps_s=done[-1].seconds if done else {},
        unfinished=None if waiting is None else f"batchcrawl {COMMANDS[waiting[1]]} {crawl.job.argument}",
    )


def segment_rows(crawl: Crawl) -> list[dict[str, Any]]:
    """Return one row a segment, oldest first: id, URLs, hosts, its last step and what its steps counted."""
    rows: list[dict[str, Any]] = []
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        done = [step for step in STEPS if segment.is_done(step)]
        counts = {key: n for info in segment.manifest.steps.values() for key, n in info.counts.items()}
        rows.append(
            {
                "id": name,
                "urls": segment.manifest.urls,
                "hosts": segment.manifest.hosts,
                "state": done[-1] if done else "begun",
                "fetched": counts.get("fetched", 0),
                "new": counts.get("new", 0),
                "body_bytes": counts.get("body_bytes", 0),
            }
        )
    return rows


class HostRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a host stands."""

    host: str
    known: int
    fetched: int = 0
    due: int = 0
    """URLs that may be taken now."""
    waiting: int = 0
    """URLs that come due later."""
    delay_s: float | None = None
    reason: str = "not asked yet"
    """What the delay comes from, or why the host is put off."""
    response_s: float | None = None
    failures: int = 0
    put_off_until: float | None = None
    requests: int = 0
    body_bytes: int = 0


def host_rows(crawl: Crawl, *, now: float) -> Iterator[HostRow]:
    """Yield how every host stands, in the order of domains' keys; ready URLs and timers are counted one by one."""
    politeness = crawl.job.settings.politeness
    rules = (politeness.delay_min_s, politeness.delay_max_s)
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            due, later = _timers_by_host(db, now)
            for part, host in db.hosts():
                domain = db.domain(part, host)
                put_off = put_off_until(host, domain)
                yield HostRow(
                    host=host.host,
                    known=sum(host.urls.values()),
                    fetched=host.urls.get(PageStatus.FETCHED, 0) + host.urls.get(PageStatus.DUPLICATE, 0),
                    due=sum(1 for _ in db.ready(part)) + due[part],
                    waiting=later[part],
                    delay_s=host.delay_s,
                    reason=_why_put_off(host, domain, rules) if put_off > now else _why_delay(host, rules),
                    response_s=host.response_s,
                    failures=host.failures,
                    put_off_until=put_off if put_off > now else None,
                    requests=host.requests,
                    body_bytes=host.body_bytes,
                )


def _timers_by_host(db: CrawlDb, now: float) -> tuple[Counter[bytes], Counter[bytes]]:
    """Count by host part the URLs whose timers are due, and the others."""
    due: Counter[bytes] = Counter()
    later: Counter[bytes] = Counter()
    for key in db.waiting():
        counted = due if keys.timer_instant(key) <= now else later
        counted[keys.timer_fingerprint(key)[: keys.HOST_PART_BYTES]] += 1
    return due, later


_Bounds = tuple[float, float]
"""The job's delay_min and delay_max, in seconds."""


def _why_put_off(host: HostRecord, domain: DomainRecord | None, bounds: _Bounds) -> str:
    if domain is not None and (domain.deferred_until or 0.0) > (host.deferred_until or 0.0):
        return f"put off: hosts of {domain.domain} answered 429 or 503 {domain.refusals} times in a row"
    if host.robots is not None and host.robots.is_unreachable(host.robots.fetched_at):
        return f"put off: robots.txt cannot be had: {host.robots.detail}"
    if (host.crawl_delay_s or 0) >= (host.delay_s or 0) > bounds[1]:
        return f"put off: its Crawl-delay of {host.crawl_delay_s:g} s is above the job's delay_max"
    return f"put off: it refused or failed {'once' if host.failures == 1 else f'{host.failures} times in a row'}"


def _why_delay(host: HostRecord, bounds: _Bounds) -> str:
    if host.delay_s is None:
        return "not asked yet"
    if host.crawl_delay_s is not None and host.crawl_delay_s >= host.delay_s:
        return "Crawl-delay of its robots.txt"
    return "slow answers" if host.delay_s > bounds[0] else "the job's delay_min"


def _add_traps(status: CrawlStatus, name: str, *, costly: dict[str, int], rejected: dict[str, int]) -> None:
    links = {reason.removeprefix("trap_"): times for reason, times in rejected.items()}
    for trap in costly.keys() | links.keys():
        of_trap = status.traps.setdefault(trap, TrapStatus())
        of_trap.add(name, urls=costly.get(trap, 0), rejected=links.get(trap, 0))


def _add_partition(status: CrawlStatus, db: CrawlDb, now: float) -> None:
    for _, domain in db.domains():
        _add_traps(status, domain.domain, costly={}, rejected=domain.rejected)
    due = _add_due(status, db, now)
    for part, host in db.hosts():
        _add_traps(status, host.host, costly=host.costly, rejected=host.rejected)
        status.hosts += 1
        status.requests += host.requests
        status.body_bytes += host.body_bytes
        put_off = put_off_until(host, db.domain(part, host))
        status.top_hosts.add(host, put_off=put_off if put_off > now else None)
        status.put_off_hosts += put_off > now
        status.due_hosts += part in due
        status.due_hosts_put_off += part in due and put_off > now
        for number, urls in host.urls.items():
            status.statuses[PageStatus(number).name.lower()] += urls
            status.known += urls


def _add_due(status: CrawlStatus, db: CrawlDb, now: float) -> set[bytes]:
    """Count what is due when; return the host parts that have URLs due now."""
    hosts = set(db.ready_hosts())
    ready = sum(1 for _ in db.keys(b"r"))
    within = dict.fromkeys(HORIZONS_S, ready)
    for key in db.waiting():
        due_at = keys.timer_instant(key)
        for name, horizon_s in HORIZONS_S.items():
            within[name] += due_at <= now + horizon_s
        if due_at <= now:
            ready += 1
            hosts.add(keys.timer_fingerprint(key)[: keys.HOST_PART_BYTES])
            continue
        status.timers += 1
        if status.next_due_at is None or due_at < status.next_due_at:
            status.next_due_at = due_at
    status.ready += ready
    for name, urls in within.items():
        setattr(status, name, getattr(status, name) + urls)
    return hosts
