"""Google's own cases, and our decisions where they are not undisputed."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.robots.rules import RobotsRules, decode_robots

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "robots_google.json").read_text(encoding="utf-8")
)
UNDISPUTED = [case for case in CASES if not case["google_specific"] and not case["contested"]]
DISPUTED = [case for case in CASES if case["google_specific"] or case["contested"]]

# What we answer, by kind. "google": as Google's matcher.
DECISIONS = {
    "": "google: documented by Google, nothing in RFC 9309 speaks against it",
    "empty agent or URL": "google: an empty URL counts as /, an empty token is named by no line",
    "missing colon accepted by Google lib": "google: the intent is clear",
    "user-agent line holds characters outside RFC 9309 product token ([A-Za-z_-])": (
        "google: the line names the token up to the first such character"
    ),
    "agent outside RFC 9309 product token": (
        "ours: a line that equals our token to the letter is meant for us, digits or not; Google's never matches it"
    ),
    "URL not percent-encoded by caller (caller contract of Google lib)": (
        "ours: the URL is percent-encoded first, since that is what would be asked for"
    ),
    "RFC 9309 2.2.2 says unreserved percent-encoded octets must be decoded before comparison; "
    "Google lib compares literally": "ours: the RFC is plain",
    "RFC 9309 2.2.2: /robots.txt itself is implicitly allowed; Google lib applies rules to it": (
        "ours: the RFC is plain"
    ),
    "index.html = / (Google)": "google: who allows the index page means the folder",
    "Google line limit 16664 bytes": "google: a limit is needed, and theirs is known",
    "partial, broken or misplaced BOM": "google: the start of a mark is dropped, anything else spoils its line",
}
ANSWERED_OTHERWISE = {
    63: True, 65: True, 255: True, 257: True,  # URL not percent-encoded
    66: True, 258: True,  # unreserved octets decoded
    338: True, 344: True, 348: True, 489: True,  # /robots.txt itself
    345: False, 346: False,  # AB42bot named by AB42bot
}  # fmt: skip


def answer(case: dict[str, Any]) -> bool:
    body = base64.b64decode(case["robots_b64"]) if "robots_b64" in case else case["robots_txt"].encode()
    return RobotsRules(decode_robots(body)).allowed(case["agent"], case["url"])


def name(case: dict[str, Any]) -> str:
    return f"{case['id']}-{case['test']}"


def test_the_cases_are_all_there() -> None:
    assert (len(UNDISPUTED), len(DISPUTED)) == (426, 149)


@pytest.mark.parametrize("case", UNDISPUTED, ids=name)
def test_an_undisputed_case_is_answered_as_google_does(case: dict[str, Any]) -> None:
    assert answer(case) is case["allowed"]


@pytest.mark.parametrize("case", DISPUTED, ids=name)
def test_a_disputed_case_is_answered_as_decided(case: dict[str, Any]) -> None:
    expected = ANSWERED_OTHERWISE.get(case["id"], case["allowed"])
    assert answer(case) is expected


@pytest.mark.parametrize("case", DISPUTED, ids=name)
def test_every_kind_of_dispute_is_decided(case: dict[str, Any]) -> None:
    kinds = case["contested"] or [""]
    assert set(kinds) <= set(DECISIONS)
    ours = case["id"] in ANSWERED_OTHERWISE
    assert not ours or any(DECISIONS[kind].startswith("ours") for kind in kinds)


LINES = st.lists(
    st.one_of(
        st.sampled_from([
            "user-agent: *", "user-agent: foo", "User-Agent: FOO/1.0 x", "user-agent: bar", "useragent bar",
            "user-agent: * x", "crawl-delay: 3", "sitemap: http://a/", "", "# x", "garbage", "allow:", "disallow:",
            "disalow: /a # b", "allow: /a/index.html",
        ]),
        st.builds(
            lambda key, pattern: f"{key}: {pattern}",
            st.sampled_from(["allow", "disallow"]),
            st.text(alphabet="/ab*$?é", max_size=7),
        ),
    ),
    max_size=12,
)  # fmt: skip
PATHS = st.text(alphabet="/ab?", max_size=8)


@given(LINES, PATHS, st.sampled_from(["foo", "Bar", "other"]))
def test_the_answer_is_that_of_googles_matcher(lines: list[str], path: str, token: str) -> None:
    googlebot = pytest.importorskip("jwm.robotstxt.googlebot", reason="no wheel for this Python")
    text, url = "\n".join(lines), f"http://example.org/{path}"
    expected = googlebot.RobotsMatcher().OneAgentAllowedByRobots(text, token, url)
    assert RobotsRules(text).allowed(token, url) is expected
