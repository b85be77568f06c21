import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.importance import (
    COSTLY_PART,
    DEPTH_OF_ONE,
    DEPTH_PART_MIN,
    INLINKS_PART_MAX,
    SCORE_MAX,
    SCORE_MIN,
    importance,
)
from batchcrawl.policy.linking import joined, sketch_of

URL = "http://example.org/"


def test_a_page_of_no_particular_importance_weighs_one() -> None:
    assert importance(UrlRecord(URL, depth=DEPTH_OF_ONE)).weight == 1


def test_what_is_nearer_to_a_seed_weighs_more() -> None:
    parts = [importance(UrlRecord(URL, depth=depth)).depth for depth in range(8)]
    assert parts[0] == 2
    assert parts[6:] == [DEPTH_PART_MIN] * 2
    assert all(parts[depth] == pytest.approx(2 * parts[depth + 2]) for depth in range(5))
    assert parts == sorted(parts, reverse=True)


def test_a_seed_weighs_as_much_as_its_score_says() -> None:
    weights = [importance(UrlRecord(URL, seed=True, score=score)).weight for score in (None, 1.0, 8.0)]
    assert weights == [2, 2, 16]


def test_what_is_costly_weighs_little() -> None:
    parts = importance(UrlRecord(URL, depth=DEPTH_OF_ONE, costly=True))
    assert (parts.costly, parts.weight) == (COSTLY_PART, COSTLY_PART)


def test_what_more_domains_link_to_weighs_more() -> None:
    sketch, parts = 0, [1.0]
    for number in range(1000):
        sketch = joined(sketch, sketch_of(number * 0x9E37_79B1 & 0xFFFF_FFFF))
        parts.append(importance(UrlRecord(URL, inlinks=sketch)).inlinks)
    assert parts == sorted(parts)
    assert parts[1] == pytest.approx(2**0.5, rel=0.03)
    assert parts[-1] == INLINKS_PART_MAX


@given(st.integers(0, 2**20), st.none() | st.floats(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_weight_is_bounded_whatever_the_record_says(
    depth: int, score: float | None, inlinks: int, costly: bool
) -> None:
    weight = importance(UrlRecord(URL, depth=depth, score=score, inlinks=inlinks, costly=costly)).weight
    assert DEPTH_PART_MIN * SCORE_MIN * COSTLY_PART <= weight <= 2 * SCORE_MAX * INLINKS_PART_MAX


@pytest.mark.parametrize("score", [0.0, -5.0])
def test_a_seed_of_no_score_still_weighs_something(score: float) -> None:
    assert importance(UrlRecord(URL, score=score)).score == SCORE_MIN
