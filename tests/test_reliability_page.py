"""docs/RELIABILITY.md against the tests: whatever is said to prove a promise exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "RELIABILITY.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


@pytest.mark.parametrize(("path", "test"), NAMED)
def test_a_test_that_is_named_exists(path: str, test: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE)


def test_every_line_of_the_promises_names_its_test() -> None:
    promises = PAGE[PAGE.index("## Promised") : PAGE.index("## Not promised")]
    rows = [line for line in promises.splitlines() if line.startswith("| ") and "proved by" not in line]
    assert len(rows) > 25
    assert [line for line in rows if "`tests/" not in line] == []
