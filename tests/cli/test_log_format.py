"""What a step tells of itself to programs: metrics in a file, and JSON lines in place of words."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main

JOB_TEXT = 'seeds = ["http://localhost:9/"]\n[crawl]\npartitions = 1\n[politeness]\ndelay_min = "0s"\n'


@pytest.fixture(autouse=True)
def _segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(JOB_TEXT)
    run("inject", "x.toml")
    run("generate", "x.toml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_round_writes_its_metrics_and_one_json_line_a_step() -> None:
    result = run("round", "x.toml", "--metrics", "x.prom", "--log-format", "json")
    assert (result.exit_code, result.stdout) == (0, "")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert [line["step"] for line in lines if "ended" in line] == ["fetch", "parse", "update"]
    assert lines[0]["counts"]["address_refused"] == 1
    text = Path("x.prom").read_text()
    assert 'batchcrawl_step_count{job="x",step="fetch",name="address_refused"} 1\n' in text
    assert 'batchcrawl_step_ended_timestamp_seconds{job="x",step="update"}' in text


def test_a_step_that_is_asked_for_json_says_nothing_else() -> None:
    result = run("parse", "x.toml", "--log-format", "json")
    assert (result.exit_code, result.stdout) == (2, "")
