import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main


@pytest.fixture(autouse=True)
def _born_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text('seeds = ["http://localhost:9/"]\n[crawl]\npartitions = 1\n')
    run("inject", "x.toml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("url", ["http://localhost:9/", "localhost:9", "localhost:9/"])
def test_a_url_may_leave_out_its_scheme(url: str) -> None:
    assert json.loads(run("url", "x.toml", url).stdout)["record"]["url"] == "http://localhost:9/"


def test_what_is_no_url_is_wrong_usage() -> None:
    result = run("url", "x.toml", "foo")
    assert (result.exit_code, result.stderr) == (2, "batchcrawl: 'foo' is no http or https URL\n")


def test_the_newest_of_no_segments_is_not_there_yet() -> None:
    result = run("segment", "x.toml", "newest")
    assert (result.exit_code, result.stderr) == (
        2,
        "batchcrawl: there is no segment yet; run 'batchcrawl generate x.toml'\n",
    )


@pytest.mark.parametrize("options", [["--body", "localhost", "--headers", "localhost"], ["--fetch-list", "--outcomes"]])
def test_a_segment_is_looked_at_in_one_way_at_a_time(options: list[str]) -> None:
    assert run("generate", "x.toml", "--quiet").output == ""
    names = " and ".join(sorted(word for word in options if word.startswith("--")))
    result = run("segment", "x.toml", "newest", *options)
    assert result.exit_code == 2
    assert " ".join(result.stderr.split()[1:4]) in (names, " and ".join(reversed(names.split(" and "))))


def test_the_fetch_list_is_json_lines() -> None:
    run("generate", "x.toml")
    assert json.loads(run("segment", "x.toml", "newest", "--fetch-list").stdout)["url"] == "http://localhost:9/"


def test_quiet_says_nothing_when_there_is_nothing_to_do() -> None:
    assert run("parse", "x.toml").output == "parse: nothing to do; no segment needs it\n"
    result = run("parse", "x.toml", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
