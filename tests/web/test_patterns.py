import random
import re
from contextlib import suppress

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.patterns import Dialect, PatternFault, compile_search

URL = "http://www.example.org/docs/2026/a-page.html?id=12&sort=up"


def found(pattern: str, url: str = URL, dialect: Dialect = Dialect.PYTHON) -> bool | None:
    return compile_search(pattern, dialect)(url)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^https?://",
        r"\.html?(?:\?|$)",
        r"(?i)A-PAGE",
        r"up\Z",
        r"/[0-9]{4}/",
        r"/[0-9]{,4}/",
        r"(?P<year>\d{4})",
        r"\bsort\b",
        r"[?&]id=",
        "",
        # What is more than linear.
        r"^http://(?!shop\.)",
        r"(?<=/docs)/2026",
        r"(w)\1\1\.",
        r"/[a-z]++/",
        r"(?>ww|w)w\.",
    ],
)
def test_a_pattern_of_python_is_found_where_python_finds_it(pattern: str) -> None:
    assert re.search(pattern, URL)
    assert found(pattern) is True


@pytest.mark.parametrize("pattern", [r"^https://", r"page\Z", r"/[0-9]{5}/", r"x{,2}y", r"^http://(?!www\.)", r"(e)\1"])
def test_a_pattern_of_python_is_not_found_where_python_finds_none(pattern: str) -> None:
    assert re.search(pattern, URL) is None
    assert found(pattern) is False


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        (r"/[a-z&&[^x]]{3}/", "http://a.example/axa/", False),
        (r"/[a-z&&[^x]]{3}/", "http://a.example/aba/", True),
        (r"^[0-9[a-f]]+$", "c0ffee", True),
        (r"\Qa.b\E", "http://x/a.b", True),
        (r"\Qa.b\E", "http://x/a-b", False),
        (r"\p{Alpha}+\z", "http://x/abc", True),
        (r"/(?:a|b)*+/", "http://x/abab/", True),
    ],
)
def test_a_pattern_of_java_means_what_java_means(pattern: str, url: str, expected: bool) -> None:
    assert found(pattern, url, Dialect.JAVA) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing ), unterminated subpattern at position 0"),
        ("a**", "multiple repeat at position 2"),
        ("[[a]]", "Possible nested set at position 1"),
        ("a{600}{2}(?!b)", "multiple repeat at position 6"),
        ("(?:a{600}){2}(?!b)", "repeats more than 1,000 times"),
        ("x" * 10_001, "longer than 10,000 characters"),
    ],
)
def test_what_is_no_pattern_is_refused_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(PatternFault) as caught:
        compile_search(pattern, Dialect.PYTHON)
    assert str(caught.value) == reason


def test_a_pattern_that_backtracks_without_end_gives_no_answer_in_bounded_time() -> None:
    assert found(r"^(([a-z])+.)+[A-Z]([a-z])+$(?!x)", "a" * 2000) is None


def test_the_same_pattern_without_look_around_is_answered() -> None:
    assert found(r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 2000) is False


@pytest.mark.parametrize("pattern", [r".*(/.+?)/.*?\1/.*?\1/", r".*(/[^/]+)/[^/]+\1/[^/]+\1/"])
def test_the_patterns_of_nutch_against_loops_find_what_they_say(pattern: str) -> None:
    chance, judge = random.Random(1), regex.compile(pattern)
    urls = ["".join(chance.choices("//ab", k=chance.randrange(3, 16))) for _ in range(20_000)]
    expected = [judge.search(url) is not None for url in urls]
    assert any(expected)
    assert [found(pattern, url, Dialect.JAVA) for url in urls] == expected


def test_a_pattern_of_nutch_against_loops_costs_no_more_on_a_long_path() -> None:
    url = "http://a.example/" + "/".join(f"s{number}" for number in range(400))
    assert found(r".*(/.+?)/.*?\1/.*?\1/", url, Dialect.JAVA) is False


_PATTERNS = st.text(alphabet="ab/.?*+|()[]{}0123,^$\\dwZ-", max_size=12)


@given(_PATTERNS, st.text(alphabet="ab/.03-", max_size=12))
def test_every_pattern_is_refused_or_agrees_with_python(pattern: str, url: str) -> None:
    try:
        search = compile_search(pattern, Dialect.PYTHON)
    except PatternFault:
        return
    answer = search(url)
    assert answer is None or answer == (re.search(pattern, url) is not None)


@given(st.text(max_size=30), st.sampled_from(Dialect))
def test_any_text_is_a_pattern_or_a_fault(pattern: str, dialect: Dialect) -> None:
    with suppress(PatternFault):
        compile_search(pattern, dialect)
