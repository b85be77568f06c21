import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.fakeweb.changes import DAY_S, RATES_PER_DAY, WEB_BORN_AT, change_rate, changes_between, version_at

YEAR_S = 365 * DAY_S
instants = st.floats(WEB_BORN_AT - YEAR_S, WEB_BORN_AT + 20 * YEAR_S)
pages = st.integers(0, 200)


def _pages_of_rate(rate: float, count: int) -> list[int]:
    return [page for page in range(count) if change_rate(1, host=0, page=page) == rate]


@pytest.mark.parametrize("rate", sorted(set(RATES_PER_DAY) - {0.0, 12.0}))
def test_pages_change_as_often_as_a_poisson_process_of_their_rate(rate: float) -> None:
    days = 400 / rate
    counts = [
        len(changes_between(1, host=0, page=page, after=WEB_BORN_AT, until=WEB_BORN_AT + days * DAY_S))
        for page in _pages_of_rate(rate, 600)
    ]
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
    error = math.sqrt(400 / len(counts))
    assert abs(mean - 400) < 4 * error
    assert 0.4 < variance / mean < 2.0


def test_times_between_changes_are_exponential() -> None:
    page = _pages_of_rate(1.0, 100)[0]
    times = changes_between(1, host=0, page=page, after=WEB_BORN_AT, until=WEB_BORN_AT + 4000 * DAY_S)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    for days in (0.1, 0.5, 1.0, 2.0):
        share = sum(1 for gap in gaps if gap > days * DAY_S) / len(gaps)
        assert abs(share - math.exp(-days)) < 0.04


@given(pages, instants, instants)
def test_a_version_differs_exactly_where_a_change_lies_between(page: int, one: float, other: float) -> None:
    first, last = sorted((one, other))
    before = version_at(1, host=2, page=page, now=first)
    after = version_at(1, host=2, page=page, now=last)
    changes = changes_between(1, host=2, page=page, after=first, until=last)
    assert (before.number != after.number) == bool(changes)
    assert before.number <= after.number
    if changes:
        assert after.changed_at == changes[-1]


@given(pages, instants)
def test_a_page_stays_as_it_is_until_the_instant_promised(page: int, now: float) -> None:
    version = version_at(1, host=2, page=page, now=now)
    assert version.valid_until > now
    almost = min(math.nextafter(version.valid_until, 0), now + YEAR_S)
    assert version_at(1, host=2, page=page, now=max(almost, now)).number == version.number
