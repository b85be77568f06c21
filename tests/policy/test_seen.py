import pytest

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.seen import ALONE, Verdict, judge_unvisited, judge_visited, want_links
from batchcrawl.policy.value import LEVEL_MAX

ME, OTHER = b"m" * 16, b"o" * 16
STORED = (PageStatus.FETCHED, PageStatus.DUPLICATE)
NOT_STORED = [status for status in PageStatus if status not in STORED]


def page(status: PageStatus = PageStatus.FETCHED, *, of: bytes | None = None, place: Place = Place.TIMER) -> UrlRecord:
    return UrlRecord("http://a.test/", status=status, duplicate_of=of, place=place, next_fetch_at=900, body_at=100.0)


@pytest.mark.parametrize("before", STORED)
def test_a_visited_page_is_a_duplicate_of_the_first_with_its_text(before: PageStatus) -> None:
    record = page(before)
    judge_visited(record, ME, Verdict(OTHER))
    assert (record.status, record.duplicate_of) == (PageStatus.DUPLICATE, OTHER)


@pytest.mark.parametrize("verdict", [ALONE, Verdict(ME)])
def test_a_visited_page_that_is_the_first_is_fetched(verdict: Verdict) -> None:
    record = page(PageStatus.DUPLICATE, of=OTHER)
    judge_visited(record, ME, verdict)
    assert (record.status, record.duplicate_of) == (PageStatus.FETCHED, None)


def test_a_record_remembers_that_it_was_a_page_and_that_it_was_a_copy() -> None:
    record = page(PageStatus.FETCHED)
    judge_visited(record, ME, Verdict(OTHER))
    assert (record.was_page, record.was_copy) == (False, True)
    judge_visited(record, ME, ALONE)
    assert (record.was_page, record.was_copy) == (True, True)


def test_a_sitemap_was_no_page() -> None:
    record = page(PageStatus.FETCHED)
    record.kind = UrlKind.SITEMAP
    judge_visited(record, ME, ALONE)
    assert not record.was_page


@pytest.mark.parametrize("status", NOT_STORED)
def test_what_is_no_stored_page_is_never_a_duplicate(status: PageStatus) -> None:
    record = page(status)
    judge_visited(record, ME, Verdict(OTHER))
    assert not judge_unvisited(record, ME, Verdict(OTHER))
    assert (record.status, record.duplicate_of) == (status, None)


def test_a_duplicate_takes_the_place_of_the_first_by_the_visits_of_others() -> None:
    record = page(PageStatus.DUPLICATE, of=OTHER)
    assert judge_unvisited(record, ME, Verdict(ME))
    assert (record.status, record.duplicate_of) == (PageStatus.FETCHED, None)


def test_the_first_loses_its_place_to_one_that_had_the_text_before() -> None:
    record = page()
    assert not judge_unvisited(record, ME, Verdict(OTHER))
    assert (record.status, record.duplicate_of) == (PageStatus.DUPLICATE, OTHER)


def test_a_page_without_news_stays_what_it_is() -> None:
    record = page(PageStatus.DUPLICATE, of=OTHER)
    assert not judge_unvisited(record, ME, ALONE)
    assert (record.status, record.duplicate_of) == (PageStatus.DUPLICATE, OTHER)


@pytest.mark.parametrize("place", [Place.TIMER, Place.RISING])
def test_a_page_whose_links_are_wanted_comes_at_once_and_whole(place: Place) -> None:
    record = page(place=place)
    want_links(record, 500)
    assert (record.place, record.level, record.next_fetch_at) == (Place.READY, LEVEL_MAX, 500)
    assert record.body_at is None


@pytest.mark.parametrize("place", [Place.READY, Place.LEASED, Place.NONE])
def test_a_page_that_waits_for_no_instant_keeps_its_place(place: Place) -> None:
    record = page(place=place)
    want_links(record, 500)
    assert (record.place, record.next_fetch_at, record.body_at) == (place, 900, None)


def test_a_page_that_is_no_duplicate_names_the_first_that_it_is_near_to() -> None:
    record = page()
    judge_visited(record, ME, Verdict(near=OTHER))
    assert (record.status, record.duplicate_of, record.near_to) == (PageStatus.FETCHED, None, OTHER)
    judge_visited(record, ME, Verdict(OTHER, near=OTHER))
    assert (record.status, record.duplicate_of, record.near_to) == (PageStatus.DUPLICATE, OTHER, None)
