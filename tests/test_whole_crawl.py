"""Whole crawls by the command line, from the seeds to the end."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.fakeweb.spec import FAULTS, WebSpec
from batchcrawl.fakeweb.truth import truth
from tests.support.making import make
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warc_judge import judge
from tests.support.webserver import serving

ROOT = Path(__file__).parents[1]
AT = 1_796_040_000.0
SPEC = WebSpec(
    hosts=8, pages=150, seed=11, page_bytes=2000, links=12, faults=frozenset(FAULTS) - {"slow", "crawl_delay"}
)
JOB = """
seeds = {seeds}
[crawl]
canonical_steps = {steps}
[scope]
within = "{within}"
[politeness]
delay_min = "0s"
factor = 0
backoff_min = "1ms"
[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
"""


def test_a_crawl_of_a_web_with_all_its_faults_finds_what_is_there(tmp_path: Path) -> None:
    with serving(SPEC, at=AT) as server:
        job = _job(tmp_path, port=server.port, seeds=["http://start.test/"])
        (tmp_path / "truth.jsonl").write_bytes(
            b"".join(msgspec.json.encode(line) + b"\n" for line in truth(server.web, at=AT))
        )
        _run(tmp_path, "inject", job)
        _run(tmp_path, "crawl", job, "--until-done")
    compared = _run(tmp_path, "compare", job, "truth.jsonl")
    assert compared.stdout.endswith("\n0 differences\n"), compared.stdout
    assert not judge(sorted((tmp_path / "data").glob("*/segments/*/fetch/*.warc.gz")))


def test_the_steps_of_a_round_are_targets_that_make_continues(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("needs make")
    with serving(SPEC, at=AT) as server:
        job = _job(tmp_path, port=server.port, seeds=["http://start.test/"], name="jobs/made.toml")
        assert _commands(tmp_path) == ["inject", "generate", "fetch", "parse", "update"]
        _run(tmp_path, "inject", job)
        _run(tmp_path, "generate", job)
        _run(tmp_path, "fetch", job)
        assert _commands(tmp_path) == ["parse", "update"]
        _make(tmp_path, "round")
    assert _commands(tmp_path) == ["generate", "fetch", "parse", "update"]


def test_a_host_that_canonicalisation_changes_is_asked_as_it_is_linked(tmp_path: Path) -> None:
    answers = {
        "http://www.site.test/": Scripted(body=b'<a href="/a">a</a> <a href="http://site.test/b">b</a>'),
        "http://www.site.test/a": Scripted(),
        "http://site.test/b": Scripted(body=b"<title>another page</title>"),
        "http://www.site.test/robots.txt": Scripted(status=404),
    }
    with scripted_web(answers) as web:
        job = _job(tmp_path, port=web.port, seeds=["http://www.site.test/"], steps=["www"], within="seed-domain")
        _run(tmp_path, "inject", job)
        _run(tmp_path, "crawl", job, "--until-done")
    pages = [url for url in web.asked if not url.endswith("/robots.txt")]
    assert sorted(pages) == ["http://site.test/b", "http://www.site.test/", "http://www.site.test/a"]


def test_the_host_that_a_seed_redirects_to_is_crawled_like_the_seeds(tmp_path: Path) -> None:
    answers = {
        "http://old.test/": Scripted(status=301, headers={"Location": "http://new.test/"}),
        "http://new.test/": Scripted(body=b'<a href="/a">a</a> <a href="http://else.test/">no</a>'),
        "http://new.test/a": Scripted(),
    }
    with scripted_web(answers) as web:
        job = _job(tmp_path, port=web.port, seeds=["http://old.test/"], within="seed-host")
        _run(tmp_path, "inject", job)
        _run(tmp_path, "crawl", job, "--until-done")
    pages = [url for url in web.asked if not url.endswith("/robots.txt")]
    assert pages == ["http://old.test/", "http://new.test/", "http://new.test/a"]


def test_a_host_that_asks_for_too_long_a_delay_is_put_off_and_not_asked_again_and_again(tmp_path: Path) -> None:
    answers = {"http://slow.test/robots.txt": Scripted(body=b"User-agent: *\nCrawl-delay: 600")}
    with scripted_web(answers) as web:
        job = _job(tmp_path, port=web.port, seeds=["http://slow.test/"])
        _run(tmp_path, "inject", job)
        done = _run(tmp_path, "crawl", job, "--until-done")
    assert web.asked == ["http://slow.test/robots.txt"]
    assert (
        "nothing is due; the next URL is due in 24.0 h; hosts with URLs that are put off: 1"
        in done.stdout + done.stderr
    )


def test_a_crawl_to_the_end_waits_for_a_host_that_is_put_off_for_a_moment(tmp_path: Path) -> None:
    web_of = {"http://busy.test/": Scripted(status=503, headers={"Retry-After": "1"})}
    with scripted_web(web_of) as web:
        job = _job(tmp_path, port=web.port, seeds=["http://busy.test/"])
        _run(tmp_path, "inject", job)
        crawl = subprocess.Popen(
            [sys.executable, "-m", "batchcrawl", "crawl", job, "--until-done"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert crawl.stdout is not None
        while "deferred" not in crawl.stdout.readline():
            pass
        web.answers = {"http://busy.test/": Scripted()}
        assert crawl.wait(timeout=60) == 0
        crawl.stdout.close()
    row = msgspec.json.decode(_run(tmp_path, "url", job, "http://busy.test/").stdout)["record"]
    assert (row["status"], row["retries"]) == ("fetched", 0)


def test_a_host_that_is_never_there_is_given_up_and_the_log_says_why(tmp_path: Path) -> None:
    job = _job(tmp_path, port=1, seeds=["http://dead.test/"])
    _run(tmp_path, "inject", job, at=AT)
    for day in (0, 2, 10, 20, 31, 33, 36, 44, 60):
        _run(tmp_path, "crawl", job, "-q", at=AT + day * 86_400, check=False)
    row = msgspec.json.decode(_run(tmp_path, "url", job, "http://dead.test/").stdout)["record"]
    assert (row["status"], row["outcome"]) == ("gone", "connect_failed")
    first = sorted((tmp_path / "data").glob("*/segments/*/fetch/[01].jsonl"))
    assert any(b"robots.txt cannot be had: connect_failed: 127.0.0.1 port 1" in log.read_bytes() for log in first)


def _job(
    folder: Path,
    *,
    port: int,
    seeds: list[str],
    steps: list[str] | None = None,
    within: str = "any",
    name: str = "job.toml",
) -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    text = JOB.format(port=port, seeds=_toml(seeds), steps=_toml(steps or []), within=within)
    path.write_text(text)
    return name


def _toml(texts: list[str]) -> str:
    return msgspec.json.encode(texts).decode()


def _run(
    folder: Path, *arguments: str, at: float | None = None, check: bool = True
) -> "subprocess.CompletedProcess[str]":
    clock = {} if at is None else {CLOCK_VARIABLE: str(at)}
    return subprocess.run(
        [sys.executable, "-m", "batchcrawl", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **clock},
        capture_output=True,
        text=True,
        timeout=120,
        check=check,
    )


def _make(folder: Path, *arguments: str) -> str:
    """Run a target for the job `made` and return what it printed."""
    program = f'PYTHONPATH={ROOT} exec {sys.executable} -m batchcrawl "$@"'
    done = make(folder, "JOB=made", *arguments, program=program)
    done.check_returncode()
    return done.stdout


def _commands(folder: Path) -> list[str]:
    """Return the commands that `make -n round` would run."""
    lines = _make(folder, "-n", "round").splitlines()
    return [line.split()[1] for line in lines if "/bin/batchcrawl " in line]
