"""The fetch step in the test's own process: what is asked for when, and what is written down of it."""

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from batchcrawl.engine.control import Control
from batchcrawl.errors import DiskFull
from batchcrawl.fetch import fetch
from batchcrawl.job.load import load_job
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.disk import Disk, SystemCalls
from tests.support.in_process import run_all_in_process
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
    run_all_in_process(monkeypatch)


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


def test_a_page_whose_validators_are_refused_is_asked_for_without_them_after_the_delay(
    web: ScriptedWeb, tmp_path: Path
) -> None:
    tagged = Scripted(headers={"ETag": '"x"'})
    web.answers = {PAGES[0]: tagged}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1], politeness=SHORT_DELAY, fetch='[recrawl]\ninterval = "1h"')
    crawl.round()
    crawl.clock.at += HOUR_S + 60

    def refuse_validators(url: str) -> None:
        crawl.clock.at += 1
        conditional = "if-none-match" in web.sent[-1]
        web.answers = {PAGES[0]: Scripted(status=412, body=b"") if conditional else tagged}

    web.on_request = refuse_validators
    crawl.generate()
    [line] = crawl.fetch()
    assert (line.outcome, line.status, line.tries) == (FetchOutcome.FETCHED, 200, 2)
    assert ["if-none-match" in sent for sent in web.sent] == [False, False, True, False]
    assert web.asked_at[-1] - web.asked_at[-2] >= DELAY_S
    assert not judge(crawl.warcs())


def test_a_412_to_a_request_without_validators_is_a_refusal(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {PAGES[0]: Scripted(status=412, body=b"")}
    crawl = Stepping.make(tmp_path, web.port, PAGES[:1])
    assert [(line.outcome, line.tries) for line in crawl.round()] == [(FetchOutcome.DENIED, 1)]


def test_the_step_counts_how_host_names_were_found(web: ScriptedWeb, tmp_path: Path) -> None:
    pages = [f"http://localhost:{web.port}/{n}" for n in range(3)]
    web.answers = {page: Scripted(headers={"Connection": "close"}) for page in pages}
    crawl = Stepping.make(tmp_path, web.port, pages)
    (tmp_path / "job.toml").write_text((tmp_path / "job.toml").read_text().replace('"*" =', '"elsewhere.test" ='))
    crawl = replace(crawl, crawl=replace(crawl.crawl, job=load_job("job.toml", cwd=tmp_path)))
    crawl.round()
    counts = crawl.fetched().counts
    assert counts["names_cached"] == counts["names_asked"] - 1 > 0
    assert "names_failed" not in counts


def test_a_crawl_delay_above_the_maximum_puts_the_host_off_and_says_so(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {**web.answers, ROBOTS: rules("Crawl-delay: 99")}
    crawl = Stepping.make(tmp_path, web.port, PAGES)
    lines = crawl.round()
    assert web.asked == [ROBOTS]
    assert {(line.outcome, line.detail) for line in lines} == {
        (FetchOutcome.DEFERRED, "Crawl-delay 99 s is above the job's politeness.delay_max")
    }


class FullForBodies(SystemCalls):
    """A disk that has room for anything but bodies that are too large for the memory."""

    def __init__(self) -> None:
        self._bodies: set[int] = set()

    def open(self, path: Path, flags: int) -> int:
        fd = super().open(path, flags)
        if path.name.endswith(".spool.tmp"):
            self._bodies.add(fd)
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if fd in self._bodies:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)

    def close(self, fd: int) -> None:
        self._bodies.discard(fd)
        super().close(fd)


def test_a_disk_without_room_for_a_large_body_ends_the_step_and_the_same_command_fetches_it(
    web: ScriptedWeb, tmp_path: Path
) -> None:
    large = b"<title>large</title>" * 20_000
    web.answers = {**web.answers, PAGES[1]: Scripted(body=large)}
    crawl = Stepping.make(tmp_path, web.port, PAGES)
    crawl.generate()
    with pytest.raises(DiskFull):
        fetch(crawl.crawl, crawl.newest(), disk=Disk(FullForBodies()), clock=crawl.clock, control=Control())
    assert PAGES[1] not in {line.url for line in crawl.outcomes()}
    lines = crawl.fetch()
    assert sorted(line.url for line in lines) == PAGES
    assert {line.body_bytes for line in lines if line.url == PAGES[1]} == {len(large)}
    assert web.asked.count(PAGES[1]) == 2
    assert not judge(crawl.warcs())
    assert not list(crawl.newest().paths.fetch_dir.glob("*.tmp"))


def stored(crawl: Stepping) -> list[str | None]:
    """Return the URLs of the answers in the WARC files, in their order."""
    records = (record for path in crawl.warcs() for record in read_records(path))
    return [record.field("WARC-Target-URI") for record in records if record.field("WARC-Type") == "response"]


def test_connections_stay_open_while_their_hosts_wait_for_their_turn(tmp_path: Path) -> None:
    pages = [f"http://h{host}.test/{page}" for host in range(20) for page in range(3)]
    with scripted_web({page: Scripted() for page in pages}) as web:
        crawl = Stepping.make(tmp_path, web.port, pages)
        crawl.generate()
        crawl.fetch()
    assert len(web.asked) == 20 * 4
    assert web.connections == 20
