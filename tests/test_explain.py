"""What `explain` says of URLs of a crawl, by the command line."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run, write_job
from tests.support.scripted_web import Scripted, scripted_web

SECTIONS = """
[scope]
rules = [
    "reject extension pdf",
    "reject depth > 1",
]
follow_nofollow = false
[traps]
path_depth_max = 3
"""
ROBOTS = Scripted(headers={"Content-Type": "text/plain"}, body=b"User-agent: *\nDisallow: /private/\n")
NOFOLLOW = b'<meta name=robots content=nofollow><a href="/deep">D</a>'
HOME = b"""<base href="/docs/"><a href="a.html?utm_source=x#top">A</a><a rel=nofollow href="../private/">P</a>
<a href="b.pdf">B</a><a href="/gone">G</a><a href="http://other.test/">O</a><a href="/moved">M</a>"""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers = {
        "http://seed.test/robots.txt": ROBOTS,
        "http://seed.test/": Scripted(body=HOME),
        "http://seed.test/docs/a.html?utm_source=x": Scripted(body=NOFOLLOW),
        "http://seed.test/moved": Scripted(status=301, headers={"Location": "/target"}),
    }
    folder = tmp_path_factory.mktemp("crawled")
    with scripted_web(answers) as web:
        write_job(folder, port=web.port, seeds=["http://seed.test/"], sections=SECTIONS)
        run(folder, "inject")
        run(folder, "round")
        run(folder, "round")
    return folder


def told(folder: Path, *words: str) -> dict[str, Any]:
    found = json.loads(run(folder, "explain", *words, "--json").stdout)
    assert isinstance(found, dict)
    return found


def test_each_step_that_changed_the_url_is_told_in_order(crawled: Path) -> None:
    found = told(crawled, "HTTP://seed.test/docs/%61.html?utm_source=x#top")
    assert [(step["step"], step["url"]) for step in found["steps"]] == [
        ("serialised", "http://seed.test/docs/%61.html?utm_source=x#top"),
        ("fragment", "http://seed.test/docs/%61.html?utm_source=x"),
        ("percent_encoding", "http://seed.test/docs/a.html?utm_source=x"),
        ("tracking", "http://seed.test/docs/a.html"),
    ]
    assert found["canonical"] == found["record"]["url"] == "http://seed.test/docs/a.html"


@pytest.mark.parametrize(
    ("url", "rejection", "place"),
    [
        ("http://seed.test/new", None, "default"),
        ("http://seed.test/b.pdf", "rule", "jobs/x.toml:5"),
        ("http://other.test/", "off_host", "default"),
        ("http://seed.test/a/b/c/d", "trap_path_depth", "jobs/x.toml:10"),
    ],
)
def test_the_rule_that_decided_is_told_with_file_and_line(
    crawled: Path, url: str, rejection: str | None, place: str
) -> None:
    scope = told(crawled, url)["scope"]
    assert (scope.get("rejection"), scope["place"]) == (rejection, place)


def test_each_check_for_traps_is_told_with_its_measure(crawled: Path) -> None:
    assert told(crawled, "http://seed.test/a/b/c/d?x=1")["traps"] == [
        {"trap": "path_depth", "number": 4, "most": 3, "trapped": True},
        {"trap": "repeating_path", "number": 1, "most": 3, "trapped": False},
        {"trap": "parameters", "number": 1, "most": 50, "trapped": False},
        {"trap": "growing_parameter", "number": 0, "most": 3, "trapped": False},
    ]


def test_what_looks_like_a_calendar_is_told_to_be_costly(crawled: Path) -> None:
    assert told(crawled, "http://seed.test/calendar/2026/11")["admission"]["costly"] == "calendar"


def test_the_line_of_robots_txt_that_decides_is_told_with_its_number(crawled: Path) -> None:
    robots = told(crawled, "http://seed.test/private/x")["robots"]
    assert (robots["allowed"], robots["line"], robots["why"]) == (False, 2, "line 2: Disallow: /private/")


def test_a_host_whose_robots_txt_is_not_known_yet_says_so(crawled: Path) -> None:
    assert "allowed" not in told(crawled, "http://other.test/")["robots"]


def test_the_segments_of_a_url_are_told_with_their_outcomes(crawled: Path) -> None:
    found = told(crawled, "http://seed.test/gone")
    assert [(stay["outcome"], stay["status"]) for stay in found["segments"]] == [("not_found", 404)]
    assert found["due"]["why"] == "not_found: it is looked at again now and then"


def test_a_fetched_page_waits_for_its_fetch_interval(crawled: Path) -> None:
    due = told(crawled, "http://seed.test/")["due"]
    assert due["why"] == "its fetch interval, set by the outcome fetched"
    assert due["at"] > 0


def test_a_url_that_nothing_led_to_is_not_known(crawled: Path) -> None:
    found = told(crawled, "http://seed.test/new")
    assert "record" not in found
    assert found["due"]["why"] == "it is not known: no seed names it, and no link to it was taken"


def test_a_link_is_resolved_against_the_base_of_its_page(crawled: Path) -> None:
    found = told(crawled, "a.html?utm_source=x#top", "--from", "http://seed.test/")
    assert found["canonical"] == "http://seed.test/docs/a.html"
    assert found["source"]["base"] == "http://seed.test/docs/"
    [link] = found["source"]["links"]
    assert (link["kind"], link["anchor"], link["position"]) == ("a", "A", 0)
    assert (found["scope"]["taken"], found["scope"]["depth"]) == (True, 1)


def test_the_rel_of_a_link_decides_before_the_scope(crawled: Path) -> None:
    found = told(crawled, "../private/", "--from", "http://seed.test/")
    assert (found["scope"]["rejection"], found["scope"]["place"]) == ("nofollow", "jobs/x.toml:8")


def test_depth_is_counted_from_the_page_that_links(crawled: Path) -> None:
    page = "http://seed.test/docs/a.html"
    assert told(crawled, "/deep", "--from", page)["scope"]["rejection"] == "nofollow"
    found = told(crawled, "/deep", "--from", "http://seed.test/moved")["scope"]
    assert (found["rejection"], found["depth"], found["place"]) == ("rule", 2, "jobs/x.toml:6")


def test_the_target_of_a_redirect_is_a_link_of_the_page(crawled: Path) -> None:
    found = told(crawled, "/target", "--from", "http://seed.test/moved")
    assert [link["kind"] for link in found["source"]["links"]] == ["redirect"]
    assert (found["scope"]["taken"], found["scope"]["depth"]) == (False, 2)


def test_a_page_that_was_not_fetched_stands_for_its_url_alone(crawled: Path) -> None:
    found = told(crawled, "c.html", "--from", "http://seed.test/new/")
    assert found["canonical"] == "http://seed.test/new/c.html"
    assert found["source"]["note"] == "no answer with links is stored of it; judged by its URL alone"


def test_the_answer_is_a_line_for_each_thing(crawled: Path) -> None:
    lines = run(crawled, "explain", "b.pdf", "--from", "http://seed.test/").stdout.splitlines()
    assert "scope        rejected as rule at depth 1, hops 0, by jobs/x.toml:5: reject extension pdf" in lines
    assert lines[-1] == "due          not now: it is not known: no seed names it, and no link to it was taken"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["foo"], "'foo' is no http or https URL"),
        (["mailto:a@b.test"], "'mailto:a@b.test' is no http or https URL"),
        (["mailto:a", "--from", "http://seed.test/"], "'mailto:a' on http://seed.test/docs/ is no http or https URL"),
        (["/", "--from", "foo"], "'foo' is no http or https URL"),
    ],
)
def test_what_is_no_url_is_wrong_usage(crawled: Path, words: list[str], message: str) -> None:
    done = run(crawled, "explain", *words, code=2)
    assert (done.stdout, done.stderr) == ("", f"batchcrawl: {message}\n")


def test_explaining_changes_no_file_of_the_crawl(crawled: Path) -> None:
    def files() -> dict[str, str]:
        data = crawled / "data"
        kept = (path for path in data.rglob("*") if path.is_file() and "crawldb" not in path.parts)
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept if path.name != "lock"}

    before, records = files(), run(crawled, "dump").stdout
    run(crawled, "explain", "a.html", "--from", "http://seed.test/")
    assert (files(), run(crawled, "dump").stdout) == (before, records)
