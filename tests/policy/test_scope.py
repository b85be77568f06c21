from typing import Any

import pytest

from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.rules import Asks, Rule, ScopeRules
from batchcrawl.policy.scope import TIMEOUTS_MAX, Decision, Hosts, Scope
from batchcrawl.policy.url_filters import parse_regex_filter
from batchcrawl.web.urls import host_key

SEEDED = "http://seed.example"
TAKE_ALL = Rule(asks=Asks.ANYTHING, reason=None, text="nothing rejects it", place="default")


def rule(asks: Asks, *values: str, take: bool = False, **facts: Any) -> Rule:
    reason = None if take else facts.pop("reason", Rejection.RULE)
    return Rule(asks=asks, reason=reason, values=values, text=asks.value, place="x.toml:1", **facts)


def scope(*rules: Rule, **facts: Any) -> Scope:
    hosts = Hosts(lambda host: host == SEEDED, lambda name: ".".join(name.split(".")[-2:]))
    return Scope(ScopeRules((*rules, TAKE_ALL), **facts), hosts)


def check(of: Scope, url: str = f"{SEEDED}/a", *, depth: int = 1, hops: int = 0) -> Rejection | None:
    return of.decide(url, host=host_key(url), depth=depth, hops=hops).rejection


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
def test_hosts_are_the_crawls_own_that_have_a_seed_or_are_named(url: str, rejection: Rejection | None) -> None:
    of = scope(rule(Asks.ELSEWHERE, reason=Rejection.OFF_HOST), hosts=frozenset({"friend.example"}))
    assert check(of, url) is rejection
    assert of.owns(host_key(url)) is (rejection is None)


@pytest.mark.parametrize(
    ("asked", "holds_for", "not_for"),
    [
        (rule(Asks.LENGTH_ABOVE, number=22), f"{SEEDED}/abcd", f"{SEEDED}/ab"),
        (rule(Asks.HOST, "a.example", "b.example"), "http://b.example:81/", "http://x.b.example/"),
        (rule(Asks.DOMAIN, "a.example"), "http://x.y.a.example/", "http://xa.example/"),
        (rule(Asks.DOMAIN, "a.example"), "http://a.example/", "http://b.example/"),
        (rule(Asks.PREFIX, f"{SEEDED}/docs/"), f"{SEEDED}/docs/a", f"{SEEDED}/a?{SEEDED}/docs/"),
        (rule(Asks.EXTENSION, "zip", "tar.gz"), f"{SEEDED}/a.ZIP?x=1", f"{SEEDED}/azip"),
        (rule(Asks.EXTENSION, "zip", "tar.gz"), f"{SEEDED}/a.tar.gz", f"{SEEDED}/a.gz"),
        (rule(Asks.EXTENSION, "zip"), f"{SEEDED}/a.zip#b", f"{SEEDED}/a?b.zip"),
        (rule(Asks.FOUND, r"/private/", r"\.iso$"), f"{SEEDED}/a.iso", f"{SEEDED}/a.iso.html"),
        (rule(Asks.NOT_FOUND, "/docs/", "/blog/"), f"{SEEDED}/shop/", f"{SEEDED}/blog/"),
    ],
)
def test_a_rule_holds_for_what_it_asks_of_a_url(asked: Rule, holds_for: str, not_for: str) -> None:
    assert check(scope(asked), holds_for) is Rejection.RULE
    assert check(scope(asked), not_for) is None


@pytest.mark.parametrize(
    ("asks", "holds_for", "not_for"),
    [
        (Asks.DEPTH_ABOVE, {"depth": 4}, {"depth": 3, "hops": 9}),
        (Asks.DEPTH_WITHIN, {"depth": 3, "hops": 9}, {"depth": 4}),
        (Asks.HOPS_ABOVE, {"hops": 4}, {"hops": 3, "depth": 9}),
        (Asks.HOPS_WITHIN, {"hops": 3, "depth": 9}, {"hops": 4}),
    ],
)
def test_a_rule_holds_for_what_it_asks_of_a_link(asks: Asks, holds_for: Any, not_for: Any) -> None:
    of = scope(rule(asks, number=3))
    assert check(of, **holds_for) is Rejection.RULE
    assert check(of, **not_for) is None


def test_the_first_rule_that_decides_wins_and_is_named() -> None:
    taking = Rule(asks=Asks.PREFIX, values=(f"{SEEDED}/a",), reason=None, text="take it", place="x.toml:7")
    of = scope(rule(Asks.EXTENSION, "zip"), taking, rule(Asks.ANYTHING))
    assert of.judge(f"{SEEDED}/a", SEEDED).decision == Decision(None, "take it", "x.toml:7")
    assert check(of, f"{SEEDED}/a.zip") is Rejection.RULE
    assert check(of, f"{SEEDED}/b") is Rejection.RULE


def test_rules_for_links_keep_their_place_among_the_others() -> None:
    of = scope(rule(Asks.DEPTH_WITHIN, take=True, number=1), rule(Asks.ANYTHING, reason=Rejection.EXCLUDED))
    assert check(of, depth=1) is None
    assert check(of, depth=2) is Rejection.EXCLUDED
    before = scope(rule(Asks.ANYTHING, reason=Rejection.EXCLUDED), rule(Asks.DEPTH_WITHIN, take=True, number=1))
    assert check(before, depth=1) is Rejection.EXCLUDED


def test_a_verdict_holds_for_links_of_every_depth() -> None:
    verdict = scope(rule(Asks.DEPTH_ABOVE, number=2, reason=Rejection.TOO_DEEP)).judge(f"{SEEDED}/a", SEEDED)
    found = [verdict.at(depth=depth, hops=0).rejection for depth in (1, 2, 3)]
    assert found == [None, None, Rejection.TOO_DEEP]


TRAP = f"{SEEDED}/a/a/a/a"
TRAPS = (rule(Asks.TRAP, reason=Rejection.TRAP_REPEATING_PATH),)


def test_what_the_rules_take_is_looked_at_for_traps() -> None:
    assert check(scope(traps=TRAPS), TRAP) is Rejection.TRAP_REPEATING_PATH
    assert check(scope(rule(Asks.HOST, "seed.example", take=True), traps=TRAPS), TRAP) is Rejection.TRAP_REPEATING_PATH


def test_what_the_rules_reject_is_not_blamed_on_a_trap() -> None:
    assert check(scope(rule(Asks.FOUND, "a"), traps=TRAPS), TRAP) is Rejection.RULE


def test_a_trap_is_one_on_whatever_way_a_link_leads_to_it() -> None:
    of = scope(rule(Asks.DEPTH_WITHIN, number=1, take=True), rule(Asks.DEPTH_ABOVE, number=2), traps=TRAPS)
    assert [check(of, TRAP, depth=depth) for depth in (1, 2, 3)] == [
        Rejection.TRAP_REPEATING_PATH,
        Rejection.TRAP_REPEATING_PATH,
        Rejection.RULE,
    ]


def filtered(text: str, *rules: Rule) -> Scope:
    return scope(rule(Asks.FILTER, url_filter=parse_regex_filter(text, "filter.txt")), *rules)


def test_what_a_filter_file_rejects_is_rejected_by_its_line() -> None:
    of = filtered("# a\n-[?]\n+/docs/\n")
    assert of.judge(f"{SEEDED}/a?b", SEEDED).decision == Decision(Rejection.URL_FILTER, "-[?]", "filter.txt:2")
    decision = of.judge(f"{SEEDED}/a", SEEDED).decision
    assert decision == Decision(Rejection.URL_FILTER, "no line is found in it", "filter.txt")


def test_what_a_filter_file_accepts_is_left_to_the_rules_behind_it() -> None:
    of = filtered("+.\n", rule(Asks.FOUND, "/private/"))
    assert check(of) is None
    assert check(of, f"{SEEDED}/private/") is Rejection.RULE


SLOW = r"(?!x)^(([a-z:/.])+.)+[A-Z]([a-z])+$"


@pytest.mark.parametrize("of", [scope(rule(Asks.FOUND, SLOW)), filtered(f"-{SLOW}\n+.\n")])
def test_a_domain_whose_urls_take_a_pattern_too_long_is_not_searched_for_ever(of: Scope) -> None:
    url = f"{SEEDED}/" + "a" * 1000
    found = {check(of, f"{url}{number * 'a'}") for number in range(TIMEOUTS_MAX + 1)}
    assert found == {Rejection.RULE_TIMEOUT}
    assert check(of, f"{SEEDED}/A") is Rejection.RULE_TIMEOUT
    assert check(of, "http://quick.example/1") is None


def test_a_host_is_asked_for_its_seed_once() -> None:
    asked: list[str] = []

    def has_seed(host: str) -> bool:
        asked.append(host)
        return True

    of = Scope(ScopeRules((rule(Asks.ELSEWHERE), TAKE_ALL)), Hosts(has_seed, str))
    assert [check(of), check(of), check(of, "http://b.example/")] == [None, None, None]
    assert asked == [SEEDED, "http://b.example"]
