import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from batchcrawl.cli import main
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb


def test_seeds_are_written_one_a_line(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    result = CliRunner().invoke(main, ["fakeweb", "--hosts", "3", "--pages", "9", "--seeds", str(seeds), "--no-serve"])
    assert result.exit_code == 0
    assert seeds.read_text().splitlines() == list(FakeWeb(WebSpec(hosts=3, pages=9)).seeds())


def test_the_truth_is_written_as_json_lines() -> None:
    arguments = ["--hosts", "2", "--pages", "30", "--seed", "4", "--clock", "1790000000", "--truth", "-", "--no-serve"]
    result = CliRunner().invoke(main, ["fakeweb", *arguments])
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert lines[0]["url"] == "http://h0000.d000.test/"
    assert lines[0]["expect"] == "fetched"
    assert lines[0]["digest"].startswith("sha1:")


def test_a_truth_without_a_fixed_clock_says_that_it_ages() -> None:
    result = CliRunner().invoke(main, ["fakeweb", "--hosts", "1", "--pages", "1", "--truth", "-", "--no-serve"])
    assert "--clock" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--hosts", "0"],
        ["--hosts", "5", "--pages", "4"],
        ["--faults", "weather"],
        ["--endless", "--truth", "-"],
        ["--faults", "traps", "--truth", "-"],
        ["--endless", "--warm"],
        ["--port", "70000"],
        ["--workers", "0"],
        ["--latency", "-1"],
    ],
)
def test_options_that_cannot_be_are_wrong_usage(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, ["fakeweb", *arguments])
    assert result.exit_code == 2
    assert result.stderr.startswith("batchcrawl: ")


def test_the_help_names_every_fault_and_the_exit_status() -> None:
    text = CliRunner().invoke(main, ["fakeweb", "--help"]).stdout
    assert "redirects" in text
    assert "Exit codes:" in text
