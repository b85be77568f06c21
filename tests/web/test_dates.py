from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.dates import DAY_S, DateSpan, parse_date

DAY = int(datetime(2004, 12, 23, tzinfo=UTC).timestamp())
AT = DAY + 18 * 3600 + 15


@pytest.mark.parametrize(
    "text",
    [
        "2004-12-23T18:00:15+00:00",
        "2004-12-23T18:00:15Z",
        "2004-12-23t18:00:15.25z",
        "2004-12-23T19:30:15+01:30",
        "2004-12-23T13:00:15-0500",
        "2004-12-23 18:00:15",
        " 2004-12-23T18:00:15 +00 ",
        "Thu, 23 Dec 2004 18:00:15 GMT",
        "Thu, 23 Dec 2004 19:00:15 +0100",
        "23 Dec 2004 13:00:15 EST",
        "Thu, 23 Dec 04 18:00:15 +0000",
    ],
)
def test_an_instant_is_read_in_every_form(text: str) -> None:
    assert parse_date(text) == DateSpan(AT, AT)


@pytest.mark.parametrize(
    ("text", "begin", "seconds"),
    [
        ("2004-12-23T18:00Z", AT - 15, 60),
        ("2004-12-23", DAY, DAY_S),
        ("2004-2", int(datetime(2004, 2, 1, tzinfo=UTC).timestamp()), 29 * DAY_S),
        ("2004", int(datetime(2004, 1, 1, tzinfo=UTC).timestamp()), 366 * DAY_S),
        ("2005", int(datetime(2005, 1, 1, tzinfo=UTC).timestamp()), 365 * DAY_S),
    ],
)
def test_a_date_that_is_less_exact_means_all_of_its_time(text: str, begin: int, seconds: int) -> None:
    assert parse_date(text) == DateSpan(begin, begin + seconds - 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2004-13-01",
        "2004-02-30",
        "2004-12-23T25:00",
        "2004-12-23T18:61",
        "1969-12-31",
        "0000",
        "23 Dec 2004 99:99:99 GMT",
        "Thu, 32 Dec 2004 18:00:15 GMT",
        "2004-12-23T18:00:15Z" + " x" * 100,
    ],
)
def test_what_is_no_date_of_the_web_is_none(text: str) -> None:
    assert parse_date(text) is None


@given(st.one_of(st.text(max_size=70), st.text(alphabet="0123456789-:TZ+., JanDecGMTES", max_size=40)))
def test_any_text_is_taken_and_no_span_runs_backwards(text: str) -> None:
    span = parse_date(text)
    assert span is None or 0 <= span.at <= span.until
