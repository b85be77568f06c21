import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.urls import Base, host_key, host_name, parse_url

DATA = Path(__file__).parents[1] / "data"
WPT: dict[str, Any] = json.loads((DATA / "wpt_urls_http.json").read_text(encoding="utf-8"))
RFC: dict[str, Any] = json.loads((DATA / "rfc3986_resolution.json").read_text(encoding="utf-8"))

# Where the WHATWG standard decides otherwise than RFC 3986: an http URL always has a path, and a scheme that equals
# the base's is taken as if it were not there (which section 5.4.2 allows for backward compatibility).
WHATWG_DIFFERS = {"//g": "http://g/", "http:g": "http://a/b/c/g"}

LINKS = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="/.:?#@%a1xn-&=\\\t htps[]2e", max_size=30),
    st.from_regex(
        r"(https?://)?[a-z0-9.-]{0,12}(/[a-zA-Z0-9._~%-]{0,6}){0,4}(\?[a-z=&.]{0,9})?(#[a-z/.]{0,4})?", fullmatch=True
    ),
)
BASES = st.sampled_from([
    "http://example.org/",
    "https://example.org:8443/a/b/c.html?d/e#f/g",
    "http://user:pass@example.org/x/",
    "http://[::1]/a",
    "http://1.2.3.4/a//b",
    "mailto:someone@example.org",
])  # fmt: skip


@pytest.mark.parametrize("case", WPT["success"], ids=lambda case: repr(case["input"])[:60])
def test_a_url_is_serialised_as_browsers_do(case: dict[str, Any]) -> None:
    assert parse_url(case["input"], case["base"]) == case["href"]


@pytest.mark.parametrize("case", WPT["failure"], ids=lambda case: repr(case["input"])[:60])
def test_what_browsers_refuse_is_refused(case: dict[str, Any]) -> None:
    assert parse_url(case["input"], case["base"]) is None


@pytest.mark.parametrize("case", RFC["cases"], ids=lambda case: repr(case["ref"]))
def test_references_resolve_as_in_rfc_3986(case: dict[str, str]) -> None:
    expected = WHATWG_DIFFERS.get(case["ref"], case["expect"])
    assert parse_url(case["ref"], RFC["base"]) == expected


@given(LINKS, BASES)
def test_joining_on_the_fast_path_gives_what_the_parser_gives(text: str, base: str) -> None:
    assert Base(base).join(text) == parse_url(text, base)


def test_lone_surrogates_become_replacement_characters() -> None:
    assert parse_url("http://example.org/\ud800") == "http://example.org/%EF%BF%BD"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "http://example.org"),
        ("https://example.org/a?b=http://x/", "https://example.org"),
        ("http://example.org:8080/a@b", "http://example.org:8080"),
        ("http://user:pass@example.org/a", "http://example.org"),
        ("https://[2001:db8::1]:444/", "https://[2001:db8::1]:444"),
        ("http://a/", "http://a"),
    ],
)
def test_a_host_key_is_scheme_host_and_port(url: str, key: str) -> None:
    assert host_key(url) == key


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("http://example.org", "example.org"),
        ("https://example.org:8443", "example.org"),
        ("https://[2001:db8::1]:444", "2001:db8::1"),
        ("http://10.0.0.1:80", "10.0.0.1"),
    ],
)
def test_a_host_name_is_the_host_key_without_scheme_port_and_brackets(key: str, name: str) -> None:
    assert host_name(key) == name


@given(st.text())
def test_host_key_and_host_name_take_any_text(text: str) -> None:
    assert isinstance(host_name(host_key(text)), str)
