import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.html.refresh import parse_refresh
from batchcrawl.web.urls import parse_url

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "wpt_meta_refresh.json").read_text(encoding="utf-8")
)["cases"]
DOCUMENT = "http://example.org/a/b"


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["content"]))
def test_a_refresh_is_read_as_browsers_do(case: dict[str, Any]) -> None:
    refresh = parse_refresh(case["content"])
    found = refresh and (refresh.seconds, parse_url(refresh.target, DOCUMENT))
    expected = None if case["seconds"] is None else (case["seconds"], parse_url(case["url"], DOCUMENT))
    assert found == expected


def test_a_delay_of_thousands_of_digits_is_cut() -> None:
    assert parse_refresh("9" * 10_000 + ";url=x") == (999_999_999, "x")


@given(st.text(alphabet="0123.;, \turl='\"x", max_size=20))
def test_any_content_is_taken(content: str) -> None:
    parse_refresh(content)
