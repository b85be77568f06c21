import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.cache_control import fresh_s


@pytest.mark.parametrize(
    ("fields", "age", "seconds"),
    [
        ([], None, None),
        ([""], None, None),
        (["public, immutable"], None, None),
        (["s-maxage=60"], None, None),
        (["max-age=60"], None, 60.0),
        (["Max-Age = 60"], None, 60.0),
        (['max-age="60"'], None, 60.0),
        (["max-age=60;private"], None, 60.0),
        (["private", "max-age=60"], None, 60.0),
        (["max-age=60, max-age=30"], None, 30.0),
        (["max-age=60"], "20", 40.0),
        (["max-age=60"], "90", 0.0),
        (["max-age=60"], "soon", 60.0),
        (["max-age=-1"], None, 0.0),
        (["max-age=soon"], None, 0.0),
        (["max-age"], None, 0.0),
        (["max-age=٣"], None, 0.0),
        (["no-store"], None, 0.0),
        (["NO-CACHE"], None, 0.0),
        (['no-cache="Set-Cookie, X", max-age=60'], None, 0.0),
        (["max-age=60, no-store"], None, 0.0),
        (["x-no-store, max-age=60"], None, 60.0),
        (['ext="no-store, max-age=1", max-age=60'], None, 60.0),
        (["max-age=" + "9" * 5000], None, float("9" * 12)),
    ],
)
def test_how_long_an_answer_is_fresh(fields: list[str], age: str | None, seconds: float | None) -> None:
    assert fresh_s(fields, age) == seconds


@given(st.lists(st.text()), st.none() | st.text())
def test_no_field_raises(fields: list[str], age: str | None) -> None:
    seconds = fresh_s(fields, age)
    assert seconds is None or seconds >= 0
