"""What the job says of recrawling: what counts as a change, and policies that go by intervals."""

from dataclasses import replace
from typing import Any

import pytest

from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.recrawl import belief_of
from batchcrawl.policy.schedule import PRIOR, Belief
from tests.support.visits import DAY, INTERVALS, A, B, T, applied, leased, page, stored


@pytest.mark.parametrize(
    ("change", "facts", "changed"),
    [
        ("text", {"signature": A, "digest": "sha1:N"}, False),
        ("text", {"signature": B, "digest": "sha1:A"}, True),
        ("payload", {"signature": A, "digest": "sha1:N"}, True),
        ("payload", {"signature": B, "digest": "sha1:A"}, False),
        ("near", {"signature": B, "simhash": b"s" * 7 + b"t"}, False),
        ("near", {"signature": B, "simhash": b"n" * 8}, True),
        ("near", {"signature": B, "simhash": None}, True),
        ("near", {"signature": A, "simhash": b"n" * 8}, False),
    ],
)
def test_the_job_says_what_counts_as_a_change(change: Any, facts: dict[str, Any], changed: bool) -> None:
    record = stored()
    applied(record, page(**facts), replace(INTERVALS, change=change))
    assert record.changes == changed
    assert belief_of(record, PRIOR) == (Belief().changed(1.0) if changed else Belief().unchanged(1.0))


def test_a_near_text_is_the_same_for_the_schedule_and_another_for_the_indexes() -> None:
    record = stored()
    applied(record, page(B, simhash=b"s" * 7 + b"t"), replace(INTERVALS, change="near"))
    assert (record.signature, record.content_at, record.changes) == (B, T, 0)


FIXED = replace(INTERVALS, policy="fixed")
ADAPTIVE = replace(INTERVALS, policy="adaptive")


@pytest.mark.parametrize("signature", [A, B])
def test_under_the_fixed_policy_every_page_comes_after_the_same_interval(signature: bytes) -> None:
    record = stored(rate_a=2.0, rate_b=40.0)
    applied(record, page(signature), FIXED)
    assert (record.interval_s, record.next_fetch_at) == (DAY, T + DAY)


def test_under_the_adaptive_policy_sameness_lengthens_the_interval_and_change_shortens_it() -> None:
    record = stored(interval_s=10 * DAY, content_at=T)
    applied(record, page(A), ADAPTIVE)
    assert record.interval_s == 14 * DAY
    record.place, record.lease = Place.LEASED, T
    applied(record, page(B), ADAPTIVE)
    assert (record.interval_s, record.next_fetch_at) == (int(14 * DAY * 0.8), T + int(14 * DAY * 0.8))


def test_under_the_adaptive_policy_the_wait_follows_the_age_of_the_content() -> None:
    record = stored(interval_s=10 * DAY, content_at=T - 5 * DAY)
    applied(record, page(A), ADAPTIVE)
    assert (record.interval_s, record.next_fetch_at) == (14 * DAY, T + int(12.5 * DAY))
    old = stored(interval_s=10 * DAY, content_at=T - 100 * DAY)
    applied(old, page(A), ADAPTIVE)
    assert (old.interval_s, old.next_fetch_at) == (100 * DAY, T + 70 * DAY)


def test_under_the_adaptive_policy_a_duplicate_keeps_its_interval_and_a_first_page_has_that_of_the_job() -> None:
    duplicate = stored(status=PageStatus.DUPLICATE, interval_s=10 * DAY, content_at=T)
    applied(duplicate, page(A), ADAPTIVE)
    assert duplicate.interval_s == 14 * DAY
    new = leased()
    applied(new, page(A), ADAPTIVE)
    assert new.interval_s == DAY
