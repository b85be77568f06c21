"""Every URL of a fetch list ends with exactly one line of the fetch log, however its host behaves and the step ends."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.engine.control import Control
from batchcrawl.errors import Interrupted
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.show import fetch_list
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.stepping import Stepping

PAGES = 3
LOOP = Scripted(status=302, headers={"Location": "0", "Set-Cookie": "seen=1"}, body=b"")
HOSTS: dict[str, dict[str, Scripted]] = {
    "fine.test": {},
    "busy.test": {"1": Scripted(status=503)},
    "broken.test": {str(number): Scripted(status=500) for number in range(PAGES)},
    "mute.test": {"robots.txt": Scripted(status=500)},
    "moved.test": {"robots.txt": Scripted(status=301, headers={"Location": "/rules.txt"})},
    "closed.test": {"robots.txt": Scripted(body=b"User-agent: *\nDisallow: /1")},
    "slow.test": {"robots.txt": Scripted(body=b"User-agent: *\nCrawl-delay: 999")},
    "looping.test": {"0": LOOP},
    "dumb.test": {"0": Scripted(drop=True), "1": Scripted(drop=True)},
}
SEEDS = [f"http://{host}/{number}" for host in HOSTS for number in range(PAGES)]


@pytest.fixture(autouse=True, scope="module")
def _in_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        run_all_in_process(patch)
        yield


@pytest.fixture(scope="module")
def web() -> Iterator[ScriptedWeb]:
    answers = {page: Scripted() for page in SEEDS}
    answers |= {f"http://{host}/{path}": answer for host, special in HOSTS.items() for path, answer in special.items()}
    with scripted_web(answers) as served:
        yield served


def assert_one_line_each(crawl: Stepping, lines: list[FetchLogLine]) -> None:
    assert sorted(line.fp for line in lines) == sorted(entry.fp for entry in fetch_list(crawl.newest()))
    for line in lines:
        times = [line.queued_at, line.started_at, line.first_byte_at, line.ended_at]
        known = [at for at in times if at is not None]
        assert known == sorted(known)
        assert line.ended_at is not None
        assert line.queued_at is not None or line.started_at is None
        assert (line.tries > 0) or line.started_at is None


@settings(max_examples=15, deadline=None)
@given(stops=st.lists(st.integers(1, 12), max_size=4), threads=st.sampled_from([1, 3]))
def test_each_url_has_one_line_after_any_interrupts(web: ScriptedWeb, stops: list[int], threads: int) -> None:
    with TemporaryDirectory() as folder:
        crawl = Stepping.make(Path(folder), web.port, SEEDS, threads=threads)
        crawl.generate()
        for requests in stops:
            _stop_after(crawl, web, requests)
            try:
                crawl.fetch()
            except Interrupted:
                continue
            break
        web.on_request = lambda url: None
        crawl.control = Control()
        lines = crawl.fetch() if "fetched" not in crawl.newest().manifest.steps else crawl.outcomes()
        assert_one_line_each(crawl, lines)
        outcomes = {line.url: line.outcome for line in lines}
    by_host = {host: {outcomes[f"http://{host}/{number}"] for number in range(PAGES)} for host in HOSTS}
    assert by_host["fine.test"] == by_host["moved.test"] == {FetchOutcome.FETCHED}
    assert by_host["looping.test"] == {FetchOutcome.FETCHED, FetchOutcome.REDIRECT}
    assert by_host["mute.test"] == by_host["slow.test"] == {FetchOutcome.DEFERRED}
    assert by_host["closed.test"] == {FetchOutcome.FETCHED, FetchOutcome.ROBOTS_DENIED}
    assert by_host["busy.test"] <= {FetchOutcome.FETCHED, FetchOutcome.DEFERRED}
    assert by_host["dumb.test"] == {FetchOutcome.FETCHED, FetchOutcome.CONNECT_FAILED}


def test_each_url_has_one_line_when_the_time_is_over(web: ScriptedWeb, tmp_path: Path) -> None:
    crawl = Stepping.make(tmp_path, web.port, SEEDS, fetch='time_limit = "10m"')
    crawl.generate()
    web.asked.clear()

    def let_time_pass(url: str) -> None:
        if len(web.asked) == 8:
            crawl.clock.leap(30.0)
        if len(web.asked) == 9:
            crawl.clock.leap(600.0)

    web.on_request = let_time_pass
    lines = crawl.fetch()
    assert_one_line_each(crawl, lines)
    left = [line for line in lines if line.outcome is FetchOutcome.TIME_LIMIT]
    assert left
    hosts = {line.host for line in left}
    assert {line.host for line in left if line.queued_at is not None} == hosts
    assert len([line for line in left if line.queued_at is not None]) == len(hosts)
    assert crawl.fetched().reason == "time limit"


def _stop_after(crawl: Stepping, web: ScriptedWeb, requests: int) -> None:
    control = crawl.control = Control()
    web.asked.clear()

    def stop(url: str) -> None:
        if len(web.asked) >= requests and not control.stopping:
            control.stop()

    web.on_request = stop
