from urllib.parse import urljoin

import pytest

from batchcrawl.fakeweb.layout import TRAP_KINDS, Kind, Resource
from batchcrawl.fakeweb.spec import TRAPS, WebSpec
from batchcrawl.fakeweb.traps import trap_spot
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.web.html.parse import parse_page

WEB = FakeWeb(WebSpec(hosts=2, pages=40, seed=5, page_bytes=1500, links=6, faults=frozenset(TRAPS)))
FRONT = Resource(0, Kind.PAGE, 0)


def walk(kind: Kind, count: int) -> list[Resource]:
    """Return the first places of a trap that a crawl from the front page of host 0 comes to."""
    found = list(dict.fromkeys(link.target for link in WEB.links(FRONT) if link.target.kind is kind))
    for place in found:
        targets = (link.target for link in WEB.links(place))
        found += [target for target in targets if target.kind is kind and target not in found]
        if len(found) >= count:
            return found[:count]
    raise AssertionError(f"{kind} ends after {len(found)} places")


def test_every_trap_has_its_kind() -> None:
    assert [kind.value for kind in TRAP_KINDS] == list(TRAPS)


@pytest.mark.parametrize("kind", TRAP_KINDS)
def test_the_front_page_leads_into_a_trap_and_every_place_of_it_is_found_by_its_path(kind: Kind) -> None:
    for place in walk(kind, 50):
        assert WEB.layout.find(0, WEB.layout.path(place)) == place


@pytest.mark.parametrize("kind", TRAP_KINDS)
def test_a_place_of_a_trap_is_a_page_with_the_links_of_the_trap(kind: Kind) -> None:
    place = walk(kind, 3)[2]
    answer = WEB.answer("h0000.d000.test", WEB.layout.path(place), 0.0)
    page = parse_page(answer.body, url=WEB.layout.url(place), content_type=None, links_max=100)
    assert answer.status == 200
    assert [link.url for link in page.links] == [WEB.layout.url(link.target) for link in WEB.links(place)]


def text_of(place: Resource) -> str:
    body = WEB.answer("h0000.d000.test", WEB.layout.path(place), 0.0).body
    return parse_page(body, url=WEB.layout.url(place), content_type=None, links_max=100).text


@pytest.mark.parametrize("kind", [kind for kind in TRAP_KINDS if kind is not Kind.SESSION])
def test_every_place_of_a_trap_has_a_text_of_its_own(kind: Kind) -> None:
    places = walk(kind, 20)
    assert len({text_of(place) for place in places}) == len(places)


def test_session_paths_show_the_pages_of_the_host_once_more() -> None:
    places = walk(Kind.SESSION, 20)
    assert {text_of(place) for place in places} == {text_of(Resource(0, Kind.PAGE, place.page)) for place in places}
    assert len({place.step for place in places}) > 10


def test_the_links_of_a_session_stay_on_its_host_and_begin_sessions_of_their_own() -> None:
    place = walk(Kind.SESSION, 5)[4]
    targets = [link.target for link in WEB.links(place) if link.target.kind is Kind.SESSION]
    assert len({target.step for target in targets}) == len(targets)
    assert all(urljoin(WEB.layout.url(place), "/") in WEB.layout.url(target) for target in targets)


@pytest.mark.parametrize(
    ("trap", "path"),
    [
        ("calendar", "/calendar/2026/13/"),
        ("calendar", "/calendar/2026/11/29/"),
        ("session_paths", "/s-xyz/read/1.html"),
        ("repeating_paths", "/shop/again"),
        ("growing_parameters", "/login"),
        ("growing_parameters", "/login?return=/login"),
        ("facets", "/list?size=1&brand=2"),
        ("facets", "/list?brand=0"),
        ("facets", "/list?weight=1"),
    ],
)
def test_what_no_link_of_a_trap_leads_to_is_not_there(trap: str, path: str) -> None:
    assert trap_spot(trap, path) is None


def test_without_its_fault_a_trap_is_not_there() -> None:
    plain = FakeWeb(WebSpec(hosts=2, pages=40, seed=5))
    assert plain.answer("h0000.d000.test", "/calendar/2026/01/", 0.0).status == 404
