"""The wall clock jumps for hours, forward and back, between steps and in the middle of them; nothing comes of it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchcrawl.check import faults_of_crawldb
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.show import dump
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.stepping import HandClock, Stepping

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
JUMPS = [6 * HOUR_S, -6 * HOUR_S, 400 * DAY_S, -400 * DAY_S]
PATHS = ("", "a", "b", "c")
POLITE = 'delay_min = "30ms"\ndomain_gap = "0s"\naddress_gap = "0s"'


class JumpingClock(HandClock):
    """A wall clock that goes on by itself and jumps once, after it was read so many times; another one in each step."""

    def __init__(self, at: float, jump_s: float, *, after: int) -> None:
        super().__init__(at)
        self._began = time.monotonic()
        self._jump_s = jump_s
        self._left = after

    def now(self) -> float:
        self._left -= 1
        return self.at + time.monotonic() - self._began + (self._jump_s if self._left < 0 else 0.0)


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)


@pytest.fixture
def web() -> Iterator[ScriptedWeb]:
    links = b"".join(b'<a href="/%b">x</a>' % path.encode() for path in PATHS)
    urls = [f"http://{host}.test/{path}" for host in ("one", "two") for path in PATHS]
    with scripted_web({url: Scripted(body=b"<p>%b</p>" % url.encode() + links) for url in urls}) as served:
        yield served


def crawling(web: ScriptedWeb, root: Path) -> Stepping:
    return Stepping.make(root, web.port, ["http://one.test/", "http://two.test/"], threads=2, politeness=POLITE)


def assert_sound(crawl: Stepping, *, latest: float) -> None:
    """No fault is found, and whatever is due comes again within a year of the latest instant that a clock has told."""
    assert list(faults_of_crawldb(crawl.crawl)) == []
    for row in dump(crawl.crawl, duplicates=True):
        if "url" in row:
            assert 0 < row["next_fetch_at"] <= latest + 366 * DAY_S
            assert row.get("interval_s", 1) > 0
            assert row["rate_a"] >= 0
            assert row["rate_b"] >= 0


@pytest.mark.parametrize("jump_s", JUMPS)
@pytest.mark.parametrize("before", ["fetch", "finish", "round"])
def test_a_clock_that_jumps_between_two_steps(before: str, jump_s: float, web: ScriptedWeb, tmp_path: Path) -> None:
    crawl = crawling(web, tmp_path)
    for number in range(2):
        for step in ("generate", "fetch", "finish"):
            if number == 0 and step == before:
                crawl.clock.at += jump_s
            getattr(crawl, step)()
        if number == 0 and before == "round":
            crawl.clock.at += jump_s
        crawl.clock.at = max(crawl.clock.at, segment_at(crawl)) + 60.0
    assert_sound(crawl, latest=max(crawl.clock.at, segment_at(crawl)) + 400 * DAY_S)
    assert all(line.outcome is FetchOutcome.FETCHED for line in crawl.outcomes())


@pytest.mark.parametrize("jump_s", JUMPS)
@pytest.mark.parametrize("after", [2, 9])
def test_a_clock_that_jumps_in_the_middle_of_a_fetch(
    after: int, jump_s: float, web: ScriptedWeb, tmp_path: Path
) -> None:
    crawl = crawling(web, tmp_path)
    crawl.round()
    began = crawl.clock.at + 10.0
    crawl.clock = JumpingClock(began, 0.0, after=0)
    crawl.generate()
    crawl.clock = JumpingClock(began, jump_s, after=after)
    lines = crawl.fetch()
    crawl.finish()
    assert {line.outcome for line in lines} == {FetchOutcome.FETCHED}
    assert_sound(crawl, latest=began + abs(jump_s))
    gaps = [b - a for a, b in zip(times(web, "one"), times(web, "one")[1:], strict=False)]
    assert min(gaps) >= 0.025, "politeness goes by the monotonic clock"


def times(web: ScriptedWeb, host: str) -> list[float]:
    return [at for at, url in zip(web.asked_at, web.asked, strict=True) if url.startswith(f"http://{host}.test/")]


def segment_at(crawl: Stepping) -> float:
    return float(crawl.newest().lease)
