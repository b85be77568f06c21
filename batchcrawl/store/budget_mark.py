"""The meta entries of a budget: how it stands, in partition 0, and in each the floor that its timers were made for."""

import math

import msgspec

from batchcrawl.model.budget import BudgetState
from batchcrawl.store.crawldb import Batch, CrawlDb
from batchcrawl.store.meta import read_meta

PARTITION = 0
"""The one that holds how the budget of the whole crawl stands."""
_STATE, _FLOOR = "budget", "floor"


def read_budget(db: CrawlDb) -> BudgetState | None:
    """Return how the budget stands, or None where there never was one."""
    return read_meta(db, _STATE, BudgetState)


def set_budget(batch: Batch, state: BudgetState) -> None:
    """Let a batch carry how the budget stands."""
    batch.set_meta(_STATE, msgspec.json.encode(state))


def read_floor(db: CrawlDb) -> float:
    """Return the highest floor that pages of a partition may be waiting for, in weighted days."""
    floor = read_meta(db, _FLOOR, float)
    return math.inf if floor is None else floor


def set_floor(batch: Batch, floor: float) -> None:
    """Let a batch carry the floor that all timers of a partition are made for."""
    batch.set_meta(_FLOOR, msgspec.json.encode(floor))
