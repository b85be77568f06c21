from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.fakeweb.layout import TRAP_KINDS, Kind, Layout, Resource, canonical_path
from batchcrawl.fakeweb.lists import LISTS
from batchcrawl.fakeweb.spec import WebSpec

SPEC = WebSpec(hosts=7, pages=900, seed=3)


@given(st.integers(1, 300), st.integers(0, 5000))
def test_the_pages_of_all_hosts_add_up_to_what_was_asked_for(hosts: int, more: int) -> None:
    layout = Layout(WebSpec(hosts=hosts, pages=hosts + more))
    counts = [layout.page_count(host) for host in range(hosts)]
    assert None not in counts
    assert sum(count or 0 for count in counts) == hosts + more
    assert min(count or 0 for count in counts) >= 1


def test_every_url_leads_back_to_its_resource() -> None:
    layout = Layout(SPEC)
    for host in range(SPEC.hosts):
        for page in range(layout.page_count(host) or 0):
            resource = Resource(host, Kind.PAGE, page)
            assert layout.find(host, layout.path(resource)) == resource
            extra = layout.extra(host, page)
            if extra is not None:
                assert layout.find(host, layout.path(extra)) == extra


def test_every_kind_of_extra_url_occurs() -> None:
    layout = Layout(WebSpec(hosts=1, pages=5000))
    extras = [layout.extra(0, page) for page in range(5000)]
    assert {extra.kind for extra in extras if extra is not None} == set(Kind) - LISTS - {Kind.PAGE, *TRAP_KINDS}


def test_every_list_leads_back_to_its_resource() -> None:
    layout = Layout(SPEC)
    for host in range(SPEC.hosts):
        lists = [Resource(host, Kind.SITEMAP_INDEX, 0), Resource(host, Kind.FEED, 0)]
        lists += [Resource(host, Kind.SITEMAP, part) for part in range(layout.sitemaps(host))]
        assert [layout.find(host, layout.path(resource)) for resource in lists] == lists
    assert layout.find(0, f"/sitemap/{layout.sitemaps(0)}.xml.gz") is None
    assert Layout(WebSpec(hosts=1, pages=5, faults=frozenset())).find(0, "/sitemap.xml") is None


def test_without_faults_there_are_no_extra_urls() -> None:
    layout = Layout(WebSpec(hosts=1, pages=500, faults=frozenset()))
    assert not any(layout.extra(0, page) for page in range(500))


def test_a_host_is_found_by_its_name_only() -> None:
    layout = Layout(SPEC)
    assert layout.host_name(6) == "h0006.d001.test"
    assert layout.host_number("h0006.d001.test") == 6
    assert layout.host_number("h0006.d002.test") is None
    assert layout.host_number("h0007.d001.test") is None
    assert layout.host_number("example.org") is None


def test_a_path_with_the_number_of_a_page_but_another_form_is_nothing() -> None:
    layout = Layout(SPEC)
    assert layout.find(0, "/elsewhere/p5.html") is None
    assert layout.find(0, "/missing/100000.html") is None


def test_spellings_of_a_path_are_undone() -> None:
    assert canonical_path("/a/../%70%31.html?utm_source=x&id=5&gclid=y#z") == "/p1.html?id=5"
    assert canonical_path("/gr%c3%b6/.") == "/gr%C3%B6/"
    assert canonical_path("/?utm_source=letter") == "/"


@given(st.text(max_size=60))
def test_any_text_for_a_path_is_answered(text: str) -> None:
    layout = Layout(SPEC)
    found = layout.find(0, text)
    assert found is None or layout.path(found) == canonical_path(text)
