"""The dashboard: what it tells is what the logs hold, and nobody else learns of it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from batchcrawl.cli import main
from batchcrawl.cli.dashboard import TOKEN_VARIABLE
from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.dashboard.access import Access
from batchcrawl.dashboard.server import Content, served
from batchcrawl.errors import CorruptData
from batchcrawl.job.crawl import open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.watch import BUCKET_S, Live, Watcher
from tests.support.browser import BrowserFailed, open_page
from tests.support.commands import JOB, write_job
from tests.support.in_process import run_all_in_process
from tests.support.webserver import ROOT

NOW = 1_796_040_000
TOKEN = "a-token-of-this-test"
HOSTILE = "http://a.test/<script>alert(1)</script>\u202e\x1b\"'&"


@pytest.fixture
def crawl_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crawl of five URLs on two hosts, whose segment is about to be fetched."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CLOCK_VARIABLE, str(NOW))
    run_all_in_process(monkeypatch)
    write_job(tmp_path, port=9, seeds=[f"http://a.test/{n}" for n in range(4)] + ["http://b.test/"])
    for command in ("inject", "generate"):
        assert CliRunner().invoke(main, [command, JOB]).exit_code == 0
    return tmp_path / "data" / JOB


def watcher(crawl_dir: Path) -> Watcher:
    return Watcher(open_crawl(load_job(JOB, cwd=crawl_dir.parents[1])))


def line(n: int, outcome: FetchOutcome = FetchOutcome.FETCHED, **facts: Any) -> FetchLogLine:
    told = {"url": f"http://a.test/{n}", "host": "http://a.test", "ended_at": NOW + n, **facts}
    return FetchLogLine(fp=f"{n:032x}", outcome=outcome, **told)


def text_of(*lines: FetchLogLine) -> str:
    return "".join(msgspec.json.encode(told).decode() + "\n" for told in lines)


def log(crawl_dir: Path, text: str, mode: str = "a") -> None:
    """Write a piece of a fetch log, as a running fetch does."""
    (path,) = (crawl_dir / "segments").glob("*/fetch")
    with (path / "0.jsonl").open(mode) as file:
        file.write(text)


@contextmanager
def serving(state: Live, *, token: str | None = None) -> Iterator[int]:
    contents = {"/state": Content("application/json", lambda: msgspec.json.encode(state))}
    with served(("127.0.0.1", 0), contents, Access(token=token)) as port:
        yield port


def ask(port: int, path: str, method: str = "GET", **fields: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=fields)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def test_what_a_running_fetch_has_logged_is_told_and_then_what_came_since(crawl_dir: Path) -> None:
    begin, rest = text_of(line(25))[:40], text_of(line(25))[40:]
    log(crawl_dir, text_of(line(0, body_bytes=70), line(1, FetchOutcome.TIMEOUT, detail="read")) + begin)
    watching = watcher(crawl_dir)
    first = watching.look(now=NOW + 2).segment
    assert first is not None
    assert (first.step, first.done, first.total, first.hosts_left, first.body_bytes) == ("fetch", 2, 5, 2, 70)
    assert (first.outcomes, first.errors) == ({"fetched": 1, "timeout": 1}, {"timeout": 1})
    assert [(host.host, host.left) for host in first.hosts_waiting] == [("http://a.test", 2), ("http://b.test", 1)]
    log(crawl_dir, rest + text_of(line(26)))
    again = watching.look(now=NOW + 30).segment
    assert again is not None
    assert (again.done, again.outcomes) == (4, {"fetched": 3, "timeout": 1})
    assert [(point.at - NOW, point.outcomes) for point in again.rate] == [(0, 2), (10, 0), (20, 2), (30, 0)]
    assert [told.url for told in again.last][:2] == ["http://a.test/26", "http://a.test/25"]
    assert [host.host for host in again.hosts_waiting] == ["http://b.test"]
    assert BUCKET_S == 10


def test_a_log_that_was_cut_is_read_anew(crawl_dir: Path) -> None:
    watching = watcher(crawl_dir)
    for lines in ([line(0), line(1)], [line(0)]):
        log(crawl_dir, text_of(*lines), mode="w")
        segment = watching.look(now=NOW).segment
        assert segment is not None
        assert segment.done == len(lines)


def test_a_log_that_cannot_be_read_is_looked_at_again_from_its_beginning(crawl_dir: Path) -> None:
    watching = watcher(crawl_dir)
    log(crawl_dir, text_of(line(0)) + "{damaged}\n")
    with pytest.raises(CorruptData, match="damaged behind byte 0"):
        watching.look(now=NOW)
    log(crawl_dir, text_of(line(0)), mode="w")
    segment = watching.look(now=NOW).segment
    assert segment is not None
    assert segment.done == 1


def test_metrics_are_those_of_the_steps_and_of_now(crawl_dir: Path) -> None:
    log(crawl_dir, text_of(line(0)))
    watching = watcher(crawl_dir)
    watching.take_stock(now=NOW)
    lines = watching.metrics(now=NOW + 3).splitlines()
    assert 'batchcrawl_segment_urls{job="x"} 5' in lines
    assert 'batchcrawl_segment_outcomes{job="x",outcome="fetched"} 1' in lines
    assert 'batchcrawl_urls{job="x",status="unfetched"} 5' in lines
    assert 'batchcrawl_crawl_age_seconds{job="x"} 3' in lines
    kinds = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds))


def test_a_browser_shows_the_numbers_and_what_comes_from_the_web_as_text(crawl_dir: Path) -> None:
    log(crawl_dir, text_of(line(0), line(21, FetchOutcome.TIMEOUT, url=HOSTILE, detail=HOSTILE)))
    watching = watcher(crawl_dir)
    watching.take_stock(now=NOW)
    script = """
        new Promise(resolve => { const look = () => document.body.dataset.shown ? resolve([
            document.getElementById("name").textContent, document.getElementById("how-far").textContent,
            document.getElementById("progress").value,
            document.querySelector("polyline").getAttribute("points").split(" ").length,
            document.querySelector("#last td:nth-child(4)").textContent, document.scripts.length,
            document.querySelector("#tiles b").textContent, document.scrollingElement.scrollWidth <= innerWidth,
        ]) : setTimeout(look, 20); look(); })
    """
    with serving(watching.look(now=NOW + 30)) as port:
        try:
            value, errors = open_page(f"http://127.0.0.1:{port}/", script)
        except BrowserFailed as error:
            if "not installed" in str(error):
                pytest.skip("chromium is not installed")
            raise
    shown = HOSTILE.replace("\u202e", "\ufffd").replace("\x1b", "\ufffd")
    assert errors == []
    assert value == ["Crawl x", "nobody works on the crawl · 2 of 5", 2, 3, shown, 1, "5", True]


def test_a_page_of_another_name_that_leads_here_is_refused() -> None:
    with serving(Live(job="x", at=0.0)) as port:
        assert ask(port, "/state", Host="evil.test")[0] == 421
        status, _, text = ask(port, "/state", Host=f"localhost:{port}")
    assert (status, json.loads(text)["job"]) == (200, "x")


def test_a_token_is_wanted_for_everything() -> None:
    with serving(Live(job="x", at=0.0), token=TOKEN) as port:
        for path in ("/", "/state", "/dashboard.js", "/nothing"):
            status, fields, text = ask(port, path)
            assert (status, TOKEN in text) == (401, False)
            assert fields["www-authenticate"].startswith("Basic realm=")
        assert ask(port, "/state", Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(port, "/state", Authorization=f"Bearer {TOKEN}x")[0] == 401


def test_it_only_answers_and_lets_nothing_in() -> None:
    with serving(Live(job="x", at=0.0)) as port:
        status, fields, text = ask(port, "/")
        assert (status, "unsafe" in fields["content-security-policy"]) == (200, False)
        assert not re.search(r"<script(?! src=)|<style| on\w+=| style=", text)
        assert ask(port, "/", "HEAD")[2] == ""
        assert ask(port, "/state", "POST")[0] == ask(port, "/state", "DELETE")[0] == 405
        assert ask(port, "/../../etc/passwd")[0] == 404
        assert ask(port, "/state?x=1")[0] == 200


def test_the_command_serves_until_it_is_interrupted(crawl_dir: Path) -> None:
    command = [sys.executable, "-m", "batchcrawl", "dashboard", JOB, "--listen", "127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), TOKEN_VARIABLE: TOKEN}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stderr is not None
        said = running.stderr.readline()
        port = int(said.rstrip("/\n").rpartition(":")[2])
        answers = [ask(port, path, Authorization=f"Bearer {TOKEN}") for path in ("/state", "/metrics")]
        assert ask(port, "/state")[0] == 401
        running.send_signal(signal.SIGINT)
        rest = running.communicate(timeout=60)
    assert (running.returncode, rest) == (0, ("", ""))
    assert [status for status, _, _ in answers] == [200, 200]
    assert json.loads(answers[0][2])["segment"]["total"] == 5
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--listen", "0.0.0.0:0"], "--listen 0.0.0.0 is open to other machines: set BATCHCRAWL_DASHBOARD_TOKEN"),
        (["--listen", "0.0.0.0:0", "--token-file", "short"], "the token has less than 16 characters"),
        (["--listen", "localhost"], "--listen localhost: it must be HOST:PORT"),
    ],
)
def test_where_it_may_not_serve_a_line_says_why(crawl_dir: Path, options: list[str], line: str) -> None:
    Path("short").write_text("secret\n")
    result = CliRunner().invoke(main, ["dashboard", JOB, *options])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"batchcrawl: {line}")
    assert "secret" not in result.stderr


def test_a_port_that_is_taken_is_told(crawl_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        result = CliRunner().invoke(main, ["dashboard", JOB, "--listen", place])
    assert (result.exit_code, result.stderr) == (1, f"batchcrawl: --listen {place}: Address already in use\n")
