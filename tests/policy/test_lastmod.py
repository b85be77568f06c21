from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.lastmod import FRESH_DAYS_MAX, RECALL_MAX, Trust, judge_lastmod, told_value, trust_of
from batchcrawl.policy.schedule import MEMORY_A, PRIOR_A, Belief
from batchcrawl.policy.value import value

T = 1_796_040_000
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


@given(BELIEFS, TRUSTS, st.floats(0, 1e6), st.floats(0.01, 100), st.integers(1, 300))
def test_a_page_that_is_told_to_have_changed_is_worth_no_more_than_its_fresh_days(
    belief: Belief, trust: Trust, tau: float, weight: float, signals: int
) -> None:
    told = told_value(belief, trust, tau=tau, weight=weight, signals=signals)
    silent = told_value(belief, trust, tau=tau, weight=weight, signals=0)
    assert silent * (1 - 1e-9) <= told <= max(silent, weight * FRESH_DAYS_MAX) * (1 + 1e-9)


@given(BELIEFS, TRUSTS, st.floats(0.01, 1e4))
def test_a_page_of_which_nothing_is_told_is_worth_no_more_than_without_a_sitemap(
    belief: Belief, trust: Trust, tau: float
) -> None:
    assert told_value(belief, trust, tau=tau, weight=1.0, signals=0) <= value(belief, tau=tau, weight=1.0) * (1 + 1e-9)


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
    assert trust.chance_stale(Belief(1.0, 30.0), 1) > 0.5
