from email.utils import formatdate
from typing import Any

import pytest
from msgspec import structs

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.last_modified import ANSWER_S, changed_at, judge_last_modified
from batchcrawl.policy.lastmod import trust_of
from batchcrawl.policy.recrawl import belief_of
from batchcrawl.policy.schedule import PRIOR, Belief
from batchcrawl.policy.visits import Visit, apply_visit
from tests.support.visits import DAY, INTERVALS, PRICES, A, B, T, leased, page, stored, visit

HOUR = 3600


def http_date(at: float) -> str:
    return formatdate(at, usegmt=True)


def seen(visit: Visit, *, dated: bool = True, **facts: Any) -> tuple[UrlRecord, UrlRecord]:
    """Return a page that was fetched a day ago, before and after a visit."""
    after = stored(last_modified=http_date(T - 9 * DAY), **facts)
    before = structs.replace(after)
    apply_visit(after, visit, INTERVALS, PRICES, dated=dated)
    return before, after


def test_a_change_is_learned_with_the_instant_that_the_header_tells() -> None:
    _, after = seen(page(B, last_modified=http_date(T - 6 * HOUR)))
    assert belief_of(after, PRIOR) == Belief().changed_at(tau=1.0, age=0.25)
    assert after.changes == 1


@pytest.mark.parametrize(
    ("facts", "dated"),
    [
        ({"last_modified": http_date(T - 6 * HOUR)}, False),
        ({"last_modified": None}, True),
        ({"last_modified": "yesterday"}, True),
        ({"last_modified": http_date(T - 9 * DAY)}, True),
        ({"last_modified": http_date(T - 2 * DAY)}, True),
        ({"last_modified": http_date(T - ANSWER_S / 2)}, True),
        ({"last_modified": http_date(T + HOUR)}, True),
    ],
)
def test_a_header_that_tells_no_instant_since_the_last_fetch_is_left_aside(facts: dict[str, Any], dated: bool) -> None:
    _, after = seen(page(B, **facts), dated=dated)
    assert belief_of(after, PRIOR) == Belief().changed(1.0)


def test_a_page_that_is_the_same_is_the_same_whatever_its_header_says() -> None:
    _, after = seen(page(A, last_modified=http_date(T - HOUR)))
    assert belief_of(after, PRIOR) == Belief().unchanged(1.0)


def counts_after(visit: Visit, counts: LastmodCounts | None = None, **facts: Any) -> LastmodCounts | None:
    before, after = seen(visit, **facts)
    return judge_last_modified(counts, before, after, visit.last_modified)


def test_a_refetch_counts_what_it_saw_with_what_the_header_had_told() -> None:
    newer, older = http_date(T - HOUR), http_date(T - 9 * DAY)
    assert counts_after(page(B, last_modified=newer)) == LastmodCounts(told_changed=1)
    assert counts_after(page(B, last_modified=older)) == LastmodCounts(silent_changed=1)
    assert counts_after(page(A, last_modified=newer)) == LastmodCounts(told_same=1, same_days=1.0)
    assert counts_after(page(A, last_modified=http_date(T))) == LastmodCounts(told_same=1, same_days=1.0)
    not_modified = visit(FetchOutcome.NOT_MODIFIED)
    assert counts_after(not_modified) == LastmodCounts(silent_same=1, same_days=1.0)


def test_a_fetch_that_tells_nothing_of_the_header_counts_nothing() -> None:
    kept = LastmodCounts(told_changed=7)
    assert counts_after(visit(FetchOutcome.TIMEOUT), kept) is kept
    first = leased()
    before = structs.replace(first)
    apply_visit(first, page(last_modified=http_date(T - DAY)), INTERVALS, PRICES)
    assert judge_last_modified(None, before, first, http_date(T - DAY)) is None
    without = stored(last_modified=None)
    before = structs.replace(without)
    apply_visit(without, page(B, last_modified=None), INTERVALS, PRICES)
    assert judge_last_modified(None, before, without, None) is None


def test_a_server_that_dates_every_answer_anew_is_never_believed() -> None:
    honest: LastmodCounts | None = None
    sly: LastmodCounts | None = None
    for turn in range(40):
        signature = B if turn % 4 == 0 else A
        told = http_date(T - HOUR) if signature == B else http_date(T - 9 * DAY)
        honest = counts_after(page(signature, last_modified=told), honest)
        sly = counts_after(page(signature, last_modified=http_date(T)), sly)
    assert trust_of(honest) is not None
    assert trust_of(sly) is None


def test_the_instant_is_asked_of_the_record_before_the_fetch() -> None:
    assert changed_at(stored(), http_date(T - HOUR), at=T) == T - HOUR
    assert changed_at(leased(), http_date(T - HOUR), at=T) is None
