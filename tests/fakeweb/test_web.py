import gzip
from urllib.parse import urlsplit

import ada_url
import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.lists import LISTS
from batchcrawl.fakeweb.spec import FAULTS, WebSpec
from batchcrawl.fakeweb.truth import resources
from batchcrawl.fakeweb.web import FakeWeb, not_modified

NOW = 1_790_000_000.0
SPEC = WebSpec(hosts=6, pages=200, seed=5)


def _text(web: FakeWeb, resource: Resource, now: float = NOW) -> str:
    answer = web.resource_answer(resource, now)
    body = gzip.decompress(answer.body) if answer.header("content-encoding") == "gzip" else answer.body
    return body.decode(web.charset(resource)).removeprefix("\ufeff")


def _visible(text: str) -> str:
    texts = _found(text, "//text()")
    return " ".join(" ".join(texts).split())


def _found(text: str, path: str) -> list[str]:
    found = lxml.html.document_fromstring(text).xpath(path)
    assert isinstance(found, list)
    return [str(value) for value in found]


def _links_as_a_browser_reads_them(web: FakeWeb, resource: Resource) -> list[Resource]:
    text = _text(web, resource)
    own_url = web.layout.url(resource)
    bases = _found(text, "//base/@href")
    base = ada_url.join_url(own_url, bases[0]) if bases else own_url
    found = []
    for href in _found(text, "//a/@href"):
        try:
            parts = urlsplit(ada_url.join_url(base, href))
        except ValueError:
            continue
        host = web.layout.host_number(parts.hostname or "")
        if parts.scheme != "http" or host is None:
            continue
        target = web.layout.find(host, parts.path + (f"?{parts.query}" if parts.query else ""))
        assert target is not None, f"{href} of {own_url} leads nowhere"
        found.append(target)
    return found


def test_equal_specs_give_equal_bytes() -> None:
    one, other = FakeWeb(SPEC), FakeWeb(WebSpec(hosts=6, pages=200, seed=5))
    for resource in resources(one):
        assert one.resource_answer(resource, NOW) == other.resource_answer(resource, NOW)


def test_another_seed_gives_other_pages() -> None:
    front = Resource(0, Kind.PAGE, 0)
    other = FakeWeb(WebSpec(hosts=6, pages=400, seed=6))
    assert FakeWeb(SPEC).resource_answer(front, NOW).body != other.resource_answer(front, NOW).body


def test_a_browser_reads_from_each_page_exactly_the_links_that_it_was_made_with() -> None:
    web = FakeWeb(SPEC)
    for resource in resources(web):
        if resource.kind in (Kind.PAGE, Kind.PRINT, Kind.OPEN, Kind.UNFOLLOWED):
            assert _links_as_a_browser_reads_them(web, resource) == [link.target for link in web.links(resource)]


def test_every_page_of_every_open_host_is_reachable() -> None:
    web = FakeWeb(SPEC)
    reached = {resource for resource in resources(web) if resource.kind is Kind.PAGE}
    for host in range(SPEC.hosts):
        if not web.robots(host).closed:
            pages = {Resource(host, Kind.PAGE, page) for page in range(web.layout.page_count(host) or 0)}
            assert pages <= reached


def test_nine_of_ten_links_stay_on_their_host() -> None:
    web = FakeWeb(WebSpec(hosts=100, pages=5000))
    links = [(page, link) for page in range(100) for link in web.links(Resource(0, Kind.PAGE, page))]
    off_host = sum(1 for _, link in links if link.target.host != 0)
    assert 0.06 < off_host / len(links) < 0.14


def test_an_endless_host_has_any_page() -> None:
    web = FakeWeb(WebSpec(hosts=3, pages=None))
    resource = Resource(2, Kind.PAGE, 10**15)
    answer = web.answer("h0002.d000.test", web.layout.path(resource), NOW)
    assert answer.status == 200
    assert any(link.target.page > 10**15 for link in web.links(resource))


def test_a_host_of_another_web_shows_a_start_page_and_nothing_else() -> None:
    web = FakeWeb(SPEC)
    start = web.answer("127.0.0.1:8080", "/", NOW)
    assert start.status == 200
    assert next(web.seeds()).encode() in start.body
    assert web.answer("127.0.0.1:8080", "/other", NOW).status == 404


def test_a_copy_has_the_text_of_its_page_and_other_bytes() -> None:
    web = FakeWeb(SPEC)
    copies = [resource for resource in resources(web) if resource.kind is Kind.PRINT]
    assert copies
    for copy in copies:
        page = copy._replace(kind=Kind.PAGE)
        assert _visible(_text(web, copy)) == _visible(_text(web, page))
        assert _text(web, copy) != _text(web, page)


def test_no_two_other_pages_have_the_same_text() -> None:
    web = FakeWeb(SPEC)
    pages = [page for page in resources(web) if page.kind not in {Kind.PRINT, Kind.FILE, *LISTS}]
    texts = [_visible(_text(web, page)) for page in pages if web.resource_answer(page, NOW).status == 200]
    assert len(set(texts)) == len(texts)


def test_a_changed_page_has_another_text_and_other_validators() -> None:
    web = FakeWeb(SPEC)
    changing = [
        Resource(0, Kind.PAGE, page) for page in range(100) if web.change_rate(Resource(0, Kind.PAGE, page)) > 1
    ]
    assert changing
    for resource in changing:
        before, after = web.resource_answer(resource, NOW), web.resource_answer(resource, NOW + 86_400 * 3)
        assert before.body != after.body
        assert before.header("etag") is None or before.header("etag") != after.header("etag")


def test_without_faults_a_web_is_plain() -> None:
    web = FakeWeb(WebSpec(hosts=2, pages=50, faults=frozenset()))
    for resource in resources(web):
        answer = web.resource_answer(resource, NOW)
        assert (answer.status, answer.chunked, answer.header("content-encoding")) == (200, False, None)
        assert web.resource_answer(resource, NOW + 1e9).body == answer.body
    assert web.answer("h0000.d000.test", "/robots.txt", NOW).status == 404


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_each_fault_changes_the_web(fault: str) -> None:
    plain = FakeWeb(WebSpec(hosts=40, pages=400, links=4, faults=frozenset()))
    faulty = FakeWeb(WebSpec(hosts=40, pages=400, links=4, faults=frozenset({fault})))
    assert _everything(plain) != _everything(faulty)


def _everything(web: FakeWeb) -> list[object]:
    files = [web.answer(web.layout.host_name(host), "/robots.txt", NOW) for host in range(web.spec.hosts)]
    return [*files, *(web.resource_answer(resource, NOW) for resource in resources(web))]


def test_slow_hosts_wait_and_the_first_host_does_not() -> None:
    web = FakeWeb(WebSpec(hosts=200, pages=200, slow_s=2.0))
    delays = [web.answer(web.layout.host_name(host), "/", NOW).delay_s for host in range(200)]
    assert delays[0] == 0.0
    assert set(delays) == {0.0, 2.0}


def test_validators_handed_back_are_answered_by_not_modified() -> None:
    web = FakeWeb(SPEC)
    answer = next(
        found
        for found in (web.resource_answer(Resource(0, Kind.PAGE, page), NOW) for page in range(50))
        if found.header("etag") and found.header("last-modified")
    )
    etag, modified = answer.header("etag"), answer.header("last-modified")
    assert not_modified(answer, if_none_match=etag, if_modified_since=None)
    assert not_modified(answer, if_none_match=None, if_modified_since=modified)
    assert not not_modified(answer, if_none_match='"other"', if_modified_since=modified)
    assert not not_modified(answer, if_none_match=None, if_modified_since=None)


@given(st.text(max_size=40), st.text(max_size=80))
def test_any_host_and_path_is_answered(host: str, path: str) -> None:
    assert FakeWeb(SPEC).answer(host, path, NOW).status in (200, 301, 404)
