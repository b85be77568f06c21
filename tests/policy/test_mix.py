import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.mix import Mix
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN

mixes = st.builds(Mix, new_share=st.floats(0, 1), refetches_max=st.none() | st.integers(0, 500))
counts = st.integers(0, 500)
turns = st.integers(0, 2**70)


@given(mixes, counts, counts, counts, turns)
def test_no_place_stays_empty_that_either_side_may_take(
    mix: Mix, new: int, refetches: int, places: int, turn: int
) -> None:
    taken, again = mix.split(new=new, refetches=refetches, places=places, turn=turn)
    allowed = refetches if mix.refetches_max is None else min(refetches, mix.refetches_max)
    assert 0 <= taken <= new
    assert 0 <= again <= allowed
    assert taken + again == min(places, new + allowed)


@given(mixes, counts, turns)
def test_each_side_gets_its_share_where_both_have_enough(mix: Mix, places: int, turn: int) -> None:
    taken, again = Mix(new_share=mix.new_share).split(new=500, refetches=500, places=places, turn=turn)
    assert abs(taken - mix.new_share * places) <= 1
    assert taken + again == places


def test_what_one_side_leaves_goes_to_the_other() -> None:
    mix = Mix(new_share=0.5)
    assert mix.split(new=10, refetches=500, places=100, turn=0) == (10, 90)
    assert mix.split(new=500, refetches=10, places=100, turn=0) == (90, 10)


def test_refetches_that_no_budget_pays_for_leave_their_places_to_new_pages() -> None:
    assert Mix(refetches_max=7).split(new=500, refetches=500, places=100, turn=0) == (93, 7)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_over_the_segments_a_host_of_one_place_gives_both_by_their_shares(share: float) -> None:
    mix = Mix(new_share=share)
    taken = [mix.split(new=9, refetches=9, places=1, turn=turn)[0] for turn in range(1000)]
    assert sum(taken) == pytest.approx(share * 1000, abs=5)
    assert sum(taken[500:508]) in range(1, 8)


@given(
    st.dictionaries(st.integers(0, LEVEL_MAX), st.integers(1, 50), max_size=12),
    st.integers(0, 400),
    mixes,
    turns,
)
def test_the_quotas_fill_the_segment_and_refetches_come_from_the_highest_level_down(
    available: dict[int, int], places: int, mix: Mix, turn: int
) -> None:
    quotas = mix.quotas(available, places=places, turn=turn)
    assert all(0 <= quota <= available[level] for level, quota in quotas.items())
    known = [level for level in sorted(available, reverse=True) if level >= LEVEL_MIN]
    taken = [quotas[level] for level in known]
    whole = [quota == available[level] for level, quota in zip(known, taken, strict=True)]
    assert sorted(whole, reverse=True) == whole
    assert sum(quota > 0 for quota in taken) <= whole.count(True) + 1
    refetches = sum(pages for level, pages in available.items() if level >= LEVEL_MIN)
    new, again = mix.split(new=sum(available.values()) - refetches, refetches=refetches, places=places, turn=turn)
    assert (sum(taken), sum(quotas.values())) == (again, new + again)
