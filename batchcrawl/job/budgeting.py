"""The budget of refetches of a crawl: how it stands, and how its price begins."""

from dataclasses import dataclass

from batchcrawl.engine.control import Control
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.model.budget import BudgetState
from batchcrawl.policy.budget import begun
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.price import starting_price
from batchcrawl.policy.recrawl import belief_of, is_by_value, price_of, weight_of
from batchcrawl.policy.schedule import Belief
from batchcrawl.store.budget_mark import PARTITION, read_budget
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.page_sample import count_stored, sample_stored
from batchcrawl.store.rates_mark import read_rates

SAMPLE = 4000
"""So many pages tell where the price begins."""


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    partition: int
    pages: int = 0
    known: int = 0


def seen_budget(crawl: Crawl) -> BudgetState | None:
    """Return how the budget stands, to one who only looks; None where the job has none, or it has not begun."""
    if crawl.job.settings.recrawl.budget is None:
        return None
    with CrawlDb(crawl.layout.crawldb(PARTITION)) as db:
        return read_budget(db)


def stored_budget(crawl: Crawl, control: Control) -> BudgetState | None:
    """Return how the budget stands, to a step, which reads it in a process of its own; None as of `seen_budget`."""
    if crawl.job.settings.recrawl.budget is None:
        return None
    (state,) = run_partitions(read_partition, [_Task(crawl, PARTITION)], parallel=1, control=control)
    return state


def current_budget(crawl: Crawl, *, now: float, control: Control) -> BudgetState | None:
    """Return how the budget stands; a new or changed one begins with the price that a sample of the pages asks for.

    To begin costs a look at every host. None where the job has no budget. Nothing is written.
    """
    budget, state = crawl.job.settings.recrawl.budget, stored_budget(crawl, control)
    if budget is None or (state is not None and state.budget == budget):
        return state
    tasks = [_Task(crawl, p) for p in range(crawl.partitions)]
    known = run_partitions(count_partition, tasks, parallel=crawl.cores, control=control)
    share = min(1.0, SAMPLE / max(1, sum(known)))
    tasks = [_Task(crawl, p, round(n * share), n) for p, n in enumerate(known)]
    samples = run_partitions(sample_partition, tasks, parallel=crawl.cores, control=control)
    pages = [page for sample in samples for page in sample]
    price = starting_price(pages, known=sum(known), fetches_a_day=float(budget))
    lowest = price_of(crawl.job.settings.recrawl.interval_min_s)
    return begun(state, budget=float(budget), price=max(price, lowest), now=now)


def read_partition(task: _Task, control: Control) -> BudgetState | None:
    """Return how the budget stands."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        return read_budget(db)


def count_partition(task: _Task, control: Control) -> int:
    """Return how many pages of a partition are stored."""
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        return count_stored(db)


def sample_partition(task: _Task, control: Control) -> list[tuple[Belief, float]]:
    """Return belief and weight of some of the pages that come by their value."""
    rules = update_rules(task.crawl, None)
    with CrawlDb(task.crawl.layout.crawldb(task.partition)) as db:
        sample, priors = sample_stored(db, pages=task.pages, known=task.known), Priors(read_rates(db))
        found = ((record, rules.of(record, priors.of(host))) for host, record in sample)
        return [(belief_of(r, of.prior), weight_of(r, of)) for r, of in found if is_by_value(r, of)]
