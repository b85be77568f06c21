"""What `scope test` says of lists and `parse test` of one page, before and after the first inject."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.store.lock import CrawlLock
from tests.support.commands import write_job
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.webserver import ROOT

SITE = "http://seed.test"
SECTIONS = """
[scope]
rules = [
    "reject extension pdf",
]
"""
ROBOTS = Scripted(headers={"Content-Type": "text/plain"}, body=b"User-agent: *\nDisallow: /private/\n")
PAGE = (
    b'<html lang=de><title>T\x1b[31m</title><meta name=robots content=noindex><link rel=canonical href="/c">'
    b'<meta charset=koi8-r><a href="a" rel=next>A\xc1</a><a href="b.pdf">B</a><a href="mailto:x">M</a>words'
)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedWeb]:
    monkeypatch.chdir(tmp_path)
    answers = {
        f"{SITE}/robots.txt": ROBOTS,
        f"{SITE}/": Scripted(body=PAGE),
        f"{SITE}/moved": Scripted(status=301, headers={"Location": "/b.pdf"}),
    }
    with scripted_web(answers) as served:
        write_job(tmp_path, port=served.port, seeds=[f"{SITE}/"], sections=SECTIONS)
        yield served


def run(*words: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(main, words, input=given)


def told(*words: str, given: bytes = b"") -> dict[str, Any]:
    found = json.loads(run("parse", "test", "x", *words, "--json", given=given).stdout)
    assert isinstance(found, dict)
    return found


def test_each_url_of_a_list_is_told_with_the_rule_that_decided(web: ScriptedWeb) -> None:
    lines = f"{SITE}/a#top\n# a comment\n{SITE}/b.pdf\nhttp://other.test/\nftp://x/\n"
    Path("urls.txt").write_text(lines)
    before = run("scope", "test", "x", "urls.txt", "--json")
    found = [json.loads(line) for line in before.stdout.splitlines()]
    assert [(row["line"], row.get("url"), row.get("rejection"), row["place"]) for row in found] == [
        (1, f"{SITE}/a", None, "default"),
        (3, f"{SITE}/b.pdf", "rule", "jobs/x.toml:5"),
        (4, "http://other.test/", "off_host", "default"),
        (5, None, "invalid", "urls.txt:5"),
    ]
    run("inject", "x")
    assert run("scope", "test", "x", "urls.txt", "--json").stdout == before.stdout
    assert web.asked == []


def test_a_list_is_read_from_stdin_and_summed_on_stderr(web: ScriptedWeb) -> None:
    result = run("scope", "test", "x", "-", given=f"{SITE}/b.pdf\n{SITE}/\x7f\n".encode())
    assert result.stdout.splitlines()[0] == f"rule             {SITE}/b.pdf  jobs/x.toml:5: reject extension pdf"
    assert "\x7f" not in result.stdout
    assert result.stderr == "scope test: 2 URLs: rule 1, invalid 1\n"


def test_depth_and_hops_are_those_that_are_asked_about(web: ScriptedWeb) -> None:
    text = Path("jobs/x.toml").read_text().replace('"reject extension pdf"', '"reject depth > 2", "reject hops > 1"')
    Path("jobs/x.toml").write_text(text)
    for options, rejection in (
        (["--depth", "2"], "off_host"),
        (["--depth", "3"], "rule"),
        (["--hops", "2"], "rule"),
    ):
        row = json.loads(run("scope", "test", "x", "http://other.test/", "--json", *options).stdout)
        assert row["rejection"] == rejection


def test_a_page_is_asked_for_once_behind_robots_txt_and_told_as_parse_would_write_it(web: ScriptedWeb) -> None:
    found = told(f"{SITE}/")
    assert web.asked == [f"{SITE}/robots.txt", f"{SITE}/"]
    page = found["page"]
    assert (page["charset"], found["charset_evidence"]) == ("koi8-r", "declaration in the page")
    assert (page["language"], page["robots"], page["canonical"]) == ("de", ["noindex"], f"{SITE}/c")
    assert [(link["url"], link.get("kind", "a"), link["rel"]) for link in found["links"]] == [
        (f"{SITE}/c", "link", ["canonical"]),
        (f"{SITE}/a", "a", ["next"]),
    ]
    assert [(link["reason"], link["place"]) for link in found["rejected"]] == [
        ("scheme", "default"),
        ("rule", "jobs/x.toml:5"),
    ]
    assert len(page["signature"]) == 32


def test_what_is_told_to_people_has_no_control_characters(web: ScriptedWeb) -> None:
    said = run("parse", "test", "x", f"{SITE}/").stdout
    assert "\x1b" not in said
    assert "title        T\\x1b[31m\n" in said
    assert "charset      koi8-r, by declaration in the page\n" in said
    assert "links        2 taken, 2 not taken\n" in said
    assert said.endswith("words\n")


def test_a_page_that_robots_txt_forbids_is_not_asked_for(web: ScriptedWeb) -> None:
    result = run("parse", "test", "x", f"{SITE}/private/a")
    assert (result.exit_code, web.asked) == (1, [f"{SITE}/robots.txt"])
    assert "outcome      robots_denied, line 2: Disallow: /private/\n" in result.stdout


def test_a_fresh_copy_of_robots_txt_is_not_asked_for_again_and_nothing_is_kept(web: ScriptedWeb) -> None:
    for words in (["inject", "x"], ["round", "x", "--quiet"]):
        assert run(*words).exit_code == 0
    before, dump = list(web.asked), run("dump", "x").stdout
    found = told(f"{SITE}/moved")
    assert web.asked == [*before, f"{SITE}/moved"]
    assert (found["page"]["redirect"], found["page"]["rejected"]) == (f"{SITE}/b.pdf", {"rule": 1})
    assert run("dump", "x").stdout == dump


def test_a_file_is_read_as_the_answer_to_a_url(web: ScriptedWeb) -> None:
    Path("page.html").write_bytes(b"<a href=a>A</a>\xef\xef")
    found = told("page.html", "--url", f"{SITE}/deep/", "--content-type", "text/html; charset=latin1")
    assert [link["url"] for link in found["links"]] == [f"{SITE}/deep/a"]
    assert found["charset_evidence"] == "charset of Content-Type"
    assert told("-", "--url", SITE, given=b"plain words")["page"]["media_type"] == "text/plain"
    assert web.asked == []


def test_a_file_without_its_url_is_wrong_usage(web: ScriptedWeb) -> None:
    Path("page.html").write_bytes(b"")
    result = run("parse", "test", "x", "page.html")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_no_page_is_asked_for_beside_a_step_nor_without_a_contact(web: ScriptedWeb) -> None:
    run("inject", "x")
    with CrawlLock(Path("data/x/lock")):
        assert run("parse", "test", "x", f"{SITE}/").exit_code == 5
    Path("jobs/y.toml").write_text("")
    result = run("parse", "test", "y", f"{SITE}/")
    assert (result.exit_code, web.asked) == (2, [])
    assert "contact: not set" in result.stderr


def test_a_job_may_be_called_test(web: ScriptedWeb) -> None:
    assert "jobs/test.toml: no such file" in run("parse", "test").stderr
    assert "jobs/test.toml: no such file" in run("parse", "test", "--segment", "newest").stderr


def test_the_program_itself_asks_and_parses_in_processes_of_their_own(web: ScriptedWeb) -> None:
    run("inject", "x")
    command = [sys.executable, "-m", "batchcrawl", "parse", "test", "x", f"{SITE}/", "--json"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert (found["outcome"]["status"], len(found["links"]), len(found["rejected"])) == (200, 2, 2)


def test_a_host_whose_robots_txt_cannot_be_had_is_asked_for_nothing_else_and_not_waited_for(web: ScriptedWeb) -> None:
    assert isinstance(web.answers, dict)
    web.answers[f"{SITE}/robots.txt"] = Scripted(status=503, headers={"Retry-After": "86400"})
    result = run("parse", "test", "x", f"{SITE}/")
    assert (result.exit_code, web.asked) == (1, [f"{SITE}/robots.txt"])
    assert "outcome      deferred, robots.txt cannot be had: it answered 503\n" in result.stdout
