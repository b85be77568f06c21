from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.linking import domains, joined, sketch_of

sketches = st.integers(0, 2**32 - 1)


def counted(number: int, seed: int) -> int:
    """Return the sketch of so many domains."""
    chance = Random(seed)
    return reduce(joined, (sketch_of(chance.randrange(2**32)) for _ in range(number)), 0)


@given(sketches, sketches, sketches)
def test_the_order_and_the_repeats_of_links_do_not_matter(one: int, other: int, third: int) -> None:
    assert joined(one, other) == joined(other, one)
    assert joined(joined(one, other), third) == joined(one, joined(other, third))
    assert joined(joined(one, other), other) == joined(one, other)


@given(sketches, sketches)
def test_more_domains_are_never_counted_as_fewer(one: int, other: int) -> None:
    assert domains(joined(one, other)) >= domains(one)


@given(st.integers(0, 2**32 - 1))
def test_one_domain_is_counted_as_one(domain_part: int) -> None:
    assert domains(sketch_of(domain_part)) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("number", [3, 10, 40, 200, 2000])
def test_the_mean_of_many_counts_is_near_the_truth(number: int) -> None:
    found = [domains(counted(number, seed)) for seed in range(60)]
    assert sum(found) / len(found) == pytest.approx(number, rel=0.35)


def test_a_url_is_written_seldom_however_many_domains_link_to_it() -> None:
    chance, sketch, writes = Random(5), 0, 0
    for _ in range(100_000):
        after = joined(sketch, sketch_of(chance.randrange(2**32)))
        writes, sketch = writes + (after != sketch), after
    assert writes < 120
