from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.lastmod import RECALL_MAX, Trust, hear, judge_lastmod, trust_of
from batchcrawl.policy.schedule import FRESH_CHANCE, MEMORY_A, PRIOR_A, Belief

T = 1_796_040_000
HOUR = 3600
COUNTS = st.builds(
    LastmodCounts,
    told_changed=st.integers(0, 10_000),
    silent_changed=st.integers(0, 10_000),
    told_same=st.integers(0, 10_000),
    silent_same=st.integers(0, 10_000),
    same_days=st.floats(0, 1e5),
)
TRUSTS = st.builds(Trust, st.floats(0.01, RECALL_MAX), st.floats(1e-4, 10))
BELIEFS = st.builds(Belief, st.floats(PRIOR_A, MEMORY_A), st.floats(1e-3, 1e4))
PROVED = LastmodCounts(told_changed=50, silent_changed=2, told_same=1, silent_same=60, same_days=200.0)


def stored(**changes: Any) -> UrlRecord:
    facts: dict[str, Any] = {
        "status": PageStatus.FETCHED,
        "place": Place.TIMER,
        "last_fetch_at": T,
        "next_fetch_at": T + 30 * 86_400,
        "lastmod_at": T - 86_400,
        "rate_a": 1.0,
        "rate_b": 30.0,
        **changes,
    }
    return UrlRecord("http://example.org/", **facts)


def test_a_site_is_not_believed_before_it_has_proved_right() -> None:
    assert trust_of(None) is None
    assert trust_of(LastmodCounts()) is None
    assert trust_of(LastmodCounts(told_changed=1, silent_same=1)) is None


def test_a_site_that_tells_its_changes_and_nothing_else_is_believed() -> None:
    trust = trust_of(PROVED)
    assert trust is not None
    assert trust.recall == RECALL_MAX
    assert trust.false_rate == pytest.approx(1.5 / 205)


def test_a_site_that_dates_all_its_pages_anew_is_not_believed() -> None:
    assert trust_of(LastmodCounts(told_changed=500, told_same=500, silent_same=10, same_days=500)) is None


def test_a_site_that_never_dates_its_pages_anew_is_not_believed() -> None:
    assert trust_of(LastmodCounts(silent_changed=500, silent_same=500, same_days=500)) is None


@given(COUNTS, st.sampled_from(["told_changed", "silent_same"]))
def test_what_proves_right_never_costs_trust(counts: LastmodCounts, right: str) -> None:
    more = structs.replace(counts, **{right: getattr(counts, right) + 1})
    assert trust_of(counts) is None or trust_of(more) is not None


@given(COUNTS, st.sampled_from(["silent_changed", "told_same"]))
def test_what_proves_wrong_never_earns_trust(counts: LastmodCounts, wrong: str) -> None:
    more = structs.replace(counts, **{wrong: getattr(counts, wrong) + 1})
    assert trust_of(more) is None or trust_of(counts) is not None


@given(TRUSTS, BELIEFS, st.integers(0, 300))
def test_more_signals_make_a_copy_no_less_stale(trust: Trust, belief: Belief, signals: int) -> None:
    chance = trust.chance_stale(belief, signals)
    assert 0.0 <= chance <= trust.chance_stale(belief, signals + 1) <= 1.0
    assert (chance == 0.0) == (signals == 0) or chance < 1e-9


def test_a_newer_date_of_a_trusted_site_makes_a_page_due_as_soon_as_the_least_interval_allows() -> None:
    record = stored()
    assert hear(record, at=T + 60, until=T + 60, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + HOUR, 1, T + 60)


def test_a_newer_date_of_a_site_that_is_not_trusted_is_only_remembered() -> None:
    record = stored()
    assert hear(record, at=T + 60, until=T + 60, trust=None, interval_min_s=HOUR)
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + 30 * 86_400, 1, T + 60)


def test_a_date_that_was_told_before_is_no_news() -> None:
    record = stored()
    before = structs.replace(record)
    assert not hear(record, at=T - 86_400, until=T + 60, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert record == before


def test_a_date_before_the_last_fetch_is_no_signal() -> None:
    record = stored()
    assert hear(record, at=T - 60, until=T - 60, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert (record.next_fetch_at, record.signals, record.lastmod_at) == (T + 30 * 86_400, 0, T - 60)


def test_a_day_that_goes_on_after_the_last_fetch_is_a_signal() -> None:
    record = stored()
    hear(record, at=T - 60, until=T + HOUR, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert record.signals == 1


@pytest.mark.parametrize("place", [Place.READY, Place.LEASED, Place.NONE])
def test_a_page_that_waits_for_no_timer_keeps_its_time(place: Place) -> None:
    record = stored(place=place)
    hear(record, at=T + 60, until=T + 60, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert record.next_fetch_at == T + 30 * 86_400


def test_a_page_that_is_not_stored_keeps_its_time() -> None:
    record = stored(status=PageStatus.GONE)
    hear(record, at=T + 60, until=T + 60, trust=trust_of(PROVED), interval_min_s=HOUR)
    assert record.next_fetch_at == T + 30 * 86_400


@given(
    BELIEFS,
    TRUSTS,
    st.lists(st.tuples(st.integers(T - 10**6, T + 10**7), st.integers(0, 86_400)), max_size=6),
    st.integers(T, T + 10**8),
)
def test_dates_never_make_a_page_due_later_nor_sooner_than_allowed(
    belief: Belief, trust: Trust, dates: list[tuple[int, int]], next_fetch_at: int
) -> None:
    record = stored(rate_a=belief.a, rate_b=belief.b, next_fetch_at=next_fetch_at)
    for at, span in dates:
        before = record.next_fetch_at or 0
        hear(record, at=at, until=at + span, trust=trust, interval_min_s=HOUR)
        assert min(before, T + HOUR) <= (record.next_fetch_at or 0) <= before


def judged(counts: LastmodCounts | None = None, *, signals: int, changed: bool | None, **changes: Any) -> Any:
    before = stored(signals=signals, **changes)
    after = structs.replace(before, last_fetch_at=T + 86_400)
    if changed:
        after.changes += 1
    elif changed is not None:
        after.rate_b += 1.0
    return judge_lastmod(counts, before, after)


def test_a_fetch_counts_what_it_saw_with_what_had_been_told() -> None:
    assert judged(signals=1, changed=True) == LastmodCounts(told_changed=1)
    assert judged(signals=0, changed=True) == LastmodCounts(silent_changed=1)
    assert judged(signals=3, changed=False) == LastmodCounts(told_same=1, same_days=1.0)
    assert judged(PROVED, signals=0, changed=False) == structs.replace(PROVED, silent_same=61, same_days=201.0)


def test_a_fetch_of_a_url_that_was_never_dated_counts_nothing() -> None:
    assert judged(signals=0, changed=True, lastmod_at=None) is None
    assert judged(signals=0, changed=True, last_fetch_at=None) is None


def test_a_fetch_that_saw_nothing_of_the_content_counts_nothing() -> None:
    assert judged(PROVED, signals=1, changed=None) is PROVED


def test_a_site_comes_to_be_believed_by_fetches_alone() -> None:
    counts = None
    for turn in range(60):
        changed = turn % 3 == 0
        counts = judged(counts, signals=int(changed), changed=changed)
    trust = trust_of(counts)
    assert trust is not None
    assert 1.0 - trust.chance_stale(Belief(1.0, 30.0), 1) < FRESH_CHANCE
