"""The job's settings of recrawling as the rules by which update and generate go."""

from dataclasses import replace

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.budget import BudgetState
from batchcrawl.policy.budget import prices_of
from batchcrawl.policy.recrawl import Intervals, fixed_prices, price_of
from batchcrawl.policy.update_rules import UpdateRules


def update_rules(crawl: Crawl, budget: BudgetState | None) -> UpdateRules:
    """Return the rules of a crawl as its job is now; `budget` is how its budget stands, where it has one."""
    settings = crawl.job.settings
    recrawl, lists = settings.recrawl, settings.sitemaps
    pages = Intervals(
        first_s=recrawl.interval_s,
        min_s=recrawl.interval_min_s,
        max_s=recrawl.interval_max_s,
        gone_s=recrawl.gone_interval_s,
        retry_s=recrawl.retry_interval_s,
        failures_max=settings.fetch.retries_max,
        policy=recrawl.policy,
        change=recrawl.change,
    )
    return UpdateRules(
        pages=pages,
        lists=replace(
            pages,
            first_s=lists.interval_s,
            min_s=lists.interval_min_s,
            max_s=lists.interval_max_s,
            weight=price_of(recrawl.interval_s) / price_of(lists.interval_s),
        ),
        follow_duplicates=settings.parse.duplicates == "follow",
        prices=fixed_prices(recrawl.interval_s) if budget is None else prices_of(budget),
        own=crawl.job.page_rules,
    )
