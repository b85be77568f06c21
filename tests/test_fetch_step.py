"""The fetch step in the test's own process: what is asked for when, and what is written down of it."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from batchcrawl.model.outcome import FetchOutcome
from tests.support.in_process import run_in_process, run_isolated_in_process
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.stepping import Stepping
from tests.support.warc_judge import judge, read_records

HOST = "http://a.test"
ROBOTS = f"{HOST}/robots.txt"
PAGES = [f"{HOST}/{number}" for number in range(4)]
HOUR_S = 3600
DELAY_S = 0.1
SHORT_DELAY = f'delay_min = "{int(DELAY_S * 1000)}ms"'


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchcrawl.parse.run_isolated", run_isolated_in_process)
    for step in ("generate", "fetch", "update"):
        monkeypatch.setattr(f"batchcrawl.{step}.run_partitions", run_in_process)


@pytest.fixture
def web() -> Iterator[ScriptedWeb]:
    with scripted_web({page: Scripted() for page in PAGES}) as served:
        yield served


def rules(text: str, **headers: str) -> Scripted:
    """Return a robots.txt with rules for all."""
    return Scripted(
        body=f"User-agent: *\n{text}\n".encode(), headers={n.replace("_", "-"): v for n, v in headers.items()}
    )


def test_a_robots_txt_that_expires_within_the_step_is_asked_for_again_before_the_next_page(
    web: ScriptedWeb, tmp_path: Path
) -> None:
    web.answers = {**web.answers, ROBOTS: rules("", cache_control="max-age=3600")}
    crawl = Stepping.make(tmp_path, web.port, PAGES)

    def pass_time(url: str) -> None:
        if len(web.asked) == 3:
            crawl.clock.at += HOUR_S
            web.answers = {**web.answers, ROBOTS: rules("Disallow: /")}

    web.on_request = pass_time
    crawl.generate()
    lines = crawl.fetch()
    assert [url in PAGES for url in web.asked] == [False, True, True, False]
    assert [line.outcome.value for line in lines] == ["fetched", "fetched", "robots_denied", "robots_denied"]
    assert [line.detail for line in lines] == [None, None, "line 2: Disallow: /", "line 2: Disallow: /"]


def test_a_copy_that_expired_after_generate_is_asked_for_again(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {**web.answers, ROBOTS: rules("", cache_control="max-age=7200")}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1], fetch='[recrawl]\ninterval = "1h"')
    crawl.round()
    crawl.clock.at += HOUR_S + 60
    crawl.generate()
    crawl.clock.at += HOUR_S
    web.answers = {**web.answers, ROBOTS: rules("Disallow: /")}
    assert [line.outcome for line in crawl.fetch()] == [FetchOutcome.ROBOTS_DENIED]
    assert web.asked == [ROBOTS, PAGES[0], ROBOTS]


def test_a_copy_is_kept_for_the_next_round_until_it_expires(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {**web.answers, ROBOTS: rules("", cache_control="max-age=7200")}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1], fetch='[recrawl]\ninterval = "1h"')
    crawl.round()
    crawl.clock.at += HOUR_S + 60
    crawl.round()
    assert web.asked == [ROBOTS, PAGES[0], PAGES[0]]


def test_a_copy_that_may_not_be_kept_is_asked_for_in_every_round(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {**web.answers, ROBOTS: rules("", cache_control="no-store")}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1], fetch='[recrawl]\ninterval = "1h"')
    for _ in range(2):
        crawl.round()
        crawl.clock.at += HOUR_S + 60
    assert web.asked == [ROBOTS, PAGES[0]] * 2


def test_each_redirect_of_a_robots_txt_keeps_the_delay_and_is_stored(web: ScriptedWeb, tmp_path: Path) -> None:
    moved = f"{HOST}/moved.txt"
    web.answers = {
        **web.answers,
        ROBOTS: Scripted(status=301, headers={"Location": moved}, body=b""),
        moved: rules("Disallow: /1"),
    }
    crawl = Stepping.make(tmp_path, web.port, PAGES[:2], politeness=SHORT_DELAY)
    crawl.generate()
    assert sorted(line.outcome.value for line in crawl.fetch()) == ["fetched", "robots_denied"]
    assert web.asked == [ROBOTS, moved, PAGES[0]] == stored(crawl)
    assert all(later - earlier >= DELAY_S for earlier, later in pairwise(web.asked_at))
    assert {line.robots.url for line in crawl.host_log() if line.robots} == {moved}


def test_a_redirect_that_wants_a_cookie_is_asked_past_once_after_the_delay_and_both_answers_are_stored(
    web: ScriptedWeb, tmp_path: Path
) -> None:
    loop = Scripted(status=302, headers={"Location": "/0", "Set-Cookie": "seen=1"}, body=b"")
    web.answers = {PAGES[0]: loop}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1], politeness=SHORT_DELAY)

    def let_in(url: str) -> None:
        crawl.clock.at += 1
        if web.cookies[-1] == "seen=1":
            web.answers = {PAGES[0]: Scripted()}

    web.on_request = let_in
    crawl.generate()
    [line] = crawl.fetch()
    assert (line.outcome, line.status, line.tries) == (FetchOutcome.FETCHED, 200, 2)
    assert web.cookies == [None, None, "seen=1"]
    assert stored(crawl) == web.asked == [ROBOTS, PAGES[0], PAGES[0]]
    assert all(later - earlier >= DELAY_S for earlier, later in pairwise(web.asked_at))
    assert not judge(crawl.warcs())


def test_a_redirect_that_always_wants_a_cookie_is_asked_past_once(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {PAGES[0]: Scripted(status=302, headers={"Location": "/0", "Set-Cookie": "seen=1"}, body=b"")}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1])
    crawl.generate()
    [line] = crawl.fetch()
    assert (line.outcome, line.redirect, line.tries) == (FetchOutcome.REDIRECT, PAGES[0], 2)
    assert web.cookies == [None, None, "seen=1"]


def stored(crawl: Stepping) -> list[str | None]:
    """Return the URLs of the answers in the WARC files, in their order."""
    records = (record for path in crawl.warcs() for record in read_records(path))
    return [record.field("WARC-Target-URI") for record in records if record.field("WARC-Type") == "response"]
