from collections import Counter

from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.lists import LISTS
from batchcrawl.fakeweb.robots import BARRED_TOKEN
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.truth import TruthLine, truth
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.web.robots.rules import RobotsRules, decode_robots

NOW = 1_790_000_000.0
WEB = FakeWeb(WebSpec(hosts=20, pages=500, seed=5))
LINES = list(truth(WEB, at=NOW))


def _resource(line: TruthLine) -> Resource:
    host = WEB.layout.host_number(line.host)
    assert host is not None
    found = WEB.layout.find(host, line.url.removeprefix(f"http://{line.host}"))
    assert found is not None
    return found


def test_every_url_has_one_line() -> None:
    assert max(Counter(line.url for line in LINES).values()) == 1


def test_the_truth_is_closed_under_links_and_redirects() -> None:
    urls = {line.url for line in LINES}
    for line in LINES:
        if line.expect is FetchOutcome.FETCHED:
            assert {WEB.layout.url(link.target) for link in WEB.links(_resource(line))} <= urls
        if line.redirect is not None:
            assert line.redirect in urls


def test_depth_is_the_shortest_way_from_a_seed() -> None:
    depths = {line.url: line.depth for line in LINES}
    for line in LINES:
        if line.expect is FetchOutcome.FETCHED:
            assert all(depths[WEB.layout.url(link.target)] <= line.depth + 1 for link in WEB.links(_resource(line)))
    nearest = {line.url for line in LINES if line.depth == 0}
    assert {url for url in nearest if "/sitemap" not in url} == set(WEB.seeds())


def test_every_expected_outcome_occurs() -> None:
    assert {line.expect for line in LINES} == {
        FetchOutcome.FETCHED,
        FetchOutcome.REDIRECT,
        FetchOutcome.REDIRECT_INVALID,
        FetchOutcome.NOT_FOUND,
        FetchOutcome.GONE,
        FetchOutcome.DENIED,
        FetchOutcome.SERVER_ERROR,
        FetchOutcome.ROBOTS_DENIED,
        FetchOutcome.SKIPPED_TYPE,
    }


def test_the_web_answers_each_line_with_its_status() -> None:
    for line in LINES:
        if line.status is not None:
            assert WEB.answer(line.host, line.url.removeprefix(f"http://{line.host}"), NOW).status == line.status


def test_robots_txt_as_sent_denies_exactly_what_the_truth_says() -> None:
    rules = {}
    for host in {line.host for line in LINES}:
        answer = WEB.answer(host, "/robots.txt", NOW)
        if answer.status == 301:
            answer = WEB.answer(host, answer.header("location") or "", NOW)
        rules[host] = RobotsRules(decode_robots(answer.body) if answer.status == 200 else None)
    for line in LINES:
        assert rules[line.host].allowed("batchcrawl", line.url) == (line.expect is not FetchOutcome.ROBOTS_DENIED)


def test_a_barred_crawler_is_denied_more() -> None:
    barred = list(truth(WEB, at=NOW, product_token=BARRED_TOKEN))
    assert Counter(line.expect for line in barred)[FetchOutcome.FETCHED] < len(LINES) / 2


def test_who_obeys_nofollow_does_not_reach_the_pages_behind_it() -> None:
    assert any(_resource(line).kind is Kind.UNFOLLOWED for line in LINES)
    assert not any(_resource(line).kind is Kind.UNFOLLOWED for line in truth(WEB, at=NOW, obey_nofollow=True))


def test_copies_name_a_page_that_is_fetched_too() -> None:
    fetched = {line.url for line in LINES if line.expect is FetchOutcome.FETCHED}
    copies = [line for line in LINES if line.duplicate_of is not None]
    assert copies
    assert all(line.duplicate_of in fetched for line in copies)


def test_kept_types_are_expected_to_be_fetched() -> None:
    lines = truth(WEB, at=NOW, types_kept=frozenset({"text/html", "application/pdf", "image/png", "application/zip"}))
    assert FetchOutcome.SKIPPED_TYPE not in {line.expect for line in lines}


def test_pages_that_a_sitemap_alone_leads_to_are_as_deep_as_what_it_is_named_for() -> None:
    hidden = [line for line in LINES if _resource(line).kind is Kind.HIDDEN]
    assert hidden
    assert {line.depth for line in hidden} == {1}
    linked = {link.target for line in LINES if _resource(line).kind not in LISTS for link in WEB.links(_resource(line))}
    assert not linked & {_resource(line) for line in hidden}


def test_a_truth_from_one_seed_starts_there() -> None:
    first = next(truth(WEB, at=NOW, seeds=[Resource(0, Kind.PAGE, 3)]))
    assert first.url == WEB.layout.url(Resource(0, Kind.PAGE, 3))
