"""A difference is explained only where the crawl itself shows the rule."""

from tests.support.docs_compare import UNEXPLAINED, Comparison, CrawledPage, compare
from tests.support.walk import Visit

START = "http://a.test/"
PAGE = "http://a.test/page"


def test_equal_sides_have_no_difference() -> None:
    result = compared({START: visit(), PAGE: visit(START)}, {START: page(), PAGE: page()})
    assert result.differences == []
    assert result.both == {"text/html": 2}


def test_a_page_that_nothing_kept_away_is_unexplained() -> None:
    assert rule_of_page({START: page()}) == UNEXPLAINED


def test_a_page_only_of_the_crawl_is_unexplained() -> None:
    result = compared({START: visit()}, {START: page(), PAGE: page()})
    assert [(found.url, found.only, found.rule) for found in result.differences] == [(PAGE, "crawl", UNEXPLAINED)]


def test_a_start_that_the_crawl_does_not_know_is_unexplained() -> None:
    assert [found.rule for found in compared({START: visit()}, {}).differences] == [UNEXPLAINED]


def test_a_failed_fetch_is_unexplained() -> None:
    assert rule_of_page({START: page(), PAGE: page("timeout")}) == UNEXPLAINED


def test_robots_txt_is_a_rule() -> None:
    assert rule_of_page({START: page(), PAGE: page("robots_denied")}) == "robots.txt"


def test_a_content_type_that_is_not_kept_is_a_rule() -> None:
    assert "fetch.content_types" in rule_of_page({START: page(), PAGE: page("skipped_type")})


def test_links_that_were_cut_are_a_rule() -> None:
    assert "parse.links_max" in rule_of_page({START: page(links_cut=True)})


def test_a_link_element_that_is_not_followed_is_a_rule() -> None:
    walked = {START: visit(), PAGE: visit(START, kinds={"link stylesheet"})}
    assert rule_of_page({START: page()}, walked) == "not followed: link stylesheet"


def test_a_link_element_beside_a_link_that_is_followed_is_no_rule() -> None:
    walked = {START: visit(), PAGE: visit(START, kinds={"link stylesheet", "a"})}
    assert rule_of_page({START: page()}, walked) == UNEXPLAINED


def test_pages_that_only_forbidden_pages_lead_to_fall_under_robots_txt_even_in_a_circle() -> None:
    other, gate = "http://a.test/other", "http://a.test/gate"
    walked = {START: visit(), gate: visit(START), PAGE: visit(gate, other), other: visit(PAGE)}
    crawled = {START: page(), gate: page("robots_denied")}
    rules = {found.url: found.rule for found in compared(walked, crawled).differences}
    assert rules[PAGE] == rules[other] == "reached only through what is left out by robots.txt"


def test_a_page_that_one_fetched_page_leads_to_is_unexplained_whatever_else_is_forbidden() -> None:
    gate = "http://a.test/gate"
    walked = {START: visit(), gate: visit(START), PAGE: visit(gate, START)}
    assert rule_of_page({START: page(), gate: page("robots_denied")}, walked) == UNEXPLAINED


def test_another_spelling_of_one_page_is_a_rule_on_both_sides() -> None:
    spelled = "http://a.test/p%61ge"
    result = compared({START: visit(), spelled: visit(START)}, {START: page(), PAGE: page()})
    assert {found.only: found.rule.partition(":")[0] for found in result.differences} == {
        "walk": "canonical URL",
        "crawl": "canonical URL",
    }


def test_another_body_at_the_same_url_is_told() -> None:
    assert compared({START: visit()}, {START: page(digest="another")}).other_bodies == [START]


def rule_of_page(crawled: dict[str, CrawledPage], walked: dict[str, Visit] | None = None) -> str:
    result = compared(walked or {START: visit(), PAGE: visit(START)}, crawled)
    return next(found.rule for found in result.differences if found.url == PAGE)


def compared(walked: dict[str, Visit], crawled: dict[str, CrawledPage]) -> Comparison:
    return compare(walked, crawled, canonical=lambda url: url.replace("%61", "a"))


def visit(*sources: str, kinds: set[str] | None = None) -> Visit:
    return Visit(200, "text/html", "digest", set(sources), kinds or ({"a"} if sources else set()))


def page(outcome: str = "fetched", *, digest: str = "digest", links_cut: bool = False) -> CrawledPage:
    return CrawledPage(outcome, media_type="text/html", digest=digest, links_cut=links_cut)
