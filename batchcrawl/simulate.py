"""Simulate: how fresh the copies of a crawl would be under other budgets, by what it has learned of its pages.

Reads: crawldb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from dataclasses import dataclass

from batchcrawl.errors import NothingDue
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.policy.outlook import Outlook, asked_for, outlook
from batchcrawl.policy.recrawl import belief_of, price_of, weight_of
from batchcrawl.policy.schedule import Belief
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.page_sample import count_stored, sample_stored

FACTORS = (0.5, 1.0, 2.0, 4.0)
"""The budgets that are compared, by the present one."""
SAMPLE = 4_000
"""Pages that are looked at; a share is then right to about a hundredth."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """What budgets would buy."""

    known: int
    """Stored pages."""
    looked_at: int
    outlooks: tuple[tuple[float, Outlook], ...]
    """By factor of the present budget."""


def simulate(crawl: Crawl, *, budget: float | None) -> Simulation:
    """Return what parts and multiples of `budget` refetches a day would buy.

    Without one it is the job's, and where that has none what the crawl asks for at its fixed price. Costs a look at
    every host and at a sample of the pages. Raises NothingDue where no page is stored.
    """
    known, pages = _sample(crawl)
    if not pages:
        raise NothingDue("no page is stored yet, so none can grow old; run a round first")
    recrawl = crawl.job.settings.recrawl
    if budget is None:
        budget = recrawl.budget
    if budget is None:
        budget = asked_for(pages, known=known, price=price_of(recrawl.interval_s))
    outlooks = tuple((factor, outlook(pages, known=known, fetches_a_day=budget * factor)) for factor in FACTORS)
    return Simulation(known=known, looked_at=len(pages), outlooks=outlooks)


def _sample(crawl: Crawl) -> tuple[int, list[tuple[Belief, float]]]:
    counts = []
    for partition in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(partition)) as db:
            counts.append(count_stored(db))
    rules, pages = update_rules(crawl, None), []
    share = min(1.0, SAMPLE / max(1, sum(counts)))
    for partition, known in enumerate(counts):
        with CrawlDb(crawl.layout.crawldb(partition)) as db:
            for record in sample_stored(db, pages=round(known * share), known=known):
                pages.append((belief_of(record), weight_of(record, rules.of_kind(record.kind))))
    return sum(counts), pages
