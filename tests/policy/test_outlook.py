import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.outlook import asked_for, outlook, right_share
from batchcrawl.policy.schedule import MEMORY_A, PRIOR_A, Belief

PAGES = [(Belief(0.25 + 0.4 * (i % 7), 0.5 * (1 + i % 11)), 1.0 / (1 + i)) for i in range(60)]
floats32 = st.floats(width=32, min_value=0.0, exclude_min=True, allow_infinity=False)
beliefs = st.builds(Belief, st.floats(PRIOR_A, MEMORY_A), st.floats(1e-3, 1e4))


@pytest.mark.parametrize("belief", [Belief(0.25, 1.0), Belief(1.0, 4.0), Belief(6.0, 40.0)])
def test_a_share_is_the_mean_over_all_rates_of_the_time_before_the_first_change(belief: Belief) -> None:
    random, interval, runs = Random(3), 5.0, 40_000
    rates = (random.gammavariate(belief.a, 1 / belief.b) for _ in range(runs))
    right = sum(min(1.0, random.expovariate(rate) / interval) if rate > 1e-300 else 1.0 for rate in rates)
    assert right_share(belief, interval) == pytest.approx(right / runs, abs=0.01)


@given(beliefs, st.floats(1e-6, 1e6), st.floats(1, 100))
def test_copies_that_are_fetched_more_rarely_are_right_for_less_of_the_time(
    belief: Belief, interval: float, factor: float
) -> None:
    assert 0 <= right_share(belief, interval * factor) <= right_share(belief, interval) * (1 + 1e-12) <= 1 + 1e-12


@given(st.builds(Belief, floats32, floats32), floats32)
def test_whatever_float32_holds_gives_a_share(belief: Belief, interval: float) -> None:
    assert 0 <= right_share(belief, interval) <= 1


def test_a_copy_that_is_always_fetched_again_is_right_and_one_that_never_is_ends_wrong() -> None:
    assert right_share(Belief(), 0.0) == 1.0
    assert right_share(Belief(), math.inf) == 0.0


def test_more_fetches_a_day_keep_copies_fresher_by_less_and_less() -> None:
    fresh = [outlook(PAGES, known=600, fetches_a_day=budget).fresh for budget in (10, 20, 40, 80, 160)]
    gains = [after - before for before, after in pairwise(fresh)]
    assert all(gain > 0 for gain in gains)
    assert outlook(PAGES, known=600, fetches_a_day=1e9).fresh == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("budget", [10.0, 100.0])
def test_fetches_by_value_keep_copies_fresher_than_the_same_fetches_for_all_alike(budget: float) -> None:
    found = outlook(PAGES, known=600, fetches_a_day=budget)
    assert found.fresh > found.fresh_alike > 0
    assert asked_for(PAGES, known=600, price=found.price) == pytest.approx(budget, rel=0.01)


def test_without_a_budget_every_copy_ends_wrong() -> None:
    found = outlook([(Belief(3.0, 1.0), 1.0)], known=1, fetches_a_day=0.0)
    assert (found.fresh, found.fresh_plain, found.fresh_alike, found.given_up) == (0.0, 0.0, 0.0, 1.0)
