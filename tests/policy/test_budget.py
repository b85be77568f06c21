from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.budget import BudgetState
from batchcrawl.policy.budget import FLOOR_BELOW, after_segment, allowance, begun, demand, next_allowance_at, prices_of
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value

MIDNIGHT = 20_787 * 86_400
HOUR, DAY = 3600, 86_400
LOWEST = 1e-9


def state(**changes: Any) -> BudgetState:
    facts: dict[str, Any] = {"budget": 2400.0, "price": 2.0, "floor": 0.5, "at": MIDNIGHT, "saved": 0.0, "used": 0}
    return BudgetState(**({"day": MIDNIGHT // DAY} | facts | changes))


def took(before: BudgetState, refetches: int, *, now: float = MIDNIGHT + HOUR, **changes: Any) -> BudgetState:
    """Return the state after a segment of so many refetches, all of one level."""
    facts: dict[str, Any] = {"ready": {130: refetches}, "quotas": {130: refetches, 3: 7}, "places": 100}
    return after_segment(before, **(facts | changes), price_min=LOWEST, now=now)


def test_a_new_budget_begins_with_that_of_a_day() -> None:
    new = begun(None, budget=2400.0, price=2.0, now=MIDNIGHT)
    assert allowance(new, MIDNIGHT) == 2400
    assert prices_of(new).floor == prices_of(new).price / FLOOR_BELOW


def test_a_changed_budget_keeps_what_was_used_that_day_and_no_longer() -> None:
    before = state(used=900)
    assert allowance(begun(before, budget=1000.0, price=2.0, now=MIDNIGHT + 1), MIDNIGHT + 1) == 100
    assert allowance(begun(before, budget=1000.0, price=2.0, now=MIDNIGHT + DAY), MIDNIGHT + DAY) == 1000


@pytest.mark.parametrize(("after_s", "allowed"), [(0, 0), (HOUR - 1, 0), (HOUR, 100), (2 * HOUR, 200), (9 * DAY, 2400)])
def test_the_budget_comes_together_evenly_and_is_given_out_by_the_hour(after_s: int, allowed: int) -> None:
    assert allowance(state(), MIDNIGHT + after_s) == allowed


def test_what_is_not_taken_is_saved() -> None:
    assert allowance(took(state(), 30), MIDNIGHT + 2 * HOUR) == 170


def test_no_day_takes_more_than_the_budget() -> None:
    late = state(saved=2400.0, used=2350)
    assert allowance(late, MIDNIGHT + 23 * HOUR) == 50
    assert allowance(late, MIDNIGHT + DAY) == 2400


def test_a_clock_that_goes_back_gives_nothing() -> None:
    assert allowance(state(), MIDNIGHT - HOUR) == 0
    assert took(state(), 0, now=MIDNIGHT - HOUR).at == MIDNIGHT


@pytest.mark.parametrize("budget", [1.0, 5.0, 2400.0, 1e9])
@pytest.mark.parametrize("used_up", [False, True])
def test_a_budget_that_is_used_up_allows_some_again_when_it_says_so(budget: float, used_up: bool) -> None:
    now = MIDNIGHT + 5 * HOUR
    spent = state(budget=budget, at=now, used=int(budget) if used_up else 0)
    again_at = next_allowance_at(spent, now)
    assert allowance(spent, now) == 0
    assert allowance(spent, again_at + 0.001 * budget + 1) > 0
    assert again_at <= now + DAY
    assert again_at >= MIDNIGHT + DAY or not used_up


@given(
    st.floats(1, 1e6),
    st.lists(st.tuples(st.integers(0, 3 * DAY), st.integers(0, 10**6)), max_size=40),
)
def test_whatever_segments_take_of_what_they_may_no_day_exceeds_the_budget(
    budget: float, segments: list[tuple[int, int]]
) -> None:
    now, current, by_day = MIDNIGHT, begun(None, budget=budget, price=1.0, now=MIDNIGHT), dict[int, int]()
    for wait_s, wanted in segments:
        now += wait_s
        taken = min(wanted, allowance(current, now))
        by_day[now // DAY] = by_day.get(now // DAY, 0) + taken
        current = took(current, taken, now=now)
        assert current.saved >= 0
        assert current.floor <= current.price
    assert all(taken <= budget for taken in by_day.values())


def test_the_demand_is_what_is_worth_the_price() -> None:
    ready = {3: 1000, LEVEL_MIN: 5, 128: 10, 129: 20, 130: 40, LEVEL_MAX: 80}
    assert demand(ready, level_value(129)) == 140
    assert demand(ready, level_value(LEVEL_MIN)) == 155
    assert demand(ready, 1e300) == 80


def test_of_the_level_of_the_price_the_part_above_it_counts() -> None:
    middle = (level_value(128) * level_value(129)) ** 0.5
    assert demand({128: 100}, middle) == 50


@given(st.dictionaries(st.integers(LEVEL_MIN, LEVEL_MAX), st.integers(0, 1000)), st.floats(1e-12, 1e12))
def test_a_higher_price_never_raises_the_demand(ready: dict[int, int], price: float) -> None:
    assert demand(ready, price * 1.1) <= demand(ready, price) <= sum(ready.values())


def test_the_price_rises_with_more_demand_than_places_and_falls_with_less() -> None:
    many = took(state(), 100, ready={140: 1000}, quotas={140: 100})
    few = took(state(), 5, ready={140: 5}, quotas={140: 5})
    assert few.price < 2.0 < many.price


def test_a_segment_without_places_for_refetches_says_nothing_of_the_price() -> None:
    assert took(state(), 0, ready={140: 1000}, places=0).price == 2.0


def test_the_price_never_falls_below_what_the_least_interval_makes_of_it() -> None:
    low = after_segment(state(), ready={}, quotas={}, places=100, price_min=1.9, now=MIDNIGHT + HOUR)
    assert low.price == 1.9


@pytest.mark.parametrize(("price", "moved"), [(1.01, False), (7.9, False), (0.99, True), (8.1, True)])
def test_the_floor_moves_only_where_the_price_has_gone_far(price: float, moved: bool) -> None:
    after = after_segment(state(price=price), ready={}, quotas={}, places=0, price_min=LOWEST, now=MIDNIGHT)
    assert after.floor == (price / FLOOR_BELOW if moved else 0.5)
