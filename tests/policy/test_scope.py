import re
from typing import Any

import pytest

from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.scope import Scope, ScopeRules

SEEDED = "http://seed.example"


def scope(**changes: Any) -> Scope:
    facts: dict[str, Any] = {"any_host": False, "hosts": frozenset({"friend.example"}), **changes}
    return Scope(ScopeRules(**facts), lambda host: host == SEEDED)


def check(of: Scope, url: str = f"{SEEDED}/a", *, depth: int = 1) -> Rejection | None:
    return of.check(url, host=url.partition("//")[0] + "//" + url.split("/")[2], depth=depth)


@pytest.mark.parametrize(
    ("url", "rejection"),
    [
        ("http://seed.example/a", None),
        ("http://friend.example/a", None),
        ("https://friend.example:8443/a", None),
        ("https://seed.example/a", Rejection.OFF_HOST),
        ("http://www.friend.example/a", Rejection.OFF_HOST),
        ("http://other.example/a", Rejection.OFF_HOST),
    ],
)
def test_hosts_belong_that_have_a_seed_or_are_named(url: str, rejection: Rejection | None) -> None:
    assert check(scope(), url) is rejection


def test_every_host_belongs_where_hosts_are_not_checked() -> None:
    assert check(scope(any_host=True), "http://other.example/a") is None


def test_a_url_as_long_as_allowed_is_taken_and_a_longer_one_is_not() -> None:
    url = f"{SEEDED}/abc"
    assert check(scope(url_bytes_max=len(url)), url) is None
    assert check(scope(url_bytes_max=len(url) - 1), url) is Rejection.TOO_LONG


def test_a_url_as_deep_as_allowed_is_taken_and_a_deeper_one_is_not() -> None:
    assert check(scope(depth_max=3), depth=3) is None
    assert check(scope(depth_max=3), depth=4) is Rejection.TOO_DEEP


def test_exclude_rules_search_the_whole_url() -> None:
    rules = scope(exclude=(re.compile(r"\.zip$"), re.compile("/private/")))
    assert check(rules, f"{SEEDED}/a.zip") is Rejection.EXCLUDED
    assert check(rules, f"{SEEDED}/private/a") is Rejection.EXCLUDED
    assert check(rules, f"{SEEDED}/a.zip.html") is None


def test_with_include_rules_one_must_match() -> None:
    rules = scope(include=(re.compile("/docs/"), re.compile("/blog/")))
    assert check(rules, f"{SEEDED}/blog/a") is None
    assert check(rules, f"{SEEDED}/shop/a") is Rejection.NOT_INCLUDED


def test_the_first_rule_that_decides_is_named() -> None:
    strict = {"url_bytes_max": 5, "depth_max": 0, "exclude": (re.compile("a"),), "include": (re.compile("never"),)}
    url = "http://other.example/a"
    found = []
    for relaxed in ({}, {"url_bytes_max": 99}, {"depth_max": 9}, {"any_host": True}, {"exclude": ()}, {"include": ()}):
        strict |= relaxed
        found.append(check(scope(**strict), url))
    assert found == [
        Rejection.TOO_LONG,
        Rejection.TOO_DEEP,
        Rejection.OFF_HOST,
        Rejection.EXCLUDED,
        Rejection.NOT_INCLUDED,
        None,
    ]


def test_a_host_is_asked_for_its_seed_once() -> None:
    asked: list[str] = []

    def has_seed(host: str) -> bool:
        asked.append(host)
        return True

    of = Scope(ScopeRules(any_host=False, hosts=frozenset()), has_seed)
    assert [check(of), check(of), check(of, "http://b.example/")] == [None, None, None]
    assert asked == [SEEDED, "http://b.example"]
