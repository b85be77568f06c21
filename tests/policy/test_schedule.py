import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.schedule import (
    MEMORY_A,
    PRIOR_A,
    PRIOR_B,
    Belief,
    bounded_interval,
    rare_interval,
    retry_wait,
)

beliefs = st.builds(Belief, st.floats(PRIOR_A, MEMORY_A), st.floats(1e-3, 1e4))
spans = st.floats(1e-4, 1e4)


def integral(function: Callable[[float], float], *, a: float, b: float) -> float:
    """Integrate over the rate by Simpson's rule in its logarithm, where Gamma(a, b) is a smooth hump."""
    mode = math.log(a / b)
    low, high, steps = mode - 90 / a - 5, mode + 6, 20_000
    width = (high - low) / steps
    weights = (1 if i in (0, steps) else 4 if i % 2 else 2 for i in range(steps + 1))
    points = (math.exp(low + i * width) for i in range(steps + 1))
    return math.fsum(w * function(x) * x for w, x in zip(weights, points, strict=True)) * width / 3


def posterior_moments(belief: Belief, tau: float) -> tuple[float, float]:
    """Return mean and variance of the rate after a change was seen, by numerical integration of Bayes' rule."""
    a, b = belief.a, belief.b

    def density(rate: float) -> float:
        return math.pow(rate, a - 1) * math.exp(-b * rate) * -math.expm1(-rate * tau)

    total = integral(density, a=a, b=b)
    mean = integral(lambda rate: rate * density(rate), a=a, b=b) / total
    square = integral(lambda rate: rate * rate * density(rate), a=a, b=b) / total
    return mean, square - mean * mean


def test_the_prior_expects_a_change_in_about_three_days() -> None:
    assert Belief().rate == pytest.approx(0.6)
    assert (Belief().a, Belief().b) == (PRIOR_A, PRIOR_B)


@pytest.mark.parametrize("tau", [0.01, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("belief", [Belief(), Belief(1.0, 2.0), Belief(3.5, 0.4), Belief(12.0, 90.0)])
def test_a_change_matches_mean_and_variance_of_the_posterior(belief: Belief, tau: float) -> None:
    mean, variance = posterior_moments(belief, tau)
    after = belief.changed(tau)
    assert after.rate == pytest.approx(mean, rel=1e-5)
    assert after.a / after.b**2 == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize("tau", [1e-13, 1e-12, 1e-11, 1e-10])
def test_a_change_after_next_to_no_time_is_one_event(tau: float) -> None:
    after = Belief(2.0, 5.0).changed(tau)
    assert after.a == pytest.approx(3.0, rel=1e-4)
    assert after.b == pytest.approx(5.0, rel=1e-4)


@given(beliefs, spans)
def test_the_same_content_lowers_the_expected_rate(belief: Belief, tau: float) -> None:
    after = belief.unchanged(tau)
    assert (after.a, after.b) == (belief.a, belief.b + tau)
    assert after.rate < belief.rate


@given(beliefs, spans)
def test_other_content_never_lowers_the_expected_rate(belief: Belief, tau: float) -> None:
    assert belief.changed(tau).rate >= belief.rate * (1 - 1e-9)


@given(beliefs, st.floats(1e-3, 10))
def test_other_content_after_a_short_time_raises_the_expected_rate(belief: Belief, times: float) -> None:
    assert belief.changed(times * belief.b / belief.a).rate > belief.rate


@given(beliefs, st.floats(-1e9, 0))
def test_no_time_teaches_nothing(belief: Belief, tau: float) -> None:
    assert belief.unchanged(tau) == belief
    assert belief.changed(tau) == belief


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1e5)), max_size=60))
def test_a_belief_stays_finite_and_within_its_memory(seen: list[tuple[bool, float]]) -> None:
    belief = Belief()
    for changed, tau in seen:
        belief = belief.changed(tau) if changed else belief.unchanged(tau)
        assert PRIOR_A * 0.999 <= belief.a <= MEMORY_A * 1.001
        assert 0 < belief.b < math.inf


def test_a_long_memory_is_scaled_down_and_keeps_its_rate() -> None:
    after = Belief(19.9, 199.0).changed(0.001)
    assert after.a == pytest.approx(MEMORY_A)
    assert after.rate == pytest.approx(20.9 / 199.0, rel=1e-3)


@given(st.floats(0, math.inf), st.floats(0, 1e7), st.floats(0, 1e7))
def test_an_interval_lies_within_its_bounds(wanted_s: float, min_s: float, more_s: float) -> None:
    interval_s = bounded_interval(wanted_s, min_s=min_s, max_s=min_s + more_s)
    assert max(1, int(min_s)) <= interval_s <= max(1, min_s + more_s)


def test_the_interval_of_a_gone_page_grows_by_half_up_to_the_longest() -> None:
    intervals, last = [], None
    for _ in range(6):
        last = rare_interval(last, min_s=100, max_s=500)
        intervals.append(last)
    assert intervals == [100, 150, 225, 337, 500, 500]


def test_the_wait_for_another_try_doubles_up_to_the_longest() -> None:
    waits = [retry_wait(failures, wait_s=10, max_s=100) for failures in (1, 2, 3, 4, 5, 500)]
    assert waits == [10, 20, 40, 80, 100, 100]
