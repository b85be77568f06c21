"""The report of a crawl: its numbers are those of the data, and nothing in it comes from the web as it was."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

from batchcrawl.job.freshness import Freshness
from batchcrawl.model.budget import BudgetState
from batchcrawl.report import Findings, report_page
from batchcrawl.standing import CrawlStatus, HostRow
from batchcrawl.store.rounds import Round
from tests.support.browser import BrowserFailed, open_page
from tests.support.commands import JOB, run, write_job
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.webserver import ROOT

NOW = 1_796_040_000.0
HOSTILE = "<script>alert(1)</script>\"'&\x1b</td></style>"


def findings() -> Findings:
    rounds = [
        Round(
            segment=f"20261130T10000{n}Z",
            created_at=NOW + n,
            urls=100 * n,
            hosts=n,
            outcomes={"fetched": 70 * n, "timeout": 3},
            pages=70 * n,
            pages_per_s=7.0 * n,
            body_bytes=n * 1_000_000,
            new=41 * n,
            seconds={"fetch": 10.0},
            why=HOSTILE,
        )
        for n in (1, 2)
    ]
    status = CrawlStatus(known=1234, hosts=2, limit=HOSTILE)
    status.errors["timeout"] = 6
    found = Findings(status, rounds)
    found.types.update({"text/html": 55, HOSTILE: 7})
    found.depths.update({0: 1, 1: 33})
    found.hosts = [HostRow(host="http://a.test", known=9, reason=HOSTILE), HostRow(host="http://b.test", known=10)]
    found.unreachable = [("http://a.test", HOSTILE)]
    return found


def numbers(page: str, caption: str) -> list[str]:
    """Return the values that a chart shows, as its tooltips have them."""
    for figure in html.fromstring(page).iter("figure"):
        if figure.findtext("figcaption") == caption:
            return [element.text or "" for element in figure.iter("desc") if element.get("class") == "value"]
    raise AssertionError(f"no chart {caption}")


@pytest.mark.parametrize(
    ("caption", "values"),
    [
        ("URLs known after each round", ["1,152", "1,234"]),
        ("Pages fetched, all rounds so far", ["70", "210"]),
        ("Pages a second by round", ["7", "14"]),
        ("MB by round", ["1", "2"]),
        ("Outcomes", ["6", "210"]),
        ("URLs by depth", ["1", "33"]),
        ("Pages by content type", ["7", "55"]),
    ],
)
def test_a_chart_has_the_numbers_of_the_data(caption: str, values: list[str]) -> None:
    found = [re.sub(r"^.*: ", "", value) for value in numbers(report_page("x", findings(), now=NOW), caption)]
    assert found == values


def test_how_fresh_the_copies_are_and_what_the_budget_has_used_is_told() -> None:
    found = findings()
    found.status.freshness = Freshness(copies=7, plain=0.875, weighted=0.5)
    found.status.budget = BudgetState(budget=500.0, price=0.1, floor=0.05, at=NOW, saved=0.0, day=0, used=12)
    found.status.refetches_today = 12
    divs = html.fromstring(report_page("x", found, now=NOW)).iter("div")
    tiles = ["".join(map(str, div.itertext())) for div in divs if div.get("class") == "tile"]
    assert tiles[-2:] == ["87.5%of the copies still right", "12refetches today, of 500"]


def test_what_comes_from_the_web_is_escaped() -> None:
    page = report_page(HOSTILE, findings(), now=NOW)
    assert "<script>alert" not in page
    assert len(list(html.fromstring(page).iter("script"))) == 1
    assert "\x1b" not in page
    assert html.fromstring(page).findtext(".//h1") == "Crawl " + HOSTILE.replace("\x1b", "\N{REPLACEMENT CHARACTER}")


def test_it_asks_for_nothing_from_anywhere() -> None:
    page = report_page("x", findings(), now=NOW)
    tree = html.fromstring(page)
    assert [element.get("src") for element in tree.iter() if element.get("src") is not None] == []
    assert [element.get("href") for element in tree.iter() if element.get("href") is not None] == ["data:,"]
    assert "@import" not in page
    assert "url(" not in page


def test_a_browser_opens_it_without_an_error_and_sorts_its_tables(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(report_page(HOSTILE, findings(), now=NOW), "utf-8")
    click = """
        [...document.querySelectorAll("th button")].filter(b => b.textContent === "host")[0].click();
        [...document.querySelectorAll("th button")].filter(b => b.textContent === "URLs")[1].click();
        [document.querySelectorAll("svg").length, document.scrollingElement.scrollWidth <= innerWidth,
         [...document.querySelectorAll("table")][1].tBodies[0].rows[0].cells[0].textContent]
    """
    try:
        value, errors = open_page((tmp_path / "report.html").as_uri(), click)
    except BrowserFailed as error:
        if "not installed" in str(error):
            pytest.skip("chromium is not installed")
        raise
    assert errors == []
    assert value == [12, True, "http://b.test"]


def test_the_command_writes_into_the_crawls_directory(tmp_path: Path) -> None:
    with scripted_web({"http://a.test/": Scripted(body=b"<title>A</title>words <a href=/b>b</a>")}) as web:
        write_job(tmp_path, port=web.port, seeds=["http://a.test/"])
        run(tmp_path, "inject")
        run(tmp_path, "round")
    run(tmp_path, "report")
    (path,) = (tmp_path / "data/x/reports").iterdir()
    page = path.read_text("utf-8")
    assert numbers(page, "URLs known after each round") == ["2"]
    assert numbers(page, "Pages by content type") == ["1"]
    said = run(tmp_path, "status").stdout
    assert re.search(r"^\d{8}T\d{6}Z +1 +1 +1 .* all done$", said, re.MULTILINE)
    assert "busiest: http://a.test 1 requests" in said
    assert said.splitlines()[-1].startswith("what limits it now: ")


def test_the_status_is_told_again_and_again_until_it_is_interrupted(tmp_path: Path) -> None:
    write_job(tmp_path, port=9, seeds=["http://a.test/"])
    run(tmp_path, "inject")
    command = [sys.executable, "-m", "batchcrawl", "status", JOB, "--watch", "--every", "1", "--json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as watching:
        assert watching.stdout is not None
        lines = [watching.stdout.readline() for _ in range(2)]
        watching.send_signal(signal.SIGINT)
    assert [json.loads(line)["ready"] for line in lines] == [1, 1]
    assert watching.returncode == 11


def test_a_crawl_of_which_nothing_is_known_has_a_report() -> None:
    assert "nothing yet" in report_page("x", Findings(CrawlStatus()), now=NOW)
