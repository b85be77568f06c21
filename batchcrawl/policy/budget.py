"""A budget of refetches a day: what a segment may take of it, and how the price follows the demand.

The budget comes together evenly, is saved up for a day at most, and is given out an hour's worth at a time or more, so
that segments in quick succession are not made for a handful of pages. No day (UTC) takes more than it.
"""

import math

from batchcrawl.model.budget import BudgetState
from batchcrawl.policy.price import moved_price
from batchcrawl.policy.recrawl import Prices
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value

FLOOR_BELOW = 4.0
"""The floor lies so far under the price, four levels; it moves once two of them are left, or eight have come about."""
PORTIONS_A_DAY = 24


def begun(before: BudgetState | None, *, budget: float, price: float, now: float) -> BudgetState:
    """Return the state of a budget that is new, or has changed; what was used today stays used."""
    day = int(now // DAY_S)
    used = before.used if before is not None and before.day == day else 0
    return BudgetState(budget=budget, price=price, floor=price / FLOOR_BELOW, at=now, saved=budget, day=day, used=used)


def allowance(state: BudgetState, now: float) -> int:
    """Return how many refetches a segment may take at an instant."""
    saved = _saved(state, now)
    if saved < _portion(state):
        return 0
    return max(0, int(min(saved, state.budget - used_on_day_of(state, now))))


def next_allowance_at(state: BudgetState, now: float) -> float:
    """Return the instant at which a segment may take refetches again, for a state that allows none at `now`."""
    saved_at = now + max(0.0, _portion(state) - _saved(state, now)) / state.budget * DAY_S
    is_used_up = used_on_day_of(state, now) + 1 > state.budget
    return max(saved_at, (now // DAY_S + 1) * DAY_S) if is_used_up else saved_at


def demand(ready: dict[int, int], price: float) -> int:
    """Return how many of the refetches that are ready, by level, are worth the price.

    Of the level that the price falls into it is the part of an octave that lies above it.
    """
    total = 0.0
    for level, pages in ready.items():
        low, high = level_value(level), level_value(level + 1)
        if level < LEVEL_MIN or (price >= high and level < LEVEL_MAX):
            continue
        total += pages if price <= low or level == LEVEL_MAX else pages * math.log(high / price) / math.log(high / low)
    return round(total)


def after_segment(
    state: BudgetState, *, ready: dict[int, int], quotas: dict[int, int], places: int, price_min: float, now: float
) -> BudgetState:
    """Return the state after a segment that took `quotas`, by level.

    It had `places` for refetches, as far as they were allowed; where it had none, the price stays. `ready` are those
    that it could have taken by the limits of hosts and domains alone.
    """
    taken = {level: pages for level, pages in quotas.items() if level >= LEVEL_MIN and pages}
    price, refetches = state.price, sum(taken.values())
    if places > 0:
        smallest = level_value(min(taken)) if taken else None
        wanted = demand(ready, price)
        price = max(price_min, moved_price(price, demand=wanted, budget=places, smallest=smallest))
    return BudgetState(
        budget=state.budget,
        price=price,
        floor=_floor(state.floor, price),
        at=max(now, state.at),
        saved=_saved(state, now) - refetches,
        day=int(now // DAY_S),
        used=used_on_day_of(state, now) + refetches,
    )


def used_on_day_of(state: BudgetState, now: float) -> int:
    """Return how many refetches were leased on the day of an instant (UTC)."""
    return state.used if state.day == int(now // DAY_S) else 0


def prices_of(state: BudgetState) -> Prices:
    """Return the prices of a crawl with a budget."""
    return Prices(price=state.price, floor=state.floor)


def _floor(before: float, price: float) -> float:
    stays = before * FLOOR_BELOW**0.5 <= price <= before * FLOOR_BELOW**2
    return before if stays else price / FLOOR_BELOW


def _portion(state: BudgetState) -> float:
    return min(max(1.0, state.budget / PORTIONS_A_DAY), state.budget)


def _saved(state: BudgetState, now: float) -> float:
    return min(state.budget, state.saved + state.budget * max(0.0, now - state.at) / DAY_S)
