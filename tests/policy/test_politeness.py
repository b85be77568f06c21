"""Delays and waits: single rules first, then what must hold after any series of outcomes."""

import math
from dataclasses import dataclass, replace
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.politeness import REACTIONS, WAIT_MAX_S, DelayRules, HostPoliteness, parse_retry_after

RULES = DelayRules(delay_min_s=2.0, delay_max_s=30.0, response_factor=10.0)
NOW = 1_800_000_000.0


def _fetched(host: HostPoliteness, response_s: float) -> HostPoliteness:
    return host.after(FetchOutcome.FETCHED, status=200, response_s=response_s, now=NOW)


@dataclass
class _Remembered:
    delay_s: float | None = None
    crawl_delay_s: float | None = None
    response_s: float | None = None
    failures: int = 0
    deferred_until: float | None = None


def _known(**facts: float | None) -> HostPoliteness:
    """Return the politeness of a host of which these facts are remembered."""
    return HostPoliteness.start(RULES, replace(_Remembered(), **facts), at=NOW)  # type: ignore[arg-type]  # passed on


def _refused(host: HostPoliteness, retry_after: str | None = None, status: int = 429) -> HostPoliteness:
    return host.after(FetchOutcome.DEFERRED, status=status, response_s=0.1, retry_after=retry_after, now=NOW)


def test_the_first_delay_is_the_jobs_minimum() -> None:
    assert HostPoliteness.start(RULES).delay_s == 2.0


def test_the_first_delay_follows_from_what_is_known() -> None:
    assert _known(response_s=0.5).delay_s == 5.0
    assert _known(response_s=0.5, crawl_delay_s=7.0).delay_s == 7.0


def test_the_first_delay_is_the_last_one_of_the_step_before() -> None:
    assert _known(delay_s=8.0, response_s=0.2).delay_s == 8.0
    assert _known(delay_s=3.0, response_s=2.0).delay_s == 3.0


def test_the_first_delay_keeps_the_bounds_that_are_in_force_now() -> None:
    assert _known(delay_s=0.5).delay_s == 2.0
    assert _known(delay_s=500.0).delay_s == 30.0
    assert _known(delay_s=500.0, crawl_delay_s=100.0).delay_s == 100.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_remembered_and_no_time_counts_as_unknown(value: float) -> None:
    assert _known(delay_s=value, crawl_delay_s=value, response_s=value).delay_s == 2.0


def test_a_host_whose_time_has_not_come_stays_put_off() -> None:
    assert _known(deferred_until=NOW + 1).put_off
    assert not _known(deferred_until=NOW).put_off


def test_a_slow_answer_raises_the_delay_at_once() -> None:
    assert _fetched(HostPoliteness.start(RULES), 1.0).delay_s == 10.0


def test_a_fast_answer_lowers_the_delay_half_way() -> None:
    assert _fetched(_known(response_s=1.0), 0.4).delay_s == 7.0


def test_the_maximum_bounds_the_delay_for_slow_answers() -> None:
    assert _fetched(HostPoliteness.start(RULES), 100.0).delay_s == 30.0


def test_a_crawl_delay_above_the_maximum_is_kept_and_reported() -> None:
    host = _known(crawl_delay_s=120.0)
    assert host.delay_s == 120.0
    assert host.asks_too_much


def test_a_crawl_delay_above_the_maximum_puts_the_host_off_for_a_day() -> None:
    host = HostPoliteness.start(RULES).with_crawl_delay(RULES.delay_max_s + 1, now=NOW)
    assert host.put_off
    assert host.deferred_until == NOW + 86_400
    assert host.failures == 0


def test_a_new_crawl_delay_is_obeyed_at_once() -> None:
    assert HostPoliteness.start(RULES).with_crawl_delay(9.0, now=NOW).delay_s == 9.0


@pytest.mark.parametrize("status", [404, 403, 429, 500, 503])
def test_an_error_answer_does_not_lower_the_delay(status: int) -> None:
    host = _known(response_s=1.0)
    assert host.after(FetchOutcome.DENIED, status=status, response_s=0.001, now=NOW).delay_s == 10.0


def test_retry_after_is_obeyed() -> None:
    host = _refused(HostPoliteness.start(RULES), "300")
    assert host.deferred_until == NOW + 300
    assert host.next_contact(NOW) == NOW + 300
    assert host.put_off


def test_refusals_in_a_row_double_the_wait() -> None:
    host = HostPoliteness.start(RULES)
    waits = []
    for _ in range(4):
        host = _refused(host, status=503)
        waits.append((host.deferred_until or 0) - NOW)
    assert waits == [60, 120, 240, 480]


def test_a_short_retry_after_does_not_stop_the_doubling() -> None:
    host = _refused(_refused(HostPoliteness.start(RULES), "1"), "1")
    assert host.deferred_until == NOW + 120


def test_a_host_is_put_off_after_its_failures_in_a_row() -> None:
    host = HostPoliteness.start(RULES)
    for _ in range(2):
        host = host.after(FetchOutcome.TIMEOUT, now=NOW)
    assert not host.put_off
    assert host.after(FetchOutcome.CONNECT_FAILED, now=NOW).put_off


def test_success_forgets_the_failures() -> None:
    host = _fetched(_refused(HostPoliteness.start(RULES)), 0.1)
    assert (host.failures, host.deferred_until, host.put_off) == (0, None, False)


@pytest.mark.parametrize("outcome", [FetchOutcome.ROBOTS_DENIED, FetchOutcome.TIME_LIMIT, FetchOutcome.DEFERRED])
def test_an_outcome_without_a_request_changes_nothing(outcome: FetchOutcome) -> None:
    host = _refused(HostPoliteness.start(RULES))
    assert host.after(outcome, now=NOW) == host


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), None),
        ("31536000", WAIT_MAX_S),
        ("9" * 5000, WAIT_MAX_S),
        ("Fri, 31 Dec 9999 23:59:59 GMT", WAIT_MAX_S),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_values(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


SECONDS = st.one_of(st.none(), st.floats(), st.floats(0, 100))
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(FetchOutcome),
        st.sampled_from([None, 200, 304, 404, 429, 500, 503]),
        SECONDS,
        st.one_of(st.none(), st.text(), st.integers().map(str)),
    ),
    max_size=30,
)


@given(events=EVENTS, crawl_delay_s=SECONDS)
def test_the_delay_keeps_its_bounds_and_falls_only_after_a_success(
    events: list[tuple[FetchOutcome, int | None, float | None, str | None]], crawl_delay_s: float | None
) -> None:
    host = _known(crawl_delay_s=crawl_delay_s)
    for outcome, status, response_s, retry_after in events:
        before = host
        host = host.after(outcome, status=status, response_s=response_s, retry_after=retry_after, now=NOW)
        assert math.isfinite(host.delay_s)
        assert host.delay_s >= max(RULES.delay_min_s, host.crawl_delay_s or 0)
        assert host.delay_s <= max(RULES.delay_max_s, host.crawl_delay_s or 0)
        if host.delay_s < before.delay_s:
            assert status in (200, 304)
        if host.deferred_until is not None:
            assert host.deferred_until <= NOW + WAIT_MAX_S
        assert host.next_contact(NOW) >= NOW + host.delay_s


TIMES = st.floats(0, 100)


@given(
    events=st.lists(st.tuples(st.sampled_from([200, 304, 301, 404, 403, 429, 500, 503]), TIMES), max_size=20),
    crawl_delay_s=st.one_of(st.none(), TIMES),
)
def test_the_delay_jumps_up_at_once_and_comes_down_half_way_and_no_error_lowers_it(
    events: list[tuple[int, float]], crawl_delay_s: float | None
) -> None:
    host = _known(crawl_delay_s=crawl_delay_s)
    for status, response_s in events:
        wanted = max(2.0, min(10.0 * response_s, 30.0), crawl_delay_s or 0.0)
        before = host.delay_s
        outcome = FetchOutcome.SERVER_ERROR if status == 500 else FetchOutcome.DENIED
        host = host.after(outcome, status=status, response_s=response_s, now=NOW)
        if wanted >= before:
            assert host.delay_s == wanted
        elif status < 400:
            assert host.delay_s == (before + wanted) / 2
        else:
            assert host.delay_s == before


@given(st.text(), st.floats(0, 4e9))
def test_no_retry_after_raises_or_exceeds_a_day(value: str, now: float) -> None:
    seconds = parse_retry_after(value, now)
    assert seconds is None or 0 < seconds <= WAIT_MAX_S


def test_every_reaction_waits_and_tries() -> None:
    for reaction in REACTIONS.values():
        assert reaction.wait > 0
        assert reaction.tries >= 1
        assert reaction.patience >= 0
