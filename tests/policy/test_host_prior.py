import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.host import HostRecord, RateCounts, decode_host, encode_host
from batchcrawl.policy.host_prior import CRAWL_PAGES, HOST_PAGES, MEAN_MAX, MEAN_MIN, PAGE_RATE_MAX, Priors, add
from batchcrawl.policy.schedule import PRIOR, PRIOR_A, PRIOR_RATE

RATES = st.none() | st.floats(0, 1e6)


def host(name: str = "http://a.test") -> HostRecord:
    return HostRecord(host=name, domain=name)


def shown(priors: Priors, of: HostRecord, *, pages: int, rate: float) -> None:
    """Let so many pages of a host be refetched and believed to change at a rate."""
    for _ in range(pages):
        priors.note(of, None, rate)


def test_before_anything_was_refetched_the_prior_is_that_of_all() -> None:
    assert Priors().of(None) == Priors().of(host()) == PRIOR


def test_a_host_of_which_much_is_known_speaks_for_its_pages() -> None:
    priors, slow, fast = Priors(), host(), host("http://b.test")
    shown(priors, slow, pages=300, rate=0.01)
    shown(priors, fast, pages=300, rate=3.0)
    assert priors.of(slow).rate == pytest.approx((300 * 0.01 + HOST_PAGES * priors.crawl_rate) / (300 + HOST_PAGES))
    assert priors.of(fast).rate == pytest.approx(3.0, rel=0.1)
    assert priors.of(slow).a == priors.of(fast).a == PRIOR_A


def test_a_host_of_which_little_is_known_is_as_the_crawl() -> None:
    priors, known, new = Priors(), host(), host("http://b.test")
    shown(priors, known, pages=500, rate=0.05)
    crawl = (500 * 0.05 + CRAWL_PAGES * PRIOR_RATE) / (500 + CRAWL_PAGES)
    assert priors.of(new).rate == priors.of(None).rate == pytest.approx(crawl)
    shown(priors, new, pages=1, rate=1.0)
    drawn = (1.0 + HOST_PAGES * priors.crawl_rate) / (1 + HOST_PAGES)
    assert priors.of(new).rate == pytest.approx(drawn)


def test_a_page_counts_once_however_often_it_is_refetched_and_not_once_it_starts_anew() -> None:
    priors, one = Priors(), host()
    priors.note(one, None, 0.5)
    priors.note(one, 0.5, 0.25)
    assert one.rates == priors.crawl == RateCounts(pages=1, rate_sum=0.25)
    priors.note(one, 0.25, None)
    assert one.rates == priors.crawl == RateCounts()
    assert priors.of(one) == PRIOR


def test_a_page_that_always_changes_does_not_speak_for_its_host() -> None:
    priors, one = Priors(), host()
    priors.note(one, None, 2e7)
    assert priors.crawl.rate_sum == PAGE_RATE_MAX


@given(st.lists(st.tuples(RATES, RATES), max_size=30))
def test_whatever_is_noted_a_prior_is_within_its_bounds(noted: list[tuple[float | None, float | None]]) -> None:
    priors, one = Priors(), host()
    for before, after in noted:
        priors.note(one, before, after)
        assert MEAN_MIN * 0.999 <= priors.of(one).rate <= MEAN_MAX * 1.001
        assert decode_host(encode_host(one)).rates == one.rates


def test_the_counts_of_a_host_are_added_to_those_of_others() -> None:
    counts = RateCounts(pages=1, rate_sum=0.5)
    add(counts, 2, 0.25)
    assert counts == RateCounts(pages=3, rate_sum=0.75)


def test_a_page_that_was_never_counted_says_nothing_by_a_change_of_its_rate() -> None:
    priors, one = Priors(), host()
    priors.note(one, 0.1, 5.0)
    assert priors.of(one) == PRIOR
