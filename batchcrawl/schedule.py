"""Schedule: why a URL comes again when it does.

Reads: crawldb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from msgspec import structs

from batchcrawl.errors import UsageError
from batchcrawl.job.budgeting import seen_budget
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.host import DomainRecord, HostRecord, RateCounts
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.schedule import OwnRule, Prior, Rise, Schedule, Value, Weight
from batchcrawl.policy.due import due_of
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.importance import importance
from batchcrawl.policy.lastmod import Trust, trust_of
from batchcrawl.policy.page_rules import decided_by
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
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.policy.value import LEVEL_MAX, level_value, still_right, value_level
from batchcrawl.show import locate
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.rates_mark import read_rates

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
        domain, priors = db.domain(entry.host_part, host), Priors(read_rates(db))
    rules = update_rules(crawl, seen_budget(crawl))
    return _told(entry.record, rules, priors, host=host, domain=domain, now=now)


def weight_told(record: UrlRecord, rules: UpdateRules) -> Weight:
    """Return the weight of a URL and its parts."""
    parts, of_kind, own = importance(record), rules.of_kind(record.kind), rules.of(record)
    return Weight(
        weight=weight_of(record, own),
        depth=parts.depth,
        score=parts.score,
        inlinks=parts.inlinks,
        costly=parts.costly,
        kind=of_kind.weight,
        rule=own.weight / of_kind.weight,
    )


def _told(
    record: UrlRecord,
    rules: UpdateRules,
    priors: Priors,
    *,
    host: HostRecord,
    domain: DomainRecord | None,
    now: float,
) -> Schedule:
    intervals, prices = rules.of(record, priors.of(host)), rules.in_force
    belief = belief_of(record, intervals.prior)
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
        prior=_prior(record, intervals, priors, host),
        dated=trust_of(host.last_modified) is not None,
        fetches=record.fetches,
        changes=record.changes,
        weight=weight_told(record, rules),
        price=prices.price,
        floor=prices.floor,
        rules=_own_rules(record, rules),
    )
    if is_by_value(record, intervals):
        told.value = _value(record, intervals, prices, trust=trust_of(host.lastmod), now=now)
        given = next((rule for rule in told.rules if told.value.clipped in rule.decides), None)
        if given is not None:
            told.value.clipped = f"{told.value.clipped} of rule {given.number}"
    return told


def _prior(record: UrlRecord, intervals: Intervals, priors: Priors, host: HostRecord) -> Prior:
    shown = host.rates or RateCounts()
    return Prior(
        changes_a_day=(priors.of(host) if record.kind is UrlKind.PAGE else intervals.prior).rate,
        host_pages=shown.pages,
        host_rate=shown.mean,
        crawl_pages=priors.crawl.pages,
        crawl_rate=priors.crawl_rate,
        in_force=record.rate_b <= 0,
    )


def _own_rules(record: UrlRecord, rules: UpdateRules) -> list[OwnRule]:
    """Return the job's rules that decide something of a URL, in their order."""
    found: dict[int, OwnRule] = {}
    for name, rule in structs.asdict(decided_by(rules.own, record)).items():
        if rule is not None:
            new = OwnRule(number=rule.number, text=rule.text, place=rule.place, decides=[])
            found.setdefault(rule.number, new).decides.append(name)
    return [found[number] for number in sorted(found)]


def _value(record: UrlRecord, intervals: Intervals, prices: Prices, *, trust: Trust | None, now: float) -> Value:
    last = record.last_fetch_at or 0
    worth_now = worth(record, intervals, at=now, trust=trust)
    level = value_level(worth_now)
    ahead = range(level + 1, min(level + RISES, LEVEL_MAX) + 1)
    reached = [(up, last + interval_until(record, intervals, wanted=level_value(up))) for up in ahead]
    return Value(
        worth=worth_now,
        level=level,
        still_right=still_right(belief_of(record, intervals.prior), (now - last) / DAY_S),
        due_at=last + interval_until(record, intervals, wanted=prices.floor),
        clipped=clipped_by(record, intervals, wanted=prices.floor),
        rises=[Rise(level=up, at=at) for up, at in reached if at < last + intervals.max_s],
    )
