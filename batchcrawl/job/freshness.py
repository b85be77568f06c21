"""How much of what a crawl has stored is still right, as far as is believed of its pages."""

from dataclasses import dataclass

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.policy.recrawl import STORED, belief_of, weight_of
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.policy.value import still_right
from batchcrawl.store.crawldb import CrawlDb


@dataclass
class Freshness:
    """The expected share of the stored copies that are still right."""

    copies: int = 0
    plain: float = 0.0
    weighted: float = 0.0
    """Each copy by the weight of its page."""


def freshness(crawl: Crawl, *, now: float) -> Freshness:
    """Estimate how fresh the stored copies are; costs a look at every URL record."""
    rules, found = update_rules(crawl, None), Freshness()
    right = weights = weighted = 0.0
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for _, record in db.records():
                if record.status not in STORED or record.last_fetch_at is None:
                    continue
                chance = still_right(belief_of(record), (now - record.last_fetch_at) / DAY_S)
                weight = weight_of(record, rules.of_kind(record.kind))
                found.copies, right = found.copies + 1, right + chance
                weights, weighted = weights + weight, weighted + weight * chance
    if found.copies:
        found.plain, found.weighted = right / found.copies, weighted / weights
    return found
