import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.price import PRICE_MAX, PRICE_MIN, moved_price, starting_price
from batchcrawl.policy.schedule import Belief
from batchcrawl.policy.value import reached_after

PAGES = [(Belief(0.25 + 0.4 * (i % 7), 0.5 * (1 + i % 11)), 1.0 / (1 + i)) for i in range(60)]
anything = st.floats(0, 1e300)


def fetches_a_day(price: float) -> float:
    return sum(1 / reached_after(belief, weight=weight, wanted=price) for belief, weight in PAGES)


@pytest.mark.parametrize("budget", [0.1, 2.0, 30.0])
@pytest.mark.parametrize("times", [1, 50])
def test_at_the_starting_price_the_pages_ask_for_the_budget(budget: float, times: int) -> None:
    price = starting_price(PAGES, known=len(PAGES) * times, fetches_a_day=budget * times)
    assert fetches_a_day(price) == pytest.approx(budget, rel=0.01)


def test_a_larger_budget_starts_at_a_lower_price() -> None:
    prices = [starting_price(PAGES, known=60, fetches_a_day=budget) for budget in (0.0, 1.0, 4.0, 1e9)]
    assert all(low < high for high, low in pairwise(prices))


def test_a_sample_without_pages_starts_at_the_lowest_price() -> None:
    assert starting_price([], known=1000, fetches_a_day=5.0) == PRICE_MIN
    assert starting_price([], known=0, fetches_a_day=0.0) == PRICE_MIN


@given(anything, st.integers(0, 10**12), anything, st.none() | anything)
def test_a_price_is_never_nothing_and_never_endless(
    price: float, demand: int, budget: float, smallest: float | None
) -> None:
    assert PRICE_MIN <= moved_price(price, demand=demand, budget=budget, smallest=smallest) <= PRICE_MAX


def test_too_much_demand_brings_the_price_a_tenth_of_the_way_to_the_smallest_value_taken() -> None:
    assert moved_price(1.0, demand=11, budget=10.0, smallest=math.exp(2)) == pytest.approx(math.exp(0.2))


def test_a_budget_that_is_not_used_up_lowers_the_price() -> None:
    assert moved_price(1.0, demand=10, budget=10.0, smallest=5.0) == pytest.approx(math.exp(-0.02))
    assert moved_price(1.0, demand=8, budget=10.0, smallest=5.0) == pytest.approx(math.exp(0.2 * math.log(0.8) - 0.02))
    assert moved_price(1.0, demand=0, budget=10.0, smallest=None) == pytest.approx(math.exp(-0.22))


def test_demand_of_which_nothing_was_taken_raises_the_price() -> None:
    assert moved_price(1.0, demand=20, budget=10.0, smallest=None) == pytest.approx(math.exp(0.2 * math.log(2) - 0.02))


def test_no_budget_leaves_the_price_as_it_is() -> None:
    assert moved_price(3.0, demand=5, budget=0.0, smallest=None) == pytest.approx(3.0)
