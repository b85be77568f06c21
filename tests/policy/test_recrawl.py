from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.record import INSTANT_MAX, UrlRecord, decode_record, encode_record
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.lastmod import Trust
from batchcrawl.policy.recrawl import (
    RISE_S,
    Intervals,
    Prices,
    fixed_prices,
    interval_until,
    lift,
    price_of,
    returned_place,
    weight_of,
    worth,
)
from batchcrawl.policy.schedule import MEMORY_A, PRIOR_A
from batchcrawl.policy.value import LEVEL_MAX, LEVEL_MIN, level_value, value_level

T = 1_796_040_000
HOUR, DAY = 3600, 86_400
INTERVALS = Intervals(first_s=30 * DAY, min_s=HOUR, max_s=365 * DAY, gone_s=30 * DAY, retry_s=DAY, failures_max=3)
PRICES = fixed_prices(30 * DAY)
LOW = Prices(price=PRICES.price, floor=PRICES.price / 4)
NOT_STORED = [PageStatus.REDIRECT, PageStatus.GONE, PageStatus.BLOCKED, PageStatus.SKIPPED]
beliefs = {"rate_a": st.floats(PRIOR_A, MEMORY_A, width=32), "rate_b": st.floats(2**-10, 2**14, width=32)}
pages = st.builds(
    UrlRecord,
    st.just("http://example.org/"),
    status=st.sampled_from([PageStatus.FETCHED, PageStatus.DUPLICATE]),
    place=st.sampled_from([Place.TIMER, Place.RISING]),
    depth=st.integers(0, 9),
    last_fetch_at=st.integers(T - 400 * DAY, T),
    **beliefs,
)
prices = st.builds(
    lambda price, below: Prices(price=price, floor=price / below), st.floats(1e-6, 1e4), st.floats(1, 64)
)


def stored(**changes: Any) -> UrlRecord:
    facts: dict[str, Any] = {"status": PageStatus.FETCHED, "place": Place.TIMER, "depth": 2, "last_fetch_at": T}
    return UrlRecord("http://example.org/", **(facts | changes))


def test_without_a_budget_a_page_of_which_nothing_is_known_comes_after_the_first_interval() -> None:
    assert interval_until(stored(), INTERVALS, wanted=PRICES.floor) == 30 * DAY


def test_a_kind_with_a_first_interval_of_its_own_comes_after_that() -> None:
    lists = replace(INTERVALS, first_s=DAY, weight=PRICES.price / price_of(DAY))
    assert interval_until(stored(), lists, wanted=PRICES.floor) == DAY


def test_a_page_below_the_floor_waits_until_it_is_worth_it() -> None:
    record = stored()
    lift(record, INTERVALS, PRICES, now=T + 29 * DAY)
    assert (record.place, record.next_fetch_at) == (Place.TIMER, T + 30 * DAY)


def test_a_page_that_is_worth_the_floor_is_ready_at_the_level_of_its_value_and_rises() -> None:
    record = stored()
    lift(record, INTERVALS, PRICES, now=T + 30 * DAY)
    assert (record.place, record.level) == (Place.RISING, value_level(PRICES.price))
    rises_at = record.next_fetch_at or 0
    assert worth(record, INTERVALS, at=rises_at) == pytest.approx(level_value(record.level + 1), rel=1e-5)


def test_a_page_that_rises_is_one_level_higher_then() -> None:
    record = stored()
    lift(record, INTERVALS, LOW, now=T + 20 * DAY)
    for _ in range(5):
        level = record.level
        lift(record, INTERVALS, LOW, now=(record.next_fetch_at or 0) + 59)
        assert (record.place, record.level) == (Place.RISING, level + 1)


@pytest.mark.parametrize("place", [Place.TIMER, Place.RISING])
def test_a_page_at_the_longest_interval_is_ready_before_all_others(place: Place) -> None:
    record = stored(place=place, rate_a=20.0, rate_b=0.001)
    lift(record, INTERVALS, PRICES, now=T + 365 * DAY)
    assert (record.place, record.level, record.next_fetch_at) == (Place.READY, LEVEL_MAX, T + 365 * DAY)


def test_a_page_that_is_never_worth_the_floor_waits_for_the_longest_interval() -> None:
    record = stored(rate_a=20.0, rate_b=0.001)
    lift(record, INTERVALS, PRICES, now=T + 100 * DAY)
    assert (record.place, record.next_fetch_at) == (Place.TIMER, T + 365 * DAY)


def test_a_page_is_not_ready_before_the_least_interval_whatever_it_is_worth() -> None:
    record = stored(score=64.0)
    lift(record, INTERVALS, Prices(price=1e-9, floor=1e-9), now=T + 60)
    assert (record.place, record.next_fetch_at) == (Place.TIMER, T + HOUR)


@pytest.mark.parametrize(
    "facts",
    [
        *({"status": status} for status in NOT_STORED),
        {"seed_interval_s": DAY},
        {"status": PageStatus.GONE, "retries": 4},
    ],
)
def test_what_waits_for_an_instant_is_ready_then_at_the_level_of_the_price(facts: dict[str, Any]) -> None:
    record = stored(next_fetch_at=T + DAY, **facts)
    lift(record, INTERVALS, PRICES, now=T + DAY)
    assert (record.place, record.level, record.next_fetch_at) == (Place.READY, value_level(PRICES.price), T + DAY)


@pytest.mark.parametrize("policy", ["fixed", "adaptive"])
def test_under_a_policy_of_intervals_every_page_waits_for_its_instant(policy: Any) -> None:
    record = stored(next_fetch_at=T + DAY)
    lift(record, replace(INTERVALS, policy=policy), PRICES, now=T + DAY)
    assert (record.place, record.level) == (Place.READY, value_level(PRICES.price))


@pytest.mark.parametrize("facts", [{"status": PageStatus.UNFETCHED, "last_fetch_at": None}, {"retries": 1}])
def test_a_url_that_is_tried_again_has_the_level_that_it_had(facts: dict[str, Any]) -> None:
    record = stored(level=9, next_fetch_at=T + DAY, **facts)
    lift(record, INTERVALS, PRICES, now=T + DAY)
    assert (record.place, record.level) == (Place.READY, 9)


def test_a_page_that_is_told_to_have_changed_is_ready_although_it_was_fetched_just_now() -> None:
    record = stored(signals=1, rate_a=1.0, rate_b=30.0)
    lift(record, INTERVALS, PRICES, now=T + HOUR, trust=Trust(0.8, 1e-3))
    assert record.place is Place.RISING
    assert record.level > value_level(PRICES.price)


@given(pages, prices, st.integers(60, 500 * DAY))
def test_a_timer_that_is_set_is_not_due_yet_and_the_level_is_that_of_the_value(
    page: UrlRecord, of_pages: Prices, waited_s: int
) -> None:
    now = (page.last_fetch_at or 0) + waited_s
    lift(page, INTERVALS, of_pages, now=now)
    at, level = page.next_fetch_at or 0, page.level
    if page.place is Place.TIMER:
        assert at > now
        assert worth(page, INTERVALS, at=now) < of_pages.floor or waited_s < INTERVALS.min_s
        assert at <= (page.last_fetch_at or 0) + INTERVALS.max_s
    elif page.place is Place.RISING:
        assert at >= now + RISE_S
        assert level >= value_level(worth(page, INTERVALS, at=now))
        assert level_value(level) <= worth(page, INTERVALS, at=now + 2 * RISE_S) * (1 + 1e-6) or level == LEVEL_MIN
    else:
        assert (level, at) == (LEVEL_MAX, now)


@given(pages, prices)
def test_from_its_fetch_to_the_longest_interval_a_page_rises_and_never_falls(page: UrlRecord, of_pages: Prices) -> None:
    page.place, now = Place.TIMER, page.last_fetch_at or 0
    levels = []
    while page.place is not Place.READY:
        lift(page, INTERVALS, of_pages, now=now)
        page = decode_record(encode_record(page))
        levels += [page.level] if page.place is not Place.TIMER else []
        now = -(-(page.next_fetch_at or 0) // 60) * 60
    assert levels == sorted(levels)
    assert now <= -(-((page.last_fetch_at or 0) + INTERVALS.max_s) // 60) * 60


@given(st.integers(0, INSTANT_MAX), st.integers(0, INSTANT_MAX))
def test_what_was_leased_while_it_rose_rises_again(next_fetch_at: int, lease: int) -> None:
    place = returned_place(stored(next_fetch_at=next_fetch_at), lease)
    assert place is (Place.RISING if next_fetch_at > lease else Place.READY)


@given(pages, st.floats(0.1, 100))
def test_the_weight_of_a_kind_multiplies_that_of_its_pages(page: UrlRecord, weight: float) -> None:
    assert weight_of(page, replace(INTERVALS, weight=weight)) == pytest.approx(weight * weight_of(page, INTERVALS))
