"""Conditions as people write them, and what they hold for."""

import pytest

from batchcrawl.errors import UsageError
from batchcrawl.job.condition_text import parse_condition
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.conditions import holds, holds_on

NOW = 1_796_040_000.0
DAY = 86_400
PAGE = UrlRecord(
    "https://www.example.org:8443/news/1",
    status=PageStatus.GONE,
    outcome=FetchOutcome.NOT_FOUND,
    depth=2,
    http_status=404,
    last_fetch_at=int(NOW) - 10 * DAY,
    score=2.5,
)


@pytest.mark.parametrize(
    "text",
    [
        "status=gone",
        "status == gone",
        "status != fetched",
        "depth <= 2 and http_status == 404",
        "depth > 9 or depth < 3 and fetches = 0",
        "not seed",
        "not (depth > 2 or seed)",
        'host = "www.example.org"',
        "host = WWW.example.org",
        "domain = example.org",
        "domain != example.com",
        "domain != ample.org",
        "url ~ /news/",
        'url == "https://www.example.org:8443/news/1"',
        "last_fetch_at < -9d",
        "last_fetch_at >= -10d",
        "last_fetch_at < 2026-11-30T12:00Z and next_fetch_at < 2000-01-01 or outcome = not_found",
        "score >= 2.5",
        "not content_type ~ html",
        'status = "gone"',
    ],
)
def test_a_condition_holds(text: str) -> None:
    assert holds(parse_condition(text, now=NOW), PAGE)


@pytest.mark.parametrize(
    "text",
    [
        "status=fetched",
        "depth < 2",
        "seed",
        "costly or seed",
        "content_type != text/html",
        "last_change_at < +1d",
        "domain = ample.org",
        "host = example.org",
        "not not depth > 2",
        "status = gone and (depth = 1 or depth = 3)",
    ],
)
def test_a_condition_does_not_hold(text: str) -> None:
    assert not holds(parse_condition(text, now=NOW), PAGE)


@pytest.mark.parametrize(("seed", "score", "least"), [(True, None, "1"), (True, 0.5, "0.5"), (False, 3.0, "3")])
def test_a_seed_without_a_score_has_one(seed: bool, score: float | None, least: str) -> None:
    record = UrlRecord("http://a.test/", seed=seed, score=score)
    assert holds(parse_condition(f"score >= {least}", now=NOW), record)
    assert not holds(parse_condition(f"score > {least}", now=NOW), record)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("host = a.test", True),
        ("host = b.test", False),
        ("depth = 1", None),
        ("host = b.test and depth = 1", False),
        ("host = a.test and depth = 1", None),
        ("host = a.test or depth = 1", True),
        ("not (domain = a.test)", False),
        ("not depth = 1", None),
    ],
)
def test_a_host_decides_what_it_can(text: str, truth: bool | None) -> None:
    assert holds_on(parse_condition(text, now=NOW), "http://a.test:81") is truth


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a field is missing (at character 1)"),
        ("depht <= 2", "no field 'depht'; did you mean depth? (at character 1)"),
        ("zzz = 1", "no field 'zzz'; there are url, host, domain, status"),
        ("depth", "a comparison is missing (at character 6)"),
        ("depth <=", "a value is missing (at character 9)"),
        ("depth <= two", "depth is a number, not 'two' (at character 10)"),
        ("depth ~ 2", "behind depth comes one of == != < <= > >= (at character 7)"),
        ("status < gone", "behind status comes one of == != (at character 8)"),
        (
            "status = lost",
            "status is one of unfetched, fetched, duplicate, redirect, gone, blocked, skipped, not 'lost'",
        ),
        ("last_fetch_at < 90d", "not '90d' (at character 17)"),
        ("last_fetch_at < 2026-13-01", "last_fetch_at is a date as 2026-12-24, or a time from now as -90d"),
        ("(depth = 2", "a closing bracket is missing (at character 11)"),
        ("depth = 2)", "')' is one too many (at character 10)"),
        ("depth = 2 depth = 3", "'depth' is one too many"),
        ("depth = 2; import os", "depth is a number, not '2;'"),
        ('host = "a', "'a' is one too many"),
        ("not " * 60 + "seed", "nested more than 50 deep"),
        ("(" * 60 + "seed" + ")" * 60, "nested more than 50 deep"),
        ("seed or " * 2000 + "seed", "longer than 10,000 characters"),
        ("depth = \x1b[2J", "depth is a number, not '\\u001b[2J'"),
    ],
)
def test_what_is_no_condition_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_condition(text, now=NOW)
    assert said in str(error.value)
    assert str(error.value).isprintable()
