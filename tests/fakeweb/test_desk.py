from dataclasses import dataclass

from batchcrawl.fakeweb.desk import Desk, WebClock
from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.truth import resources
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.fakeweb.wire import Request

NOW = 1_790_000_000.0


@dataclass
class HandClock:
    at: float = 100.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


def _request(web: FakeWeb, resource: Resource) -> Request:
    host, path = web.layout.host_name(resource.host), web.layout.path(resource)
    return Request(method="GET", host=host, path_query=path, keep_alive=True, headers={})


def test_a_fixed_clock_stands_still() -> None:
    clock = HandClock()
    web_clock = WebClock(clock, at=NOW, speed=None)
    clock.at += 50
    assert web_clock.now() == NOW


def test_a_clock_without_settings_is_the_real_one() -> None:
    clock = HandClock()
    web_clock = WebClock(clock, at=None, speed=None)
    clock.at += 50
    assert web_clock.now() == 150.0


def test_a_fast_clock_starts_at_its_instant() -> None:
    clock = HandClock()
    web_clock = WebClock(clock, at=NOW, speed=86_400)
    clock.at += 2
    assert web_clock.now() == NOW + 172_800


def test_a_kept_answer_is_replaced_when_its_page_changes() -> None:
    web = FakeWeb(WebSpec(hosts=1, pages=200, faults=frozenset({"changes"})))
    page = next(page for number in range(200) if web.change_rate(page := Resource(0, Kind.PAGE, number)) > 1)
    clock = HandClock(NOW)
    desk = Desk(web, now=clock.now, log=None, latency_s=0.0, cache_bytes=10**6)
    before = desk.reply(_request(web, page), 1).data
    clock.at = web.resource_answer(page, NOW).valid_until + 86_400
    assert web.resource_answer(page, clock.at).body in desk.reply(_request(web, page), 1).data
    assert desk.reply(_request(web, page), 1).data != before


def test_an_answer_waits_for_the_latency_and_for_its_slow_host() -> None:
    web = FakeWeb(WebSpec(hosts=100, pages=100, slow_s=2.0))
    desk = Desk(web, now=lambda: NOW, log=None, latency_s=0.5, cache_bytes=0)
    delays = {desk.reply(_request(web, Resource(host, Kind.PAGE, 0)), 1).delay_s for host in range(100)}
    assert delays == {0.5, 2.5}


def test_a_full_cache_changes_no_answer() -> None:
    web = FakeWeb(WebSpec(hosts=2, pages=60))
    small = Desk(web, now=lambda: NOW, log=None, latency_s=0.0, cache_bytes=20_000)
    large = Desk(web, now=lambda: NOW, log=None, latency_s=0.0, cache_bytes=10**9)
    large.warm(resources(web))
    for _ in range(2):
        for resource in resources(web):
            request = _request(web, resource)
            assert small.reply(request, 1) == large.reply(request, 1)


def test_nothing_is_kept_when_the_cache_has_no_room() -> None:
    web = FakeWeb(WebSpec(hosts=1, pages=5))
    desk = Desk(web, now=lambda: NOW, log=None, latency_s=0.0, cache_bytes=0)
    request = _request(web, Resource(0, Kind.PAGE, 1))
    assert desk.reply(request, 1) == desk.reply(request, 1)
