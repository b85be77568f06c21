from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.lastmod import RECALL_MAX, Trust, trust_of
from batchcrawl.policy.recrawl import Intervals, fixed_prices
from batchcrawl.policy.schedule import MEMORY_A, PRIOR_A, Belief
from batchcrawl.policy.signals import hear

T = 1_796_040_000
HOUR, DAY = 3600, 86_400
INTERVALS = Intervals(first_s=30 * DAY, min_s=HOUR, max_s=365 * DAY, gone_s=30 * DAY, retry_s=DAY, failures_max=3)
PRICES = fixed_prices(30 * DAY)
PROVED = LastmodCounts(told_changed=50, silent_changed=2, told_same=1, silent_same=60, same_days=200.0)
TRUSTS = st.builds(Trust, st.floats(0.01, RECALL_MAX), st.floats(1e-4, 10))
BELIEFS = st.builds(Belief, st.floats(PRIOR_A, MEMORY_A), st.floats(1e-3, 1e4))


def stored(**changes: Any) -> UrlRecord:
    facts: dict[str, Any] = {
        "status": PageStatus.FETCHED,
        "place": Place.TIMER,
        "depth": 2,
        "last_fetch_at": T,
        "next_fetch_at": T + 30 * DAY,
        "lastmod_at": T - DAY,
        "rate_a": 1.0,
        "rate_b": 30.0,
        **changes,
    }
    return UrlRecord("http://example.org/", **facts)


def heard(record: UrlRecord, *, at: int, until: int, trust: Trust | None, intervals: Intervals = INTERVALS) -> bool:
    """Hear of a date half an hour after the last fetch."""
    return hear(record, intervals, PRICES, at=at, until=until, now=T + 1800, trust=trust)


def test_a_newer_date_of_a_trusted_site_makes_a_page_due_as_soon_as_the_least_interval_allows() -> None:
    record = stored()
    assert heard(record, at=T + 60, until=T + 60, trust=trust_of(PROVED))
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + HOUR, 1, T + 60)


def test_a_newer_date_of_a_site_that_is_not_trusted_is_only_remembered() -> None:
    record = stored()
    assert heard(record, at=T + 60, until=T + 60, trust=None)
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + 30 * 86_400, 1, T + 60)


def test_a_date_that_was_told_before_is_no_news() -> None:
    record = stored()
    before = structs.replace(record)
    assert not heard(record, at=T - 86_400, until=T + 60, trust=trust_of(PROVED))
    assert record == before


def test_a_date_before_the_last_fetch_is_no_signal() -> None:
    record = stored()
    assert heard(record, at=T - 60, until=T - 60, trust=trust_of(PROVED))
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + 30 * 86_400, 0, T - 60)


def test_a_day_that_goes_on_after_the_last_fetch_is_a_signal() -> None:
    record = stored()
    heard(record, at=T - 60, until=T + HOUR, trust=trust_of(PROVED))
    assert record.signals == 1


@pytest.mark.parametrize("place", [Place.READY, Place.LEASED, Place.NONE])
def test_a_page_that_waits_for_no_timer_keeps_its_time(place: Place) -> None:
    record = stored(place=place)
    heard(record, at=T + 60, until=T + 60, trust=trust_of(PROVED))
    assert record.next_fetch_at == T + 30 * 86_400


def test_a_page_that_is_not_stored_keeps_its_time() -> None:
    record = stored(status=PageStatus.GONE)
    heard(record, at=T + 60, until=T + 60, trust=trust_of(PROVED))
    assert record.next_fetch_at == T + 30 * 86_400


@pytest.mark.parametrize("policy", ["value", "fixed", "adaptive"])
@given(
    BELIEFS,
    TRUSTS,
    st.lists(st.tuples(st.integers(T - 10**6, T + 10**7), st.integers(0, DAY)), max_size=6),
    st.integers(T, T + 10**8),
)
def test_dates_never_make_a_page_due_later_nor_sooner_than_allowed(
    policy: Any, belief: Belief, trust: Trust, dates: list[tuple[int, int]], next_fetch_at: int
) -> None:
    record = stored(rate_a=belief.a, rate_b=belief.b, next_fetch_at=next_fetch_at)
    for at, span in dates:
        before = record.next_fetch_at or 0
        heard(record, at=at, until=at + span, trust=trust, intervals=replace(INTERVALS, policy=policy))
        assert min(before, T + HOUR) <= (record.next_fetch_at or 0) <= before


@pytest.mark.parametrize("policy", ["fixed", "adaptive"])
def test_a_page_under_a_policy_of_intervals_is_due_once_it_is_probably_stale(policy: Any) -> None:
    record, intervals = stored(), replace(INTERVALS, policy=policy)
    heard(record, at=T + 60, until=T + 60, trust=trust_of(PROVED), intervals=intervals)
    assert record.next_fetch_at == T + HOUR


def test_a_page_that_is_told_to_have_changed_is_not_due_while_it_is_worth_less_than_the_floor() -> None:
    record = stored(depth=40, costly=True)
    heard(record, at=T + 60, until=T + 60, trust=trust_of(PROVED))
    assert (record.next_fetch_at, record.signals) == (T + 30 * DAY, 1)
