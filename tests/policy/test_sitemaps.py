import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.sitemaps import (
    ANY_SITE,
    NAMED_MAX,
    SITES_MAX,
    guessed_sitemaps,
    joined_sites,
    may_speak_of,
    name_sitemap,
    named_sitemaps,
)

HOST = "http://example.org"
SITES = st.lists(st.text("abc.", min_size=1, max_size=3), max_size=150)


def test_robots_txt_names_sitemaps_of_any_host() -> None:
    text = """User-agent: *
        Disallow: /
        Sitemap: http://example.org/a.xml#top
        sitemap: https://cdn.example.net/b.xml
        SITEMAP: /c.xml
        Sitemap: http://example.org/a.xml
        Sitemap: ftp://example.org/d.xml
        Sitemap: http://["""
    named = ["http://example.org/a.xml", "https://cdn.example.net/b.xml", "http://example.org/c.xml"]
    assert named_sitemaps(text, HOST) == named


def test_without_robots_txt_no_sitemap_is_named() -> None:
    assert named_sitemaps(None, HOST) == []


def test_a_robots_txt_names_no_more_sitemaps_than_allowed() -> None:
    text = "".join(f"Sitemap: /{number}.xml\n" for number in range(2 * NAMED_MAX))
    assert len(named_sitemaps(text, HOST)) == NAMED_MAX


def test_guesses_are_urls_of_the_host() -> None:
    assert guessed_sitemaps(HOST)[0] == "http://example.org/sitemap.xml"
    assert all(url.startswith("http://example.org/") for url in guessed_sitemaps(HOST))


def test_a_sitemap_speaks_of_its_own_site_and_of_those_that_name_it() -> None:
    assert may_speak_of("example.org", own_site="example.org", sites=[])
    assert not may_speak_of("example.net", own_site="example.org", sites=["example.com"])
    assert may_speak_of("example.net", own_site="example.org", sites=["example.net"])
    assert may_speak_of("example.net", own_site="example.org", sites=[ANY_SITE])


@given(SITES, SITES)
def test_sites_are_added_up_to_a_limit_and_none_is_pushed_out(first: list[str], more: list[str]) -> None:
    known = joined_sites(None, first)
    joined = joined_sites(known, more)
    assert set(known or ()) <= set(joined or ()) <= {*first, *more}
    assert len(joined or ()) == min(SITES_MAX, len({*(known or ()), *more}))
    assert joined_sites(joined, more) == joined


@pytest.mark.parametrize("status", [PageStatus.UNFETCHED, PageStatus.SKIPPED, PageStatus.GONE, PageStatus.BLOCKED])
def test_a_url_of_which_nothing_is_stored_becomes_what_it_is_named_as(status: PageStatus) -> None:
    record = UrlRecord("http://example.org/s.gz", status=status)
    assert name_sitemap(record, ["example.net"])
    assert (record.kind, record.sites) == (UrlKind.SITEMAP, ["example.net"])
    assert not name_sitemap(record, ["example.net"])


@pytest.mark.parametrize("status", [PageStatus.FETCHED, PageStatus.DUPLICATE])
def test_a_page_that_is_named_as_a_sitemap_stays_a_page(status: PageStatus) -> None:
    record = UrlRecord("http://example.org/", status=status)
    assert not name_sitemap(record, ["example.net"])
    assert (record.kind, record.sites) == (UrlKind.PAGE, None)
