from pathlib import Path

import pytest

from batchcrawl.errors import JobFileError
from batchcrawl.job.load import load_job
from batchcrawl.job.page_rules import ALLOWED
from batchcrawl.policy.page_rules import PageRule

HOUR, DAY = 3600.0, 86_400.0


def rules_of(folder: Path, text: str, more: str = "") -> tuple[PageRule, ...]:
    (folder / "x.toml").write_text(f"[recrawl]\n{more}\nrules = [\n  {text!r},\n]\n")
    return load_job("x.toml", cwd=folder).page_rules


def test_a_rule_has_its_settings_its_condition_and_its_place(tmp_path: Path) -> None:
    (rule,) = rules_of(tmp_path, "interval_min 2h weight 0.5 interval_max 9d domain example.org  example.net")
    assert (rule.number, rule.place) == (1, "x.toml:4")
    assert (rule.interval_s, rule.interval_min_s, rule.interval_max_s, rule.weight) == (None, 2 * HOUR, 9 * DAY, 0.5)
    assert (rule.asks, rule.values) == ("domain", ("example.org", "example.net"))


@pytest.mark.parametrize(
    ("text", "asks", "values"),
    [
        ("weight 2 any", "any", ()),
        ("weight 2 host a.example", "host", ("a.example",)),
        ("weight 2 prefix https://a.example/x", "prefix", ("https://a.example/x",)),
        ("weight 2 regex /a b+/", "regex", ("/a b+/",)),
        ("weight 2 extension .PDF", "extension", ("pdf",)),
        ("weight 2 type application/pdf text/x", "type", ("application/pdf", "text/x")),
        ("weight 2 status gone 404", "status", ("gone", "404")),
        ("interval 12h regex weight 3", "regex", ("weight 3",)),
    ],
)
def test_a_condition_is_spelled_as_in_the_scope_or_asks_what_was_found(
    tmp_path: Path, text: str, asks: str, values: tuple[str, ...]
) -> None:
    (rule,) = rules_of(tmp_path, text)
    assert (rule.asks, rule.values) == (asks, values)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("host a.example", f"is no rule; allowed: {ALLOWED}"),
        ("weight 2", f"is no rule; allowed: {ALLOWED}"),
        ("weight 2 any thing", f"is no rule; allowed: {ALLOWED}"),
        ("weight 2 depth > 3", f"is no rule; allowed: {ALLOWED}"),
        ("weight 2 weight 3 any", "says weight twice"),
        ("interval 2h interval 3h any", "says interval twice"),
        ("weight many any", "needs a number from 0.001 to 1000 behind weight"),
        ("weight nan any", "needs a number from 0.001 to 1000 behind weight"),
        ("interval 7 any", 'needs a time with a unit, such as "30s", "6h" or "7d", from 1s to 3650d, behind interval'),
        ("weight 2 host A.example", "names A.example, which is no host name in lower case without scheme and port"),
        ("weight 2 regex (", "is no regular expression of Python (missing ), unterminated subpattern at position 0)"),
        ("weight 2 type pdf", "names pdf, which is no media type such as text/html, in lower case"),
        (
            "weight 2 status lost",
            "names lost; a status is one of unfetched, fetched, redirect, gone, blocked, skipped, or an HTTP status "
            "such as 404",
        ),
        (
            "interval_min 9d interval_max 8d any",
            "makes interval_min, 9d, longer than interval_max, 8d; change one, or add it to the rule",
        ),
        (
            "interval 10m any",
            "makes interval_min, 1h, longer than interval, 10m; change one, or add it to the rule",
        ),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(JobFileError) as caught:
        rules_of(tmp_path, text)
    quoted = f'"{text}"' if len(text) < 78 else text
    assert str(caught.value) == f"x.toml:4: recrawl.rules: {quoted} {fault}"
