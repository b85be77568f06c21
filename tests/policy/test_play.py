import math
from collections import Counter
from random import Random

import pytest

from batchcrawl.policy.play import POLICIES, Adaptive, Known, played
from batchcrawl.policy.populations import POPULATIONS, Page, population
from batchcrawl.policy.schedule import Belief

STEADY = [Page(0.0, 1.0)] * 20


def fresh(policy: str, pages: list[Page], *, fetches_a_day: float = 4.0, days: int = 60) -> float:
    return played(policy, pages, [Belief()] * len(pages), fetches_a_day=fetches_a_day, days=days, chance=Random(1))


@pytest.mark.parametrize("policy", POLICIES)
def test_copies_of_pages_that_never_change_are_always_right(policy: str) -> None:
    assert fresh(policy, STEADY) == pytest.approx(1.0)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_draws_give_the_same_freshness(policy: str) -> None:
    pages = population("web", pages=40, chance=Random(2))
    assert fresh(policy, pages) == fresh(policy, pages)


def test_pages_that_are_fetched_at_one_interval_are_right_for_the_share_that_theory_says() -> None:
    pages = [Page(0.5, 1.0)] * 400
    expected = (1 - math.exp(-0.5 * 4)) / (0.5 * 4)
    assert fresh("fixed", pages, fetches_a_day=100.0, days=80) == pytest.approx(expected, abs=0.02)


def test_who_knows_the_rates_is_ahead_of_who_learns_them_and_that_of_one_interval_for_all() -> None:
    pages = population("web", pages=150, chance=Random(3))
    known, value, fixed = (fresh(policy, pages, fetches_a_day=15.0) for policy in ("known", "value", "fixed"))
    assert known > value > fixed


def test_under_the_adaptive_policy_a_page_comes_no_sooner_than_it_is_due() -> None:
    player = Adaptive([Page(1.0, 3.0)], [Belief()], [0.0])
    assert player.scores(29.0) == [-1.0]
    assert player.scores(30.0) == [3.0]


def test_a_known_rate_gains_what_a_refetch_would_make_right() -> None:
    player = Known([Page(2.0, 1.0), Page(1e-6, 1.0), Page(0.0, 1.0)], [], [0.0, 0.0, 0.0])
    assert player.scores(3.0) == pytest.approx([(1 - math.exp(-6) * 7) / 2, 1e-6 * 9 / 2, 0.0])


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_weights_of_a_population_are_one_in_the_mean_and_fall_by_rank(name: str) -> None:
    pages = population(name, pages=1000, chance=Random(4))
    weights = sorted((page.weight for page in pages), reverse=True)
    assert math.fsum(weights) / 1000 == pytest.approx(1.0)
    assert weights[0] / weights[99] == pytest.approx(100**0.8)
    assert all(page.rate >= 0 for page in pages)


def test_the_populations_are_what_their_names_say() -> None:
    rates = {name: [page.rate for page in population(name, pages=4000, chance=Random(5))] for name in POPULATIONS}
    assert sum(rate >= 1 for rate in rates["web"]) / 4000 == pytest.approx(0.23, abs=0.03)
    assert sorted(rates["log-normal"])[2000] == pytest.approx(1 / 45, rel=0.2)
    kinds = Counter("never" if rate == 0 else "often" if rate == 100 else "else" for rate in rates["extremes"])
    assert kinds["never"] / 4000 == pytest.approx(0.4, abs=0.03)
    assert kinds["often"] / 4000 == pytest.approx(0.05, abs=0.02)
