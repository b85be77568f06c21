"""What the fetch step has learned of a host is not lost by a kill, though it is written down only at its end."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawling import BORN_AT, Crawling, clock_of
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.warm import Warm

PAGES = 4
HOSTS = ("fine.test", "busy.test", "broken.test", "mute.test", "busy.site.test", "closed.site.test", "fine.site.test")
AT = clock_of(1)


@pytest.fixture(scope="module")
def web() -> Iterator[ScriptedWeb]:
    answers = {f"http://{host}/{n}": Scripted() for host in HOSTS for n in range(PAGES)}
    answers[f"http://busy.test/{PAGES // 2}"] = Scripted(status=503, headers={"Retry-After": "3600"}, body=b"")
    answers[f"http://broken.test/{PAGES - 1}"] = Scripted(status=500, body=b"")
    answers["http://mute.test/robots.txt"] = Scripted(status=500, body=b"")
    answers["http://busy.site.test/1"] = Scripted(status=429, body=b"")
    answers["http://closed.site.test/robots.txt"] = Scripted(status=503, body=b"")
    with scripted_web(answers) as served:
        yield served


@pytest.fixture(scope="module")
def injected(web: ScriptedWeb, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Crawling:
    """A crawl of the web's pages, before its fetch."""
    seeds = [f"http://{host}/{n}" for host in HOSTS for n in range(PAGES)]
    crawling = Crawling.make(tmp_path_factory.mktemp("hosts") / "crawl", web.port, warm, seeds=seeds)
    crawling.must("inject", at=BORN_AT)
    crawling.must("generate", at=AT)
    return crawling


@pytest.fixture(scope="module")
def undisturbed_dump(injected: Crawling, web: ScriptedWeb) -> list[str]:
    crawling = injected.copy_to(injected.root.with_name("undisturbed"), web.port)
    crawling.must("round", at=AT)
    return crawling.dump()


@pytest.mark.parametrize("hit", range(1, 25, 3))
@pytest.mark.parametrize("point", ["log.appended", "warc.appended"])
def test_a_host_that_failed_is_left_alone_after_a_kill(
    point: str, hit: int, injected: Crawling, undisturbed_dump: list[str], web: ScriptedWeb, tmp_path: Path
) -> None:
    crawling = injected.copy_to(tmp_path / "crawl", web.port)
    web.asked.clear()
    for _ in range(2):
        killed = crawling.run("fetch", at=AT, failpoint=f"{point}:{hit}")
        assert killed.code in (0, -signal.SIGKILL), killed.said
    crawling.must("fetch", at=AT)
    crawling.must("round", at=AT)
    assert crawling.dump() == undisturbed_dump
    assert pages_asked_of("mute.test", web) == []


def test_a_host_whose_robots_txt_could_not_be_had_is_asked_for_it_again_before_any_page(
    injected: Crawling, web: ScriptedWeb, tmp_path: Path
) -> None:
    crawling = injected.copy_to(tmp_path / "crawl", web.port)
    crawling.must("round", at=AT)
    web.asked.clear()
    crawling.must("round", at=AT + 120)
    assert "http://mute.test/robots.txt" in web.asked
    assert pages_asked_of("mute.test", web) == []


def test_the_pause_of_a_domain_is_known_in_the_next_round(undisturbed_dump: list[str]) -> None:
    domains = [row for row in map(json.loads, undisturbed_dump) if "domain_part" in row]
    [domain] = [row for row in domains if row["domain"] == "site.test"]
    assert (domain["refusals"], domain["deferred_until"] > AT) == (2, True)


def pages_asked_of(host: str, web: ScriptedWeb) -> list[str]:
    return [url for url in web.asked if url.startswith(f"http://{host}/") and not url.endswith("/robots.txt")]
