"""What the hosts of a partition offer to a segment: looked at no deeper than the segment can make use of."""

from collections import Counter
from dataclasses import dataclass, field, replace

from batchcrawl.policy.mix import Mix
from batchcrawl.policy.selection import Limits, Offers, first_reach, next_reach
from batchcrawl.store import keys
from batchcrawl.store.candidates import candidates, offered, refetches
from batchcrawl.store.crawldb import CrawlDb


@dataclass
class Survey:
    """What a partition has ready."""

    limits: Limits
    """Those of the segment, and how many URLs of each host were looked at."""
    offers: Offers = field(default_factory=dict)
    refetches: Counter[int] = field(default_factory=Counter)
    """By level, those that the limits of hosts and domains let through without new pages; only with a budget."""
    urls: int = 0
    longest: int = 0
    """The most URLs that one host offers."""


def survey(db: CrawlDb, limits: Limits, mix: Mix, *, urls_max: int, now: float, turn: int) -> Survey:
    """Count what each host offers by level to a segment of at most `urls_max` URLs; `turn` is as of `candidates`."""
    reach: int | None = first_reach(urls_max=urls_max, hosts=sum(1 for _ in db.ready_hosts()))
    while reach is not None:
        least = min(n for n in (limits.host_urls_max, reach) if n is not None)
        found = _within(db, replace(limits, host_urls_max=least), mix, now=now, turn=turn)
        reach = next_reach(reach, offered=found.urls, longest=found.longest, urls_max=urls_max)
    return found


def _within(db: CrawlDb, limits: Limits, mix: Mix, *, now: float, turn: int) -> Survey:
    found = Survey(limits)
    for one in candidates(db, limits, now=now, turn=turn):
        levels = Counter(map(keys.ready_level, offered(db, one, limits, mix, turn=turn)))
        for level, count in levels.items():
            found.offers.setdefault(level, Counter())[count] += 1
        found.urls += levels.total()
        found.longest = max(found.longest, levels.total())
        if mix.refetches_max is not None:
            found.refetches.update(map(keys.ready_level, refetches(db, one, limits)))
    return found
