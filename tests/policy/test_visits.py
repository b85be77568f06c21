import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import INSTANT_MAX, decode_record, encode_record
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.recrawl import Intervals, belief_of
from batchcrawl.policy.schedule import PRIOR, Belief
from batchcrawl.policy.value import LEVEL_MIN, value
from batchcrawl.policy.visits import Visit
from tests.support.visits import DAY, INTERVALS, PRICES, A, B, T, applied, leased, page, stored, visit

FAILURES = (
    FetchOutcome.SERVER_ERROR,
    FetchOutcome.TIMEOUT,
    FetchOutcome.CONNECT_FAILED,
    FetchOutcome.DNS_FAILED,
    FetchOutcome.TLS_FAILED,
    FetchOutcome.PROTOCOL_ERROR,
    FetchOutcome.REDIRECT_INVALID,
)
COPY_FIELDS = (
    "signature",
    "simhash",
    "digest",
    "etag",
    "last_modified",
    "segment",
    "duplicate_of",
    "body_at",
    "content_encoding",
    "content_at",
    "near_to",
)


def test_a_first_page_is_stored_and_comes_again_after_the_first_interval() -> None:
    record = leased()
    applied(record, page(), INTERVALS)
    assert (record.status, record.outcome, record.http_status) == (PageStatus.FETCHED, FetchOutcome.FETCHED, 200)
    assert (record.fetches, record.changes, record.last_fetch_at, record.last_change_at) == (1, 0, T, None)
    assert (record.signature, record.etag, record.digest, record.segment) == (A, '"new"', "sha1:N", "20261130T000000Z")
    assert (record.place, record.next_fetch_at, record.interval_s) == (Place.TIMER, T + DAY, DAY)
    assert (record.rate_a, record.rate_b) == (0, 0)


def test_the_same_content_lowers_the_expected_rate() -> None:
    record = stored()
    applied(record, page(A), INTERVALS)
    assert belief_of(record, PRIOR) == Belief().unchanged(1.0)
    assert (record.fetches, record.changes) == (2, 0)


def test_other_content_raises_the_expected_rate_and_is_counted() -> None:
    record = stored()
    applied(record, page(B), INTERVALS)
    assert belief_of(record, PRIOR) == Belief().changed(1.0)
    assert belief_of(record, PRIOR).rate > Belief().rate
    assert (record.changes, record.last_change_at, record.signature) == (1, T, B)


def test_a_304_is_the_same_content_and_keeps_the_copy() -> None:
    record = stored()
    before = msgspec.structs.replace(record)
    applied(record, visit(FetchOutcome.NOT_MODIFIED, http_status=304), INTERVALS)
    assert belief_of(record, PRIOR) == Belief().unchanged(1.0)
    assert [getattr(record, name) for name in COPY_FIELDS] == [getattr(before, name) for name in COPY_FIELDS]
    assert (record.status, record.http_status, record.fetches) == (PageStatus.FETCHED, 304, 2)


def test_answers_304_are_counted_until_the_body_comes_again() -> None:
    record = stored()
    for number in (1, 2, 3):
        applied(record, visit(FetchOutcome.NOT_MODIFIED, http_status=304, at=T + number), INTERVALS)
        assert record.not_modified == number
    applied(record, visit(FetchOutcome.TIMEOUT, at=T + 4), INTERVALS)
    assert record.not_modified == 3
    for came in (page(at=T + 5), page(None, revisit=True, at=T + 5), visit(FetchOutcome.GONE, at=T + 5)):
        other = msgspec.structs.replace(record)
        applied(other, came, INTERVALS)
        assert other.not_modified == 0


def test_the_same_bytes_keep_the_copy_and_renew_its_validators() -> None:
    record = stored()
    wanted = msgspec.structs.replace(record, etag='"new"', last_modified="now")
    applied(record, page(None, revisit=True, parsed=False, body_at=record.body_at, digest="sha1:A"), INTERVALS)
    assert [getattr(record, name) for name in COPY_FIELDS] == [getattr(wanted, name) for name in COPY_FIELDS]
    assert (record.status, record.http_status, record.fetches, record.changes) == (PageStatus.FETCHED, 200, 2, 0)
    assert belief_of(record, PRIOR) == Belief().unchanged(1.0)


def test_a_new_body_is_the_one_that_later_visits_refer_to() -> None:
    record = stored(not_modified=2)
    applied(record, page(B), INTERVALS)
    assert (record.body_at, record.segment, record.content_encoding) == (T + 0.5, "20261130T000000Z", "br")


@pytest.mark.parametrize(
    "changes",
    [{"truncated": True}, {"parsed": False}, {"http_status": 203}, {"http_status": 206}, {"depth": 2}, {"hops": 3}],
)
def test_nothing_may_refer_to_a_body_that_is_not_whole_or_was_parsed_as_one_further_away(
    changes: dict[str, Any],
) -> None:
    record = stored(depth=1, hops=2)
    applied(record, page(**changes), INTERVALS)
    assert record.body_at is None


def test_a_page_comes_again_when_it_is_worth_the_price() -> None:
    record = stored(rate_a=2.0, rate_b=400.0)
    applied(record, page(A), INTERVALS)
    days = ((record.next_fetch_at or 0) - T) / DAY
    assert record.interval_s == days * DAY
    assert value(Belief(2.0, 401.0), tau=days, weight=1.0) == pytest.approx(PRICES.price, rel=1e-4)


def test_a_page_that_is_never_worth_the_price_comes_again_after_the_longest_interval() -> None:
    record = stored(rate_a=20.0, rate_b=0.01)
    applied(record, page(A), INTERVALS)
    assert record.interval_s == INTERVALS.max_s


def test_a_seed_line_sets_the_interval_within_the_bounds() -> None:
    for wanted, interval in ((7200, 7200), (1, 3600), (9999 * DAY, 365 * DAY)):
        record = stored(seed_interval_s=wanted)
        applied(record, page(), INTERVALS)
        assert record.interval_s == interval


@pytest.mark.parametrize(("next_fetch_at", "place"), [(T - 500, Place.READY), (T + 500, Place.RISING)])
def test_a_url_that_is_given_back_is_ready_as_before_and_rises_if_it_did(next_fetch_at: int, place: Place) -> None:
    record = stored(next_fetch_at=next_fetch_at, level=99)
    applied(record, visit(FetchOutcome.TIME_LIMIT), INTERVALS)
    assert (record.place, record.level, record.next_fetch_at, record.lease) == (place, 99, next_fetch_at, None)


@pytest.mark.parametrize("outcome", [FetchOutcome.FETCHED, FetchOutcome.REDIRECT, FetchOutcome.GONE])
def test_what_was_fetched_comes_again_on_a_level_of_refetches(outcome: FetchOutcome) -> None:
    record = leased()
    applied(record, visit(outcome), INTERVALS)
    assert record.level == LEVEL_MIN


def test_half_a_page_has_no_validators_and_teaches_nothing() -> None:
    record = stored()
    applied(record, page(B, truncated=True), INTERVALS)
    assert (record.signature, record.simhash, record.etag, record.last_modified) == (None, None, None, None)
    assert (record.rate_b, record.changes) == (0, 0)
    assert (record.status, record.digest, record.segment) == (PageStatus.FETCHED, None, "20261130T000000Z")


def test_a_page_that_was_not_parsed_has_no_validators_and_teaches_nothing() -> None:
    record = stored()
    applied(record, page(None, parsed=False), INTERVALS)
    assert (record.signature, record.etag, record.digest, record.changes) == (None, None, None, 0)


def test_a_page_without_words_is_told_by_its_bytes() -> None:
    record = stored(signature=None)
    applied(record, page(None), INTERVALS)
    assert (record.etag, record.changes) == ('"new"', 1)
    applied(record, page(None), INTERVALS)
    assert record.changes == 1


def test_a_page_after_half_a_page_teaches_nothing() -> None:
    record = stored(signature=None, etag=None, digest=None)
    applied(record, page(A), INTERVALS)
    assert (record.signature, record.rate_b) == (A, 0)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (FetchOutcome.REDIRECT, PageStatus.REDIRECT),
        (FetchOutcome.NOT_FOUND, PageStatus.GONE),
        (FetchOutcome.GONE, PageStatus.GONE),
        (FetchOutcome.DENIED, PageStatus.BLOCKED),
        (FetchOutcome.ROBOTS_DENIED, PageStatus.BLOCKED),
        (FetchOutcome.ADDRESS_REFUSED, PageStatus.BLOCKED),
        (FetchOutcome.SKIPPED_TYPE, PageStatus.SKIPPED),
    ],
)
def test_where_no_page_is_any_more_the_copy_is_forgotten(outcome: FetchOutcome, status: PageStatus) -> None:
    record = stored(duplicate_of=B)
    applied(record, visit(outcome, content_type="image/png"), INTERVALS)
    assert (record.status, record.outcome, record.content_type) == (status, outcome, "image/png")
    assert [getattr(record, name) for name in COPY_FIELDS] == [None] * len(COPY_FIELDS)
    assert (record.retries, record.fetches, record.last_fetch_at) == (0, 2, T)


def test_a_redirect_is_kept_until_a_page_comes() -> None:
    record = stored()
    applied(record, visit(FetchOutcome.REDIRECT, redirect="http://example.org/new"), INTERVALS)
    assert record.redirect == "http://example.org/new"
    applied(record, page(), INTERVALS)
    assert record.redirect is None


@pytest.mark.parametrize("outcome", [FetchOutcome.NOT_FOUND, FetchOutcome.GONE])
def test_a_page_that_vanishes_counts_once_as_changed(outcome: FetchOutcome) -> None:
    record = stored()
    applied(record, visit(outcome), INTERVALS)
    assert (belief_of(record, PRIOR), record.changes, record.last_change_at) == (Belief().changed(1.0), 1, T)
    applied(record, visit(outcome, at=T + DAY), INTERVALS)
    assert (belief_of(record, PRIOR), record.changes) == (Belief().changed(1.0), 1)


def test_a_gone_page_is_looked_at_ever_more_rarely() -> None:
    record, intervals = stored(), []
    for _ in range(8):
        applied(record, visit(FetchOutcome.GONE), INTERVALS)
        intervals.append((record.interval_s or 0) // DAY)
    assert intervals == [30, 45, 67, 101, 151, 227, 341, 365]


def test_a_page_that_is_back_from_being_gone_starts_anew() -> None:
    record = stored(rate_a=0.5, rate_b=1.0)
    applied(record, visit(FetchOutcome.GONE), INTERVALS)
    applied(record, page(at=T + 30 * DAY), INTERVALS)
    assert (record.status, record.signature, record.changes) == (PageStatus.FETCHED, A, 1)
    assert belief_of(record, PRIOR) == Belief()


@pytest.mark.parametrize("outcome", FAILURES)
def test_a_failure_is_no_observation(outcome: FetchOutcome) -> None:
    record = stored(rate_a=0.5, rate_b=1.0)
    applied(record, visit(outcome, http_status=500), INTERVALS)
    assert (record.status, record.outcome, record.retries) == (PageStatus.FETCHED, outcome, 1)
    assert (record.rate_a, record.rate_b, record.fetches, record.signature) == (0.5, 1.0, 1, A)
    assert (record.place, record.next_fetch_at) == (Place.TIMER, T + 7200)
    assert record.last_fetch_at == T - DAY


def test_a_failure_between_two_pages_does_not_shorten_the_time_between_them() -> None:
    record = stored()
    applied(record, visit(FetchOutcome.TIMEOUT, at=T + DAY), INTERVALS)
    applied(record, page(A, at=T + 2 * DAY), INTERVALS)
    assert belief_of(record, PRIOR) == Belief().unchanged(3.0)


def test_failures_wait_longer_each_time_then_the_url_is_gone() -> None:
    record, waits = stored(), []
    for _ in range(4):
        applied(record, visit(FetchOutcome.TIMEOUT), INTERVALS)
        waits.append((record.next_fetch_at or 0) - T)
    assert waits == [7200, 14_400, 28_800, 30 * DAY]
    assert (record.status, record.retries) == (PageStatus.GONE, 4)


def test_a_url_that_is_given_up_loses_its_validators_so_that_a_304_cannot_keep_it_gone() -> None:
    record = stored(retries=3)
    applied(record, visit(FetchOutcome.TIMEOUT), INTERVALS)
    assert [getattr(record, name) for name in COPY_FIELDS] == [None] * len(COPY_FIELDS)


def test_a_304_that_nobody_asked_for_is_a_failure_and_ends_like_one() -> None:
    record = leased()
    for retries in (1, 2, 3, 4):
        applied(record, visit(FetchOutcome.NOT_MODIFIED, http_status=304), INTERVALS)
        assert record.retries == retries
    assert record.status is PageStatus.GONE


@pytest.mark.parametrize("outcome", [FetchOutcome.DEFERRED, FetchOutcome.TIME_LIMIT])
def test_a_url_that_had_no_turn_goes_back_as_it_was(outcome: FetchOutcome) -> None:
    record = stored(retries=2)
    before = msgspec.structs.replace(record, place=Place.READY, lease=None)
    applied(record, visit(outcome, http_status=503), INTERVALS)
    assert record == before


visits = st.builds(
    Visit,
    outcome=st.sampled_from(FetchOutcome),
    at=st.integers(0, INSTANT_MAX),
    segment=st.just("20261130T000000Z"),
    http_status=st.none() | st.integers(100, 599),
    etag=st.none() | st.just('"e"'),
    truncated=st.booleans(),
    revisit=st.booleans(),
    body_at=st.none() | st.floats(0, INSTANT_MAX),
    signature=st.none() | st.sampled_from([A, B]),
    simhash=st.none() | st.just(b"s" * 8),
)
intervals = st.builds(
    Intervals,
    first_s=st.integers(0, 10**10),
    min_s=st.integers(0, 10**10),
    max_s=st.integers(0, 10**10),
    gone_s=st.integers(0, 10**10),
    retry_s=st.integers(0, 10**10),
    failures_max=st.integers(0, 5),
)


@given(st.lists(visits, max_size=30), intervals, st.none() | st.integers(1, 10**10))
def test_any_history_leaves_a_record_that_can_be_stored_and_has_its_place(
    history: list[Visit], times: Intervals, seed_interval_s: int | None
) -> None:
    record = leased(seed_interval_s=seed_interval_s)
    for one in history:
        record.place, record.lease = Place.LEASED, T
        cell = applied(record, one, times)
        timed = cell.conclusive or cell.failure
        assert not timed or one.at <= (record.next_fetch_at or 0) <= INSTANT_MAX
        read = decode_record(encode_record(record))
        assert (read.status, read.lease) == (cell.status, None)
        assert read.place in ({Place.TIMER} if timed else {Place.READY, Place.RISING})
        assert (read.next_fetch_at or 0) == (record.next_fetch_at or 0)
        assert math.isfinite(read.rate_a)
        assert math.isfinite(read.rate_b)
        record = read


@given(st.lists(visits, max_size=30))
def test_only_a_stored_page_has_a_copy(history: list[Visit]) -> None:
    record = leased()
    for one in history:
        applied(record, one, INTERVALS)
        if record.status is not PageStatus.FETCHED:
            assert [getattr(record, name) for name in COPY_FIELDS] == [None] * len(COPY_FIELDS)


def test_a_text_counts_from_the_visit_that_brought_it() -> None:
    record = stored()
    applied(record, page(A), INTERVALS)
    assert record.content_at == T - 9 * DAY
    record.place, record.lease = Place.LEASED, T
    applied(record, page(B), INTERVALS)
    assert record.content_at == T


@pytest.mark.parametrize("facts", [{"truncated": True}, {"parsed": False}, {"signature": None}])
def test_a_page_that_does_not_show_its_whole_text_has_none(facts: dict[str, Any]) -> None:
    record = stored()
    applied(record, page(**facts), INTERVALS)
    assert (record.signature, record.content_at) == (None, None)
