import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.outcomes import Verdict, judge
from tests.support.exchanges import answer

OUTCOMES = {
    FetchOutcome.FETCHED: [200, 201, 203, 204, 206, 299],
    FetchOutcome.NOT_MODIFIED: [304],
    FetchOutcome.NOT_FOUND: [404],
    FetchOutcome.GONE: [410],
    FetchOutcome.DENIED: [400, 401, 403, 408, 418, 451, 499],
    FetchOutcome.DEFERRED: [429, 503],
    FetchOutcome.SERVER_ERROR: [500, 502, 504, 599],
    FetchOutcome.REDIRECT_INVALID: [300, 305, 306, 399],
    FetchOutcome.PROTOCOL_ERROR: [100, 101, 103, 199, 600, 999, 0],
}


@pytest.mark.parametrize(("status", "outcome"), [(s, outcome) for outcome, all_of in OUTCOMES.items() for s in all_of])
def test_a_status_has_its_outcome(status: int, outcome: FetchOutcome) -> None:
    assert judge(answer(status=status), conditional=True).outcome is outcome


def test_a_304_that_was_not_asked_for_is_no_answer() -> None:
    verdict = judge(answer(status=304))
    assert verdict.outcome is FetchOutcome.PROTOCOL_ERROR
    assert verdict.detail == "304 in answer to a request without validators"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_names_its_resolved_target(status: int) -> None:
    verdict = judge(answer(7, status=status, headers=(("Location", "../new?x=1"),)))
    assert verdict == Verdict(FetchOutcome.REDIRECT, redirect="http://example.org/new?x=1")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://other.example", "https://other.example/"),
        ("//other.example/a", "http://other.example/a"),
        ("", "http://example.org/page/0"),
        ("/caf\u00c3\u00a9", "http://example.org/caf%C3%A9"),  # UTF-8 on the wire
        ("/caf\u00e9", "http://example.org/caf%C3%A9"),  # latin-1 on the wire
    ],
)
def test_a_location_is_read_as_browsers_read_it(location: str, target: str) -> None:
    assert judge(answer(status=302, headers=(("LOCATION", location),))).redirect == target


@pytest.mark.parametrize(
    "location", ["http://", "http://[", "mailto:a@b.example", "javascript:void(0)", "ftp://a.example/"]
)
def test_a_location_that_cannot_be_asked_for_is_no_redirect(location: str) -> None:
    verdict = judge(answer(status=301, headers=(("Location", location),)))
    assert (verdict.outcome, verdict.redirect) == (FetchOutcome.REDIRECT_INVALID, None)
    assert verdict.detail


def test_a_redirect_without_a_location_is_invalid() -> None:
    verdict = judge(answer(status=301))
    assert (verdict.outcome, verdict.detail) == (FetchOutcome.REDIRECT_INVALID, "status 301 without a usable Location")


def test_a_page_of_an_unwanted_type_is_skipped() -> None:
    assert judge(answer(unwanted=True)).outcome is FetchOutcome.SKIPPED_TYPE


@pytest.mark.parametrize("status", [404, 500, 503, 304])
def test_an_unwanted_type_matters_for_pages_only(status: int) -> None:
    assert judge(answer(status=status, unwanted=True)) == judge(answer(status=status))


@given(st.integers(0, 999), st.none() | st.text(st.characters(max_codepoint=255), max_size=30))
def test_any_answer_has_an_outcome(status: int, location: str | None) -> None:
    headers = () if location is None else (("Location", location),)
    verdict = judge(answer(status=status, headers=headers, response_head=b""))
    assert (verdict.redirect is not None) == (verdict.outcome is FetchOutcome.REDIRECT)
