from typing import Any

import pytest

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.page_rules import PageRule, decided_by, own_intervals
from batchcrawl.policy.recrawl import is_by_value, lift
from batchcrawl.policy.visits import apply_visit
from tests.support.visits import DAY, INTERVALS, PRICES, T, leased, page, stored, visit

NEWS = "http://example.org/news/a.html"


def rule(asks: str, *values: str, number: int = 1, **says: float) -> PageRule:
    says = says or {"weight": 4.0}
    return PageRule(number=number, text="as written", place="x.toml:1", asks=asks, values=values, **says)


def of(url: str = NEWS, **facts: Any) -> UrlRecord:
    return UrlRecord(url, **{"status": PageStatus.FETCHED, "last_fetch_at": T, "depth": 2, **facts})


@pytest.mark.parametrize(
    ("asks", "values", "url", "holds"),
    [
        ("host", ("example.org",), NEWS, True),
        ("host", ("example.org",), "http://www.example.org/", False),
        ("domain", ("example.org",), "http://www.example.org:8080/", True),
        ("domain", ("ample.org",), NEWS, False),
        ("prefix", ("http://example.org/news/",), NEWS, True),
        ("prefix", ("http://example.org/old/",), NEWS, False),
        ("regex", (r"/news/.\.html$",), NEWS, True),
        ("regex", (r"^/news",), NEWS, False),
        ("extension", ("htm", "html"), NEWS, True),
        ("extension", ("pdf",), NEWS, False),
        ("any", (), NEWS, True),
    ],
)
def test_a_rule_holds_for_a_url_as_one_of_the_scope_does(asks: str, values: Any, url: str, holds: bool) -> None:
    assert (decided_by([rule(asks, *values)], of(url)).weight is not None) is holds


@pytest.mark.parametrize(
    ("asks", "values", "facts", "holds"),
    [
        ("type", ("application/pdf",), {"content_type": "Application/PDF; q=1"}, True),
        ("type", ("application/pdf",), {"content_type": None}, False),
        ("status", ("redirect", "fetched"), {"status": PageStatus.DUPLICATE}, True),
        ("status", ("redirect",), {}, False),
        ("status", ("203",), {"http_status": 203}, True),
        ("status", ("404",), {"http_status": None}, False),
    ],
)
def test_a_rule_holds_for_what_was_found(asks: str, values: Any, facts: dict[str, Any], holds: bool) -> None:
    assert (decided_by([rule(asks, *values)], of(**facts)).weight is not None) is holds


def test_a_pattern_that_takes_too_long_finds_nothing() -> None:
    slow = rule("regex", r"(?=(a+)+$)(a|aa)+$")
    assert decided_by([slow], of(f"http://example.org/{'a' * 500}!")).weight is None


def test_of_each_setting_the_first_rule_decides_that_names_it() -> None:
    first, second = rule("any", number=1, weight=2.0), rule("any", number=2, weight=9.0, interval_max_s=5.0 * DAY)
    found = decided_by([first, second], of())
    assert (found.weight, found.interval_max, found.interval, found.interval_min) == (first, second, None, None)
    own = own_intervals(INTERVALS, [first, second], of())
    assert (own.weight, own.max_s, own.min_s, own.own_s) == (2.0, 5.0 * DAY, INTERVALS.min_s, None)


def test_without_a_rule_that_holds_the_intervals_are_those_of_all() -> None:
    assert own_intervals(INTERVALS, [], of()) is INTERVALS
    assert own_intervals(INTERVALS, [rule("host", "other.org")], of()) is INTERVALS


def test_a_page_with_an_interval_of_its_own_comes_after_that_and_not_by_value() -> None:
    record = leased()
    apply_visit(record, page(), INTERVALS, PRICES, own=[rule("any", interval_s=3.0 * DAY)])
    assert (record.place, record.interval_s, record.next_fetch_at) == (Place.TIMER, 3 * DAY, T + 3 * DAY)
    own = own_intervals(INTERVALS, [rule("any", interval_s=3.0 * DAY)], record)
    assert not is_by_value(record, own)
    lift(record, own, PRICES, now=T + 3 * DAY)
    assert record.place is Place.READY


def test_the_interval_that_a_seed_asks_for_goes_before_that_of_a_rule() -> None:
    record = leased(seed_interval_s=7 * DAY)
    apply_visit(record, page(), INTERVALS, PRICES, own=[rule("any", interval_s=3.0 * DAY)])
    assert record.interval_s == 7 * DAY


def test_a_rule_holds_for_the_url_as_the_visit_finds_it() -> None:
    own = [rule("type", "text/x", interval_s=3.0 * DAY), rule("status", "redirect", interval_s=5.0 * DAY)]
    record = stored(content_type="text/html")
    apply_visit(record, page(), INTERVALS, PRICES, own=own)
    assert record.interval_s == 3 * DAY
    record = stored()
    apply_visit(record, visit(FetchOutcome.REDIRECT, redirect="http://example.org/b"), INTERVALS, PRICES, own=own)
    assert record.interval_s == 5 * DAY


def test_a_gone_page_does_not_come_at_the_interval_of_the_pages_around_it() -> None:
    gone = visit(FetchOutcome.GONE)
    around, of_gone = rule("any", interval_s=3600.0), rule("status", "gone", interval_s=9.0 * DAY)
    record = stored(status=PageStatus.GONE)
    apply_visit(record, gone, INTERVALS, PRICES, own=[around])
    assert record.interval_s == INTERVALS.gone_s
    record = stored(status=PageStatus.GONE, interval_s=9 * DAY)
    apply_visit(record, gone, INTERVALS, PRICES, own=[around, of_gone])
    assert record.interval_s == 9 * DAY


def test_the_bounds_of_a_rule_clip_the_interval_of_a_page_that_goes_by_value() -> None:
    record = leased()
    apply_visit(record, page(), INTERVALS, PRICES, own=[rule("any", interval_max_s=7200.0)])
    assert record.interval_s == 7200
    record = leased()
    apply_visit(record, page(), INTERVALS, PRICES, own=[rule("any", interval_min_s=9.0 * DAY)])
    assert record.interval_s == 9 * DAY
