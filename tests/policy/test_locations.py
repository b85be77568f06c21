"""Everything that a Location may hold: each ends in a named outcome, most of them as a browser reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.exchange import Answer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.outcomes import judge

URL = "https://www.example.org/a/b?c=d"
WORDS = "ü 漢"


def _redirect(*locations: str, url: str = URL, status: int = 302) -> Answer:
    return Answer(
        url=url,
        status=status,
        headers=tuple(("Location", location) for location in locations),
        request_head=b"",
        response_head=b"",
        body=b"",
        address=None,
        started_at=0.0,
        first_byte_at=0.0,
        ended_at=0.0,
    )


def _wire(text: str) -> str:
    """Return text as a header value that was sent as UTF-8 and read as latin-1."""
    return text.encode().decode("latin-1")


TARGETS = {
    # absolute
    "https://other.example": "https://other.example/",
    "HTTP://Other.Example:80/%7Ex/../y": "http://other.example/y",
    "http://user:secret@other.example/": "http://user:secret@other.example/",
    "http://2130706433/": "http://127.0.0.1/",
    "http:/other.example": "http://other.example/",
    "http:other.example": "http://other.example/",
    "https:c": "https://www.example.org/a/c",
    # relative
    "": "https://www.example.org/a/b?c=d",
    ".": "https://www.example.org/a/",
    "../../..": "https://www.example.org/",
    "c": "https://www.example.org/a/c",
    "/c": "https://www.example.org/c",
    "?e": "https://www.example.org/a/b?e",
    "#f": "https://www.example.org/a/b?c=d#f",
    "//other.example/c": "https://other.example/c",
    "\\\\other.example\\c": "https://other.example/c",
    "///other.example": "https://other.example/",
    "www.other.example/c": "https://www.example.org/a/www.other.example/c",
    # characters
    "/a b": "https://www.example.org/a%20b",
    "/a\tb": "https://www.example.org/ab",
    '/"<>`{}|^\\': "https://www.example.org/%22%3C%3E%60%7B%7D|%5E/",
    "/%zz%": "https://www.example.org/%zz%",
    _wire(f"/{WORDS}?{WORDS}"): "https://www.example.org/%C3%BC%20%E6%BC%A2?%C3%BC%20%E6%BC%A2",
    _wire("http://bücher.example/"): "http://xn--bcher-kva.example/",
    "/\xfc": "https://www.example.org/%C3%BC",  # latin-1, which no UTF-8 is
    "/\xff\xfe": "https://www.example.org/%C3%BF%C3%BE",
}


@pytest.mark.parametrize("location", TARGETS)
def test_a_location_is_resolved_as_browsers_do(location: str) -> None:
    verdict = judge(_redirect(location))
    assert (verdict.outcome, verdict.redirect) == (FetchOutcome.REDIRECT, TARGETS[location])


@pytest.mark.parametrize(
    "location",
    [
        "ftp://other.example/", "mailto:a@other.example", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd",
        "about:blank", "tel:123", "ws://other.example/", "intent://x#Intent;end", "blob:https://other.example/1",
        "view-source:https://other.example/",
    ],
)  # fmt: skip
def test_another_scheme_is_no_redirect(location: str) -> None:
    verdict = judge(_redirect(location))
    assert verdict.outcome is FetchOutcome.REDIRECT_INVALID
    assert verdict.detail == "the Location is neither http nor https"


@pytest.mark.parametrize(
    "location",
    [
        "http://", "https://[", "http://[::1", "http://other.example:99999/", "http://other.example:x/", "http://a b/",
        "http://a%00b/", "http://1.2.3.4.5/", "//", "//%", "http://\xad/", "https://user@/",
    ],
)  # fmt: skip
def test_what_is_no_url_is_no_redirect(location: str) -> None:
    verdict = judge(_redirect(location))
    assert verdict.outcome is FetchOutcome.REDIRECT_INVALID
    assert verdict.detail == "the Location is not a URL"


def test_equal_locations_are_one() -> None:
    assert judge(_redirect("/c", "/c")).redirect == "https://www.example.org/c"


def test_locations_that_differ_are_no_redirect() -> None:
    verdict = judge(_redirect("/c", "/d"))
    assert (verdict.outcome, verdict.detail) == (FetchOutcome.REDIRECT_INVALID, "there is more than one Location")


def test_each_of_twenty_five_hops_is_one_redirect() -> None:
    url = "http://a.test/0"
    for hop in range(1, 26):
        verdict = judge(_redirect(f"{hop}", url=url, status=(301, 302, 303, 307, 308)[hop % 5]))
        assert verdict.outcome is FetchOutcome.REDIRECT
        assert verdict.redirect is not None
        url = verdict.redirect
    assert url == "http://a.test/25"


def test_a_long_location_is_resolved_whole() -> None:
    assert judge(_redirect("/" + "x" * 60_000)).redirect == "https://www.example.org/" + "x" * 60_000


@given(st.lists(st.text(st.characters(max_codepoint=255), max_size=40), max_size=3))
def test_any_locations_have_an_outcome(locations: list[str]) -> None:
    verdict = judge(_redirect(*locations))
    assert verdict.outcome in (FetchOutcome.REDIRECT, FetchOutcome.REDIRECT_INVALID)
    if verdict.redirect is not None:
        assert verdict.redirect.isascii()
        assert verdict.redirect.startswith(("http://", "https://"))
