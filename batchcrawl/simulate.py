"""Simulate: how fresh the copies of a crawl would be under other budgets, by what it has learned of its pages.

Reads: crawldb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from batchcrawl.errors import NothingDue
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.recrawl_rules import update_rules
from batchcrawl.policy.host_prior import Priors
from batchcrawl.policy.outlook import Outlook, asked_for, outlook
from batchcrawl.policy.play import POLICIES, played
from batchcrawl.policy.populations import Page, population
from batchcrawl.policy.recrawl import belief_of, price_of, weight_of
from batchcrawl.policy.schedule import MEMORY_A, Belief
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.page_sample import count_stored, sample_stored
from batchcrawl.store.rates_mark import read_rates

FACTORS = (0.5, 1.0, 2.0, 4.0)
"""The budgets that are compared, by the present one."""
SAMPLE = 4_000
"""Pages that are looked at; a share is then right to about a hundredth."""
PLAYED = 1_000
"""Pages that are played, since each round looks at all of them."""
SYNTHETIC_SHARE = 0.1
"""Refetches a day, by the number of pages, that count as the present budget of a synthetic population."""
RATE_MIN = 1e-6


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """What budgets would buy."""

    known: int
    """Stored pages, or those of the synthetic population."""
    looked_at: int
    outlooks: tuple[tuple[float, Outlook], ...]
    """By factor of the present budget."""


@dataclass(frozen=True, kw_only=True)
class Play:
    """How fresh policies kept the copies under a budget."""

    factor: float
    fetches_a_day: float
    fresh: dict[str, float]
    """Share of weight and time for which copies were right, by policy; `known` is one that knows every rate."""


@dataclass(frozen=True, kw_only=True)
class _Sample:
    known: int
    pages: list[tuple[Belief, float]]
    budget: float
    rates: list[float] | None = None
    """Those of a synthetic population."""


def simulate(
    crawl: Crawl, *, budget: float | None, synthetic: str | None = None, factors: Sequence[float] = FACTORS
) -> Simulation:
    """Return what parts and multiples of `budget` refetches a day would buy.

    Without one it is the job's, and where that has none what the crawl asks for at its fixed price. Costs a look at
    every host and at a sample of the pages. `synthetic` names a population to take instead of the crawl's pages. Raises
    NothingDue where no page is stored.
    """
    sample = _sample(crawl, budget, synthetic)
    known, pages = sample.known, sample.pages
    outlooks = ((factor, outlook(pages, known=known, fetches_a_day=sample.budget * factor)) for factor in factors)
    return Simulation(known=known, looked_at=len(pages), outlooks=tuple(outlooks))


def play(crawl: Crawl, *, budget: float | None, synthetic: str | None, days: int, seed: int) -> list[Play]:
    """Play so many days of refetching under each policy and budget, over at most PLAYED pages; drawn from `seed`.

    The pages of a crawl change at rates drawn from what is believed of them. Budgets and errors are as of `simulate`.
    """
    sample = _sample(crawl, budget, synthetic)
    chance = Random(seed)
    chosen = chance.sample(range(len(sample.pages)), min(PLAYED, len(sample.pages)))
    beliefs = [sample.pages[n][0] for n in chosen]
    if sample.rates is None:
        rates = [chance.gammavariate(belief.a, 1.0 / belief.b) for belief in beliefs]
    else:
        rates, beliefs = [sample.rates[n] for n in chosen], [Belief()] * len(chosen)
    pages = [Page(rate, sample.pages[n][1]) for rate, n in zip(rates, chosen, strict=True)]
    told = []
    for factor in FACTORS:
        fetches = sample.budget * factor * len(pages) / sample.known
        fresh = {
            name: played(name, pages, beliefs, fetches_a_day=fetches, days=days, chance=Random(seed))
            for name in POLICIES
        }
        told.append(Play(factor=factor, fetches_a_day=sample.budget * factor, fresh=fresh))
    return told


def _sample(crawl: Crawl, budget: float | None, synthetic: str | None) -> _Sample:
    if synthetic is not None:
        drawn = population(synthetic, pages=SAMPLE, chance=Random(0))
        pages = [(Belief(MEMORY_A, MEMORY_A / max(page.rate, RATE_MIN)), page.weight) for page in drawn]
        budget = budget or SYNTHETIC_SHARE * SAMPLE
        return _Sample(known=SAMPLE, pages=pages, budget=budget, rates=[page.rate for page in drawn])
    known, pages = _stored(crawl)
    if not pages:
        raise NothingDue("no page is stored yet, so none can grow old; run a round first")
    recrawl = crawl.job.settings.recrawl
    budget = budget or recrawl.budget or asked_for(pages, known=known, price=price_of(recrawl.interval_s))
    return _Sample(known=known, pages=pages, budget=budget)


def _stored(crawl: Crawl) -> tuple[int, list[tuple[Belief, float]]]:
    counts = []
    for partition in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(partition)) as db:
            counts.append(count_stored(db))
    rules, pages = update_rules(crawl, None), []
    share = min(1.0, SAMPLE / max(1, sum(counts)))
    for partition, known in enumerate(counts):
        with CrawlDb(crawl.layout.crawldb(partition)) as db:
            priors = Priors(read_rates(db))
            for host, record in sample_stored(db, pages=round(known * share), known=known):
                intervals = rules.of(record, priors.of(host))
                pages.append((belief_of(record, intervals.prior), weight_of(record, intervals)))
    return sum(counts), pages
