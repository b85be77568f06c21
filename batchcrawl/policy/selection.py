"""Which ready URLs a segment takes, when there are more than it holds.

Each host offers its best URLs up to its own limit. Levels get quotas of the segment (policy.mix); within a
level every host may give up to the same number, the cap, so that no host crowds out another.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from batchcrawl.policy.conditions import Condition

REACH = 4
REACH_MIN = 100
"""Of a host at least so many URLs are looked at."""
ENOUGH = 2
"""A segment is chosen from so many times the URLs that it takes."""

Offers = dict[int, Counter[int]]
"""By level: how many hosts offer how many URLs of it."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a segment takes of a host and of a registered domain; None for no limit."""

    duration_s: float
    """Time that it is planned for."""
    delay_min_s: float
    host_urls_max: int | None = None
    domain_urls_max: int | None = None
    domain_hosts_max: int | None = None
    host_urls_day_max: int | None = None
    """On one day, UTC."""
    domain_urls_day_max: int | None = None
    """Likewise."""
    day: int = 0
    """That day, in days since 1970."""
    only: Condition | None = None
    """Of other URLs nothing is taken."""
    file: Path | None = None
    """Of limits by host and registered domain, which hold as well."""

    @property
    def by_day(self) -> bool:
        """Tell whether anything is limited by the day."""
        return self.host_urls_day_max is not None or self.domain_urls_day_max is not None


@dataclass(frozen=True)
class Cap:
    """What each host may give of one level."""

    each: int
    """Every host gives up to so many."""
    extra_hosts: int
    """So many of the hosts that offer more, in all partitions, give one more."""
    able_hosts: int
    """How many hosts offer more, in all partitions."""
    first: int
    """Number of the partition's first such host, counted from the first that gives one more, around."""


@dataclass
class Ration:
    """The caps of one partition, used up host by host."""

    caps: dict[int, Cap]
    seen: Counter[int] = field(default_factory=Counter)
    """Hosts that offered more than their cap so far, by level."""

    def grant(self, level: int, offered: int) -> int:
        """Return how many of the `offered` URLs of a level the next host may give."""
        cap = self.caps.get(level)
        if cap is None:
            return 0
        if offered <= cap.each:
            return offered
        number = (cap.first + self.seen[level]) % cap.able_hosts
        self.seen[level] += 1
        return cap.each + (number < cap.extra_hosts)


def host_limit(*, duration_s: float, delay_s: float, urls_max: int | None) -> int | None:
    """Return how many URLs of a host fit into a segment planned for `duration_s`; None for no limit.

    A host with delay d gets at most duration / d, and at least one.
    """
    by_time = None if delay_s <= 0 else max(1, int(duration_s / delay_s))
    limits = [limit for limit in (by_time, urls_max) if limit is not None]
    return min(limits, default=None)


def first_reach(*, urls_max: int, hosts: int) -> int:
    """Return how many URLs of each of so many hosts are looked at first, for a segment of at most `urls_max`.

    A few times its even part: so a segment costs what it holds, however much more its hosts have ready.
    """
    return max(REACH_MIN, -(-REACH * urls_max // max(1, hosts)))


def next_reach(reach: int, *, offered: int, longest: int, urls_max: int) -> int | None:
    """Return how many URLs of each host are looked at next, or None when enough is known.

    So far the hosts offered that many URLs, `longest` the most of one. Each step looks at so many times more that the
    last makes up most of the cost; all of them stay within a multiple of `urls_max`.
    """
    if longest < reach or reach >= urls_max or offered >= ENOUGH * urls_max:
        return None
    return REACH * reach


def shared_by_hosts(offered: list[int], *, urls_max: int | None, hosts_max: int | None, turn: int) -> list[int]:
    """Return how many of the `offered` URLs each host of a registered domain may give.

    At most `hosts_max` of them give any, beginning with another one at each `turn`, and up to the same number, in all
    at most `urls_max`; so over the segments no host waits for ever.
    """
    first = _start(len(offered), turn)
    chosen = [*range(first, len(offered)), *range(first)][:hosts_max]
    each, extra = max(offered, default=0), 0
    if urls_max is not None:
        each, extra = _level_cap(Counter(offered[host] for host in chosen), urls_max)
    granted = [0] * len(offered)
    for host in chosen:
        more = offered[host] > each and extra > 0
        granted[host] = min(offered[host], each + more)
        extra -= more
    return granted


def add_offers(total: Offers, more: Offers) -> None:
    """Add the offers of one partition to those of others."""
    for level, counts in more.items():
        total.setdefault(level, Counter()).update(counts)


def available(offers: list[Offers]) -> dict[int, int]:
    """Return how many URLs of each level the partitions offer together."""
    total: Counter[int] = Counter()
    for offer in offers:
        for level, counts in offer.items():
            total[level] += sum(size * hosts for size, hosts in counts.items())
    return dict(total)


def ration(offers: list[Offers], *, quotas: dict[int, int], turn: int = 0) -> list[Ration]:
    """Divide the quotas of the levels among the partitions' offers; a ration a partition.

    `turn` is any number that differs from segment to segment: it says with which hosts the giving of one more
    begins, so that over the segments no host comes first by its place in the order of keys.
    """
    total: Offers = {}
    for offer in offers:
        add_offers(total, offer)
    rations = [Ration({}) for _ in offers]
    for level, quota in quotas.items():
        each, extra = _level_cap(total[level], quota)
        able = [sum(hosts for size, hosts in offer.get(level, {}).items() if size > each) for offer in offers]
        first = -_start(sum(able), turn)
        for partition, hosts in enumerate(able):
            rations[partition].caps[level] = Cap(each, extra, sum(able), first)
            first += hosts
    return rations


def _start(hosts: int, turn: int) -> int:
    """Return which of `hosts` comes first: turns one after the other fall evenly over all (Knuth, TAOCP 3, 6.4)."""
    return (turn * 0x9E37_79B1 & 0xFFFF_FFFF) * hosts >> 32


def _level_cap(counts: Counter[int], quota: int) -> tuple[int, int]:
    """Return the largest cap whose sum of min(offer, cap) is within the quota, and what is left over."""
    cap, given = 0, 0
    hosts = sum(counts.values())
    for size, count in sorted(counts.items()):
        step = (size - cap) * hosts
        if given + step > quota:
            more = (quota - given) // hosts
            return cap + more, quota - given - more * hosts
        cap, given = size, given + step
        hosts -= count
    return cap, 0
