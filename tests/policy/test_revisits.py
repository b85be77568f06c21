from typing import Any

import pytest

from batchcrawl.model.digest import digest
from batchcrawl.model.entries import FetchEntry
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.revisit import Revisit, RevisitProfile
from batchcrawl.policy.log_lines import answered
from batchcrawl.policy.revisits import find_revisit, validators
from tests.support.exchanges import answer

BODY = b"<title>hello</title>"
AT = 1_795_860_900.25
OF_THE_COPY = (FetchOutcome.FETCHED, FetchOutcome.NOT_MODIFIED)
BOTH = [("If-None-Match", '"x"'), ("If-Modified-Since", "yesterday")]


def entry(**changes: Any) -> FetchEntry:
    facts: dict[str, Any] = {
        "fp": "0" * 32,
        "url": "http://example.org/page/0",
        "host": "http://example.org",
        "etag": '"x"',
        "last_modified": "yesterday",
        "digest": digest(BODY),
        "content_type": "text/html",
        "body_at": AT,
        "body_segment": "20261128T101500Z",
        **changes,
    }
    return FetchEntry(**facts)


def revisit(profile: RevisitProfile) -> Revisit:
    return Revisit(
        profile=profile,
        refers_to_uri="http://example.org/page/0",
        refers_to_at=AT,
        payload_digest=digest(BODY),
    )


def test_a_copy_is_asked_about_by_what_it_was_sent_with() -> None:
    assert validators(entry(), full_every=10) == BOTH
    assert validators(entry(etag=None), full_every=10) == BOTH[1:]
    assert validators(entry(last_modified=None), full_every=10) == BOTH[:1]
    assert validators(entry(etag=None, last_modified=None), full_every=10) == []


def test_a_weak_etag_is_sent_as_it_came() -> None:
    assert validators(entry(etag='W/"x"', last_modified=None), full_every=10) == [("If-None-Match", 'W/"x"')]


def test_without_a_copy_that_may_be_referred_to_the_page_is_asked_for_whole() -> None:
    assert validators(entry(body_at=None), full_every=10) == []


@pytest.mark.parametrize(("full_every", "asked"), [(1, [False] * 4), (2, [True, False] * 2), (4, [True] * 3 + [False])])
def test_every_nth_visit_asks_for_the_whole_page(full_every: int, asked: list[bool]) -> None:
    seen, not_modified = [], 0
    for _ in asked:
        conditional = validators(entry(not_modified=not_modified), full_every=full_every) != []
        not_modified = not_modified + 1 if conditional else 0
        seen.append(conditional)
    assert seen == asked


def test_a_304_that_was_asked_for_refers_to_the_copy() -> None:
    found = find_revisit(entry(), answer(body=b"", status=304), FetchOutcome.NOT_MODIFIED)
    assert found == revisit(RevisitProfile.NOT_MODIFIED)


def test_the_same_bytes_refer_to_the_copy() -> None:
    assert find_revisit(entry(), answer(body=BODY), FetchOutcome.FETCHED) == revisit(RevisitProfile.IDENTICAL_PAYLOAD)


@pytest.mark.parametrize(
    "changes",
    [
        {"body": b"<title>other</title>"},
        {"status": 203},
        {"status": 206},
        {"truncated": "time"},
        {"headers": (("Content-Type", "text/html; charset=koi8-r"),)},
        {"headers": ()},
        {"headers": (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))},
    ],
)
def test_a_page_that_differs_in_anything_that_its_text_depends_on_is_stored(changes: dict[str, Any]) -> None:
    assert find_revisit(entry(), answer(**{"body": BODY, **changes}), FetchOutcome.FETCHED) is None


@pytest.mark.parametrize("changes", [{"body_at": None}, {"digest": None}])
def test_nothing_refers_to_a_copy_that_is_not_known(changes: dict[str, Any]) -> None:
    for outcome in OF_THE_COPY:
        assert find_revisit(entry(**changes), answer(body=BODY), outcome) is None


def test_an_empty_page_is_stored_again() -> None:
    assert find_revisit(entry(digest=digest(b"")), answer(body=b""), FetchOutcome.FETCHED) is None


@pytest.mark.parametrize("outcome", [one for one in FetchOutcome if one not in OF_THE_COPY])
def test_what_is_no_page_is_never_a_revisit(outcome: FetchOutcome) -> None:
    assert find_revisit(entry(), answer(body=BODY), outcome) is None


@pytest.mark.parametrize("value", ["a\rb", "a\tb", "\x85", "x" * 1001, ""])
def test_a_validator_that_could_not_be_sent_back_is_not_kept(value: str) -> None:
    headers = (("ETag", value), ("Last-Modified", value))
    line = answered(entry(), answer(headers=headers, response_head=b""), conditional=False)
    assert (line.etag, line.last_modified) == (None, None)


@pytest.mark.parametrize("value", ['W/"x"', "unquoted", '"\N{LATIN SMALL LETTER E WITH ACUTE}"', "x" * 1000])
def test_a_validator_is_kept_as_it_came(value: str) -> None:
    line = answered(entry(), answer(headers=(("ETag", value),), response_head=b""), conditional=False)
    assert line.etag == value


def test_a_304_is_not_modified_only_where_it_was_asked_for() -> None:
    came = answer(body=b"", status=304)
    assert answered(entry(), came, conditional=True).outcome is FetchOutcome.NOT_MODIFIED
    assert answered(entry(), came, conditional=False).outcome is FetchOutcome.PROTOCOL_ERROR
