from batchcrawl.fakeweb.changes import DAY_S
from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.links import Links
from batchcrawl.fakeweb.lists import LISTS, ListWriter
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.truth import resources
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.web.listings.parse import ListingLimits, parse_listing
from batchcrawl.web.page import Page

NOW = 1_790_000_000.0
SPEC = WebSpec(hosts=12, pages=900, seed=5)
WEB = FakeWeb(SPEC)
WRITER = ListWriter(SPEC, WEB.layout, Links(SPEC, WEB.layout))


def read(resource: Resource, now: float = NOW) -> Page:
    answer = WEB.resource_answer(resource, now)
    page = parse_listing(
        answer.body,
        url=WEB.layout.url(resource),
        content_type=answer.header("content-type"),
        named=False,
        limits=ListingLimits(),
    )
    assert page is not None
    return page


def test_a_list_is_read_as_what_it_was_made_with() -> None:
    lists = [resource for resource in resources(WEB) if resource.kind in LISTS]
    assert {resource.kind for resource in lists} == LISTS
    for resource in lists:
        assert [link.url for link in read(resource).links] == [
            WEB.layout.url(link.target) for link in WEB.links(resource)
        ]


def test_the_dates_of_an_honest_host_are_those_of_the_last_changes() -> None:
    page = read(Resource(0, Kind.SITEMAP, 0), NOW)
    later = read(Resource(0, Kind.SITEMAP, 0), NOW + 3 * DAY_S)
    moved = [one.url for one, other in zip(page.links, later.links, strict=True) if one.lastmod != other.lastmod]
    assert 0 < len(moved) < len(page.links)
    for url in moved:
        path = url.removeprefix("http://h0000.d000.test")
        before, after = (WEB.answer("h0000.d000.test", path, now).body for now in (NOW, NOW + 3 * DAY_S))
        assert before != after


def test_a_dishonest_host_dates_all_its_pages_anew_each_day() -> None:
    host = next(host for host in range(SPEC.hosts) if not WRITER.tells_the_truth(host))
    dates = {link.lastmod and link.lastmod.at for link in read(Resource(host, Kind.SITEMAP, 0)).links}
    assert dates == {int(NOW // DAY_S * DAY_S)}
