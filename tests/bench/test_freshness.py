import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.bench.freshness.measure import OURS, grid, played
from tests.bench.freshness.ours import ByValue
from tests.bench.freshness.rivals import Oracle, Uniform, known_gain
from tests.bench.freshness.scenarios import DAYS_MAX, PAGES_A_HOST, SCENARIOS, Population, Scenario, population
from tests.bench.freshness.world import Copies, best, freshness

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def small(name: str, *, pages: int = 500, days: int = 60) -> Population:
    return population(replace(BY_NAME[name], days=days), pages=pages, seed=1)


def two_pages(*changes: tuple[int, float]) -> Population:
    """Return two pages of weights 3 and 1, fetched on days 0 and 1, with their changes; measured from day 2 to 12."""
    return Population(
        scenario=Scenario(name="two", budget=0.5, days=10, rounds_a_day=1),
        weights=np.array([3.0, 1.0]),
        rates=(np.ones(2), np.ones(2)),
        hosts=np.zeros(2, dtype=np.int64),
        first_at=np.array([0.0, 1.0]),
        changes=np.sort(np.array([page * DAYS_MAX + at for page, at in changes])),
    )


def test_copies_that_never_change_are_wholly_fresh() -> None:
    assert Copies(two_pages((0, 0.0))).freshness() == 1.0


def test_a_copy_is_right_from_its_fetch_until_the_next_change() -> None:
    copies = Copies(two_pages((0, 3.0), (0, 9.0), (1, 5.0)))
    tau, changed = copies.fetch(np.array([0]), np.array([7.0]))
    assert (tau.tolist(), changed.tolist()) == ([7.0], [True])
    assert copies.freshness() == pytest.approx((3 * (1 + 2) + 1 * 3) / (4 * 10))


def test_changes_between_two_fetches_look_like_one_and_are_seen_once() -> None:
    copies = Copies(two_pages((1, 3.0), (1, 4.0)))
    seen = [copies.fetch(np.array([1]), np.array([at]))[1].tolist() for at in (5.0, 6.0)]
    assert seen == [[True], [False]]


def test_a_known_rate_gains_the_days_that_a_copy_would_have_been_wrong() -> None:
    rates, tau = np.array([0.0, math.inf, 2.0, 1e-4]), np.full(4, 3.0)
    expected = [0.0, 0.0, (1 - math.exp(-6) * 7) / 2, 1e-4 * 9 / 2]
    assert known_gain(rates, tau) == pytest.approx(expected, rel=1e-3)


def test_the_best_pages_are_taken_within_the_limit_of_each_host() -> None:
    people = small("hosts")
    taken = best(people.weights, 400, people)
    assert max(Counter(people.hosts[taken].tolist()).values()) == PAGES_A_HOST
    assert people.weights[taken].tolist() == sorted(people.weights[taken], reverse=True)


@pytest.mark.parametrize("name", ["base", "hosts"])
def test_ours_takes_no_page_twice_and_keeps_the_limits(name: str) -> None:
    people = small(name)
    ours = ByValue(people)
    taken = ours.take(people.begin, 60).tolist()
    assert len(taken) == len(set(taken)) == 60
    assert name == "base" or max(Counter(people.hosts[taken].tolist()).values()) <= PAGES_A_HOST


@pytest.mark.parametrize("name", BY_NAME)
def test_a_population_has_as_many_changes_as_its_rates_say(name: str) -> None:
    people = small(name, pages=3000)
    middle, end = people.begin + 30, people.end
    before, after = (np.where(np.isfinite(part), part, 0.0).sum() for part in people.rates)
    assert len(people.changes) == pytest.approx(before * middle + after * (end - middle), rel=0.02)
    assert people.weights.mean() == pytest.approx(1.0)


def test_who_knows_the_rates_keeps_copies_fresher_than_who_treats_all_alike() -> None:
    people = small("base")
    assert freshness(Oracle(people), people, seed=1) > 1.1 * freshness(Uniform(people), people, seed=1)


@pytest.mark.parametrize(("name", "least"), [("base", 0.95), ("tight", 0.92), ("hosts", 0.94), ("together", 0.92)])
def test_ours_comes_near_to_the_oracle_and_above_every_other_policy(name: str, least: float) -> None:
    shares = played(replace(BY_NAME[name], days=90), pages=600, seed=1)
    ours = shares.pop(OURS)
    assert ours >= least
    assert ours > max(shares.values())


def test_the_table_has_a_line_a_policy_and_a_column_a_scenario() -> None:
    lines = grid({"base": {"all alike": 0.821, OURS: 0.976}, "tight": {"all alike": 0.75, OURS: 0.95}}).splitlines()
    assert lines[0].split()[-2:] == ["base", "tight"]
    assert lines[1].split() == ["all", "alike", "82.1", "75.0"]
    assert lines[2].split()[-2:] == ["97.6", "95.0"]
