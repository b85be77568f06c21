"""The hosts whose URLs generate may take now, how many of each, and which: read from the ready index alone.

Only a condition that asks for more than the host has records read as well.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice, takewhile
from typing import NamedTuple

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.conditions import Condition, holds, holds_on
from batchcrawl.policy.day_limits import used_on
from batchcrawl.policy.domain_state import put_off_until
from batchcrawl.policy.mix import Mix
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.policy.selection import Limits, host_limit, shared_by_hosts
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN
from batchcrawl.store import keys
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.limits_file import LimitsFile
from batchcrawl.web.urls import host_name


class Candidate(NamedTuple):
    """A host that has ready URLs."""

    host_part: bytes
    host: HostRecord
    limit: int | None
    """How many it may give; None for no limit."""


def candidates(db: CrawlDb, limits: Limits, *, now: float, turn: int) -> Iterator[Candidate]:
    """Yield the hosts that have ready URLs and are not put off at `now`, in the order of their parts.

    `turn` differs from segment to segment, see `policy.selection.shared_by_hosts`.
    """
    listed = None if limits.file is None else LimitsFile(limits.file)
    if not _asks_of_domains(limits) and listed is None:
        yield from _askable(db, limits, None, db.ready_hosts(), now=now)
        return
    for _, host_parts in groupby(db.ready_hosts(), key=lambda part: part[: keys.DOMAIN_PART_BYTES]):
        # Their records are read once more in the end: a domain may have more hosts than memory has room for.
        hosts: list[tuple[bytes, int]] = []
        urls_max, hosts_max = limits.domain_urls_max, limits.domain_hosts_max
        for one in _askable(db, limits, listed, host_parts, now=now):
            of_domain = None if listed is None or hosts else listed.of(one.host.domain)
            if of_domain is not None:
                urls_max, hosts_max = _least(urls_max, of_domain.urls_max), _least(hosts_max, of_domain.hosts_max)
            if not hosts and limits.domain_urls_day_max is not None:
                urls_max = _least(urls_max, _left_of_domain(db, limits, one.host_part))
            ready = islice(_ready(db, one, limits.only), _least(one.limit, urls_max))
            hosts.append((one.host_part, sum(1 for _ in ready)))
        granted = shared_by_hosts([count for _, count in hosts], urls_max=urls_max, hosts_max=hosts_max, turn=turn)
        for (host_part, _), limit in zip(hosts, granted, strict=True):
            record = db.host(host_part) if limit else None
            if record is not None:
                yield Candidate(host_part, record, limit)


def offered(db: CrawlDb, one: Candidate, limits: Limits, mix: Mix, *, turn: int) -> Iterator[bytes]:
    """Yield the ready keys that a host offers, best first, up to its limit divided between refetches and new pages."""
    if one.limit is None:
        yield from _ready(db, one, limits.only, level_max=LEVEL_MIN - 1 if mix.refetches_max == 0 else LEVEL_MAX)
        return
    new = list(islice(_ready(db, one, limits.only, level_max=LEVEL_MIN - 1), one.limit))
    known = [] if mix.refetches_max == 0 else list(refetches(db, one, limits))
    turn_of_host = turn + int.from_bytes(one.host_part, "big")
    taken, again = mix.split(new=len(new), refetches=len(known), places=one.limit, turn=turn_of_host)
    yield from known[:again]
    yield from new[:taken]


def refetches(db: CrawlDb, one: Candidate, limits: Limits) -> Iterator[bytes]:
    """Yield the ready keys of a host's refetches, best first, up to its limit."""
    return islice(takewhile(_is_refetch, _ready(db, one, limits.only)), one.limit)


def may_ever_be_taken(listed: LimitsFile | None, record: HostRecord) -> bool:
    """Tell whether a file of limits leaves a host anything at all."""
    if listed is None:
        return True
    found = filter(None, (listed.of(record.domain), listed.of(host_name(record.host))))
    return all(limit.urls_max and limit.hosts_max != 0 for limit in found)


def owed_delay(record: HostRecord, *, delay_min_s: float) -> float:
    """Return the gap between two requests to a host, in seconds, as far as is known before the fetch."""
    return max(record.delay_s or 0.0, record.crawl_delay_s or 0.0, delay_min_s)


def resting_until(db: CrawlDb, limits: Limits, host_part: bytes, record: HostRecord) -> float:
    """Return until when nothing is taken of a host: it is put off, or its URLs of the day are used up."""
    until = put_off_until(record, db.domain(host_part, record))
    host_spent = limits.host_urls_day_max is not None and not _left_of_host(limits, record)
    if host_spent or (limits.domain_urls_day_max is not None and not _left_of_domain(db, limits, host_part)):
        return max(until, (limits.day + 1) * DAY_S)
    return until


def _askable(
    db: CrawlDb, limits: Limits, listed: LimitsFile | None, host_parts: Iterable[bytes], *, now: float
) -> Iterator[Candidate]:
    for host_part in host_parts:
        record = db.host(host_part)
        if record is None or (limits.only is not None and holds_on(limits.only, record.host) is False):
            continue
        if put_off_until(record, db.domain(host_part, record)) > now:
            continue
        delay_s = owed_delay(record, delay_min_s=limits.delay_min_s)
        name, urls_max = host_name(record.host), limits.host_urls_max
        of_host = None if listed is None or name == record.domain else listed.of(name)
        if of_host is not None:
            urls_max = _least(urls_max, of_host.urls_max)
        limit = host_limit(duration_s=limits.duration_s, delay_s=delay_s, urls_max=urls_max)
        if limits.host_urls_day_max is not None:
            limit = _least(limit, _left_of_host(limits, record))
        if limit != 0:
            yield Candidate(host_part, record, limit)


def _asks_of_domains(limits: Limits) -> bool:
    of_domains = (limits.domain_urls_max, limits.domain_hosts_max, limits.domain_urls_day_max)
    return any(limit is not None for limit in of_domains)


def _left_of_host(limits: Limits, record: HostRecord) -> int:
    """Return how many URLs a host may still give on the day."""
    return max(0, (limits.host_urls_day_max or 0) - used_on(record, limits.day))


def _left_of_domain(db: CrawlDb, limits: Limits, host_part: bytes) -> int:
    """Return how many URLs the registered domain of a host may still give on the day; costs a look at its hosts."""
    hosts = db.hosts(host_part[: keys.DOMAIN_PART_BYTES])
    used = sum(used_on(record, limits.day) for _, record in hosts)
    return max(0, (limits.domain_urls_day_max or 0) - used)


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _ready(db: CrawlDb, one: Candidate, only: Condition | None, *, level_max: int = LEVEL_MAX) -> Iterator[bytes]:
    """Yield the ready keys of a host's URLs of levels up to `level_max` for which a condition holds, best first.

    Where the condition asks for more than the host, each record is read, also of those that are passed over.
    """
    on_host = True if only is None else holds_on(only, one.host.host)
    if only is None or on_host:
        yield from db.ready(one.host_part, level_max=level_max)
    elif on_host is None:
        for key in db.ready(one.host_part, level_max=level_max):
            entry = db.load(keys.ready_fingerprint(key))
            if entry is not None and holds(only, entry.record):
                yield key


def _is_refetch(key: bytes) -> bool:
    return keys.ready_level(key) >= LEVEL_MIN
