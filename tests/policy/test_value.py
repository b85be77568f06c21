import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batchcrawl.policy.schedule import MEMORY_A, PRIOR_A, Belief
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value, reached_after, still_right, value, value_level

floats32 = st.floats(width=32, min_value=0.0, exclude_min=True, allow_infinity=False)
any_belief = st.builds(Belief, floats32, floats32)
beliefs = st.builds(Belief, st.floats(PRIOR_A / 4, MEMORY_A), st.floats(1e-3, 1e4))
spans = st.floats(1e-6, 1e5)
weights = st.floats(1e-6, 1e6)


def integral(a: float, s: float) -> float:
    """Integrate x a (1 + x)^-(a+1) from 0 to s by Simpson's rule in ln(1 + x)."""
    steps, top = 6_000, math.log1p(s)
    width = top / steps
    factors = (1 if i in (0, steps) else 4 if i % 2 else 2 for i in range(steps + 1))
    points = (i * width for i in range(steps + 1))
    return math.fsum(f * math.expm1(u) * math.exp(-a * u) for f, u in zip(factors, points, strict=True)) * a * width / 3


@pytest.mark.parametrize("a", [0.01, 0.25, 0.999, 1.0, 1.001, 2.0, 7.5, 20.0])
@pytest.mark.parametrize("s", [1e-6, 1e-4, 2e-3, 0.02, 0.3, 1.0, 8.0, 1e3])
def test_a_value_is_the_area_that_is_gained_over_all_rates(a: float, s: float) -> None:
    assert value(Belief(a, 2.0), tau=2.0 * s, weight=3.0) == pytest.approx(6.0 * integral(a, s), rel=1e-8)


def test_at_a_shape_of_one_a_value_is_a_logarithm() -> None:
    assert value(Belief(1.0, 1.0), tau=3.0, weight=1.0) == pytest.approx(math.log(4.0) - 3.0 / 4.0)


def test_a_value_of_a_rate_that_is_nearly_known_is_the_one_of_that_rate() -> None:
    rate, tau = 0.5, 3.0
    x = rate * tau
    known = (1 - math.exp(-x) * (1 + x)) / rate
    assert value(Belief(MEMORY_A, MEMORY_A / rate), tau=tau, weight=1.0) == pytest.approx(known, rel=0.06)


@given(beliefs, spans, st.floats(1.001, 1e3), weights)
def test_a_value_rises_with_time(belief: Belief, tau: float, factor: float, weight: float) -> None:
    before = value(belief, tau=tau, weight=weight)
    assert 0 < before <= value(belief, tau=tau * factor, weight=weight) * (1 + 1e-11)


@given(beliefs, spans, weights)
def test_a_value_is_proportional_to_the_weight(belief: Belief, tau: float, weight: float) -> None:
    assert value(belief, tau=tau, weight=weight) == pytest.approx(weight * value(belief, tau=tau, weight=1.0))


def test_nothing_is_worth_anything_at_once_or_without_weight() -> None:
    assert value(Belief(), tau=0.0, weight=1.0) == value(Belief(), tau=-3.0, weight=1.0) == 0.0
    assert value(Belief(), tau=1.0, weight=0.0) == 0.0


@given(any_belief, floats32, floats32)
@example(Belief(1e-45, 1e-45), 3e38, 3e38)
@example(Belief(3e38, 3e38), 1e-45, 1e-45)
@example(Belief(1.0, 1e-45), 3e38, 1e-45)
def test_whatever_float32_holds_gives_a_finite_value_chance_and_level(
    belief: Belief, tau: float, weight: float
) -> None:
    worth = value(belief, tau=tau, weight=weight)
    assert 0 <= worth < math.inf
    assert LEVEL_MIN <= value_level(worth) <= LEVEL_MAX
    assert 0 <= still_right(belief, tau) <= 1


@given(any_belief, floats32, st.integers(LEVEL_MIN, LEVEL_MAX))
@example(Belief(1.0, 1e-45), 1e-45, LEVEL_MAX)
@example(Belief(1e-45, 3e38), 3e38, LEVEL_MIN)
def test_whatever_float32_holds_gives_an_instant_for_each_level(belief: Belief, weight: float, level: int) -> None:
    after = reached_after(belief, weight=weight, wanted=level_value(level))
    assert after >= 0
    if math.isfinite(after):
        assert value_level(value(belief, tau=after, weight=weight) * (1 + 1e-9)) >= level


@given(any_belief, floats32, floats32)
@example(Belief(3e38, 3e38), 3e38, 3e38)
@example(Belief(1e-45, 1e-45), 1e-45, 1e-45)
def test_whatever_float32_holds_teaches_a_belief_that_float32_holds(belief: Belief, tau: float, age: float) -> None:
    for after in (belief.unchanged(tau), belief.changed(tau), belief.changed_at(tau=tau, age=age)):
        a, b = struct.unpack("<2f", struct.pack("<2f", after.a, after.b))
        assert 0 < a <= MEMORY_A * 1.001
        assert 0 < b < math.inf
        assert math.isfinite(after.rate)


@given(beliefs, spans, weights)
@example(Belief(3.5, 1.0), 44104.0, 1.0)
def test_a_value_is_reached_when_it_is_said_to_be(belief: Belief, tau: float, weight: float) -> None:
    wanted = value(belief, tau=tau, weight=weight)
    after = reached_after(belief, weight=weight, wanted=wanted)
    if math.isfinite(after):
        assert value(belief, tau=after, weight=weight) == pytest.approx(wanted, rel=1e-9)
    else:
        assert belief.a > 1  # So near to its limit that no float tells them apart.
        assert wanted == pytest.approx(weight * belief.b / (belief.a - 1), rel=1e-9)


@given(beliefs, weights, st.integers(80, 180), st.floats(1.00001, 4.0))
def test_more_is_reached_later(belief: Belief, weight: float, level: int, factor: float) -> None:
    wanted = level_value(level)
    earlier = reached_after(belief, weight=weight, wanted=wanted)
    later = reached_after(belief, weight=weight, wanted=wanted * factor)
    assert later > earlier or later == earlier == math.inf


@given(beliefs, weights, st.integers(80, 180))
def test_a_page_has_its_next_level_when_its_timer_fires(belief: Belief, weight: float, level: int) -> None:
    after = reached_after(belief, weight=weight, wanted=level_value(level))
    if math.isfinite(after):
        assert value_level(value(belief, tau=after * (1 + 1e-9), weight=weight)) == level
        assert value_level(value(belief, tau=after * (1 - 1e-6), weight=weight)) in (level - 1, level)


def test_more_than_a_page_can_ever_be_worth_is_never_reached() -> None:
    limit = 3.0 * 2.0 / (1.5 - 1)
    assert reached_after(Belief(1.5, 2.0), weight=3.0, wanted=limit) == math.inf
    assert math.isfinite(reached_after(Belief(1.5, 2.0), weight=3.0, wanted=limit * 0.999))
    assert reached_after(Belief(), weight=0.0, wanted=1e-9) == math.inf


def test_nothing_is_reached_at_once() -> None:
    assert reached_after(Belief(), weight=1.0, wanted=0.0) == 0.0


@pytest.mark.parametrize("level", range(LEVEL_MIN, LEVEL_MAX + 1))
def test_the_lower_bound_of_a_level_has_that_level(level: int) -> None:
    assert value_level(level_value(level)) == level
    assert value_level(level_value(level) * 1.41) == level


def test_a_level_is_half_an_octave_and_bounded() -> None:
    assert [value_level(worth) for worth in (0.5, 0.999, 1.0, 1.42, 2.0)] == [126, 127, 128, 129, 130]
    assert [value_level(worth) for worth in (-1.0, 0.0, 1e-300)] == [LEVEL_MIN] * 3
    assert [value_level(worth) for worth in (1e300, math.inf)] == [LEVEL_MAX] * 2


@given(beliefs, spans)
def test_the_chance_that_a_copy_is_right_falls_with_time(belief: Belief, tau: float) -> None:
    assert still_right(belief, 0.0) == 1.0
    assert still_right(belief, tau) == pytest.approx((1 + tau / belief.b) ** -belief.a, abs=1e-12)
    assert still_right(belief, 2 * tau) <= still_right(belief, tau)


@given(beliefs, spans, st.floats(0, 1))
def test_a_change_whose_instant_is_known_counts_with_the_time_since_then(
    belief: Belief, tau: float, part: float
) -> None:
    after = belief.changed_at(tau=tau, age=part * tau)
    assert after.rate == pytest.approx((belief.a + 1) / (belief.b + part * tau))


def test_an_age_outside_of_the_time_between_two_fetches_is_brought_into_it() -> None:
    assert Belief(1.0, 2.0).changed_at(tau=3.0, age=9.0) == Belief(2.0, 5.0)
    assert Belief(1.0, 2.0).changed_at(tau=3.0, age=-9.0) == Belief(2.0, 2.0)
    assert Belief(1.0, 2.0).changed_at(tau=0.0, age=0.0) == Belief(1.0, 2.0)
