"""Numbers and names that stand on disk: a change here is a change of the format."""

import re

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import PageStatus, Place


def test_page_statuses_keep_their_numbers() -> None:
    assert {status.name: int(status) for status in PageStatus} == {
        "UNFETCHED": 1,
        "FETCHED": 2,
        "DUPLICATE": 3,
        "REDIRECT": 4,
        "GONE": 5,
        "BLOCKED": 6,
        "SKIPPED": 7,
    }


def test_places_keep_their_numbers() -> None:
    assert {place.name: int(place) for place in Place} == {"NONE": 0, "READY": 1, "TIMER": 2, "LEASED": 3, "RISING": 4}


def test_fetch_outcomes_keep_their_names_and_numbers() -> None:
    assert {outcome.value: outcome.number for outcome in FetchOutcome} == {
        "fetched": 1,
        "not_modified": 2,
        "redirect": 3,
        "not_found": 4,
        "gone": 5,
        "denied": 6,
        "server_error": 7,
        "timeout": 8,
        "connect_failed": 9,
        "dns_failed": 10,
        "tls_failed": 11,
        "protocol_error": 12,
        "robots_denied": 13,
        "address_refused": 14,
        "skipped_type": 15,
        "deferred": 16,
        "time_limit": 17,
        "redirect_invalid": 18,
    }


def test_every_outcome_says_what_it_means_in_one_sentence() -> None:
    assert all(re.fullmatch(r"([A-Z]|robots\.txt ).*\.", outcome.sentence) for outcome in FetchOutcome)


def test_names_in_logs_are_the_names_in_the_program() -> None:
    names = [*FetchOutcome, *Rejection]
    assert [name.value for name in names] == [name.name.lower() for name in names]
