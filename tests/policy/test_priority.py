from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.priority import LEVEL_MAX, SEED_LEVEL, draw_pattern, link_level, seed_level, shares

levels = st.integers(0, LEVEL_MAX)
available_urls = st.dictionaries(levels, st.integers(1, 1000), min_size=1)


@pytest.mark.parametrize(
    ("score", "level"),
    [
        *((None, 12), (1.0, 12), (1.9, 12), (2.0, 13), (4.0, 14), (1e9, 15)),
        *((0.5, 11), (0.25, 10), (1e-9, 0), (0.0, 0), (-3.0, 0)),
    ],
)
def test_a_seed_rises_with_each_doubling_of_its_score(score: float | None, level: int) -> None:
    assert seed_level(score) == level


@given(st.floats())
def test_any_score_gives_a_level(score: float) -> None:
    assert 0 <= seed_level(score) <= LEVEL_MAX


def test_the_deeper_a_link_the_lower_its_level_but_never_the_lowest() -> None:
    assert [link_level(depth) for depth in (0, 1, 5, 10, 11, 65_535)] == [11, 10, 6, 1, 1, 1]
    assert link_level(0) < SEED_LEVEL


def test_the_pattern_of_three_levels() -> None:
    assert draw_pattern([1, 7, 12]) == [12, 7, 1, 12, 7, 12]


@given(st.sets(levels, min_size=1))
def test_the_kth_level_from_the_bottom_is_drawn_k_times(names: set[int]) -> None:
    drawn = Counter(draw_pattern(list(names)))
    assert drawn == {level: rank for rank, level in enumerate(sorted(names), 1)}


@given(st.sets(levels, min_size=1), st.randoms())
def test_the_pattern_does_not_depend_on_the_order_of_the_levels(names: set[int], random: Random) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)
    assert draw_pattern(shuffled) == draw_pattern(sorted(names))


def test_places_are_divided_by_rank() -> None:
    assert shares({1: 100, 5: 100, 9: 100}, total=60) == {1: 10, 5: 20, 9: 30}


def test_what_a_level_leaves_goes_to_the_others() -> None:
    assert shares({1: 100, 5: 3, 9: 100}, total=60) == {1: 14, 5: 3, 9: 43}


@given(available_urls, st.integers(0, 10_000))
def test_every_place_is_given_as_long_as_there_is_a_url(available: dict[int, int], total: int) -> None:
    taken = shares(available, total=total)
    assert sum(taken.values()) == min(total, sum(available.values()))


@given(available_urls, st.integers(0, 10_000))
def test_no_level_gives_more_than_it_has(available: dict[int, int], total: int) -> None:
    taken = shares(available, total=total)
    assert taken.keys() == available.keys()
    assert all(0 <= taken[level] <= available[level] for level in available)


@given(available_urls, st.integers(0, 10_000))
def test_no_level_starves(available: dict[int, int], total: int) -> None:
    ranks = {level: rank for rank, level in enumerate(sorted(available), 1)}
    weight = sum(ranks.values())
    if total < weight:
        return
    taken = shares(available, total=total)
    assert all(taken[level] >= min(available[level], total * ranks[level] // weight) for level in available)


def test_nothing_is_divided_among_nobody() -> None:
    assert shares({}, total=10) == {}
