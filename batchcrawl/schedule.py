"""Schedule: why a URL comes again when it does.

Reads: crawldb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from batchcrawl.errors import UsageError
from batchcrawl.job.budgeting import seen_budget
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.schedule import Rise, Schedule, Value, Weight
from batchcrawl.policy.due import due_of
from batchcrawl.policy.importance import importance
from batchcrawl.policy.lastmod import Trust, trust_of
from batchcrawl.policy.recrawl import (
    Intervals,
    Prices,
    belief_of,
    clipped_by,
    interval_until,
    is_by_value,
    weight_of,
    worth,
)
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.policy.value import LEVEL_MAX, level_value, still_right, value_level
from batchcrawl.show import locate
from batchcrawl.store.crawldb import CrawlDb

RISES = 4
"""So many levels ahead are told."""


def schedule(crawl: Crawl, url: str, *, now: float) -> Schedule:
    """Return why a URL comes again when it does. Raises UsageError for one that is not known."""
    located = locate(crawl, url)
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        entry = db.load(located.fingerprint)
        host = None if entry is None else db.host(entry.host_part)
        if entry is None or host is None:
            raise UsageError(f"{located.canonical} is not known; 'batchcrawl explain' tells why")
        domain = db.domain(entry.host_part, host)
    rules = update_rules(crawl, seen_budget(crawl))
    record, intervals = entry.record, rules.of_kind(entry.record.kind)
    return _told(record, intervals, rules.in_force, host=host, domain=domain, now=now)


def weight_told(record: UrlRecord, intervals: Intervals) -> Weight:
    """Return the weight of a URL and its parts."""
    parts = importance(record)
    return Weight(
        weight=weight_of(record, intervals),
        depth=parts.depth,
        score=parts.score,
        inlinks=parts.inlinks,
        costly=parts.costly,
        kind=intervals.weight,
    )


def _told(
    record: UrlRecord,
    intervals: Intervals,
    prices: Prices,
    *,
    host: HostRecord,
    domain: DomainRecord | None,
    now: float,
) -> Schedule:
    belief = belief_of(record)
    told = Schedule(
        url=record.url,
        status=record.status.name.lower(),
        place=record.place.name.lower(),
        level=record.level,
        policy=intervals.policy,
        why=due_of(record, host, domain, now=now).why,
        next_fetch_at=record.next_fetch_at,
        last_fetch_at=record.last_fetch_at,
        interval_s=record.interval_s,
        a=belief.a,
        b=belief.b,
        changes_a_day=belief.rate,
        fetches=record.fetches,
        changes=record.changes,
        weight=weight_told(record, intervals),
        price=prices.price,
        floor=prices.floor,
    )
    if is_by_value(record, intervals):
        told.value = _value(record, intervals, prices, trust=trust_of(host.lastmod), now=now)
    return told


def _value(record: UrlRecord, intervals: Intervals, prices: Prices, *, trust: Trust | None, now: float) -> Value:
    last = record.last_fetch_at or 0
    worth_now = worth(record, intervals, at=now, trust=trust)
    level = value_level(worth_now)
    ahead = range(level + 1, min(level + RISES, LEVEL_MAX) + 1)
    reached = [(up, last + interval_until(record, intervals, wanted=level_value(up))) for up in ahead]
    return Value(
        worth=worth_now,
        level=level,
        still_right=still_right(belief_of(record), (now - last) / DAY_S),
        due_at=last + interval_until(record, intervals, wanted=prices.floor),
        clipped=clipped_by(record, intervals, wanted=prices.floor),
        rises=[Rise(level=up, at=at) for up, at in reached if at < last + intervals.max_s],
    )
