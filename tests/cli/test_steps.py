"""What the commands of the steps say, on a crawl whose only host refuses connections."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main

JOB_TEXT = """
seeds = ["http://localhost:9/"]
[crawl]
partitions = 1
[politeness]
delay_min = "0s"
factor = 0
backoff_min = "2m"
[network]
allow_addresses = ["127.0.0.0/8", "::1"]
"""


@pytest.fixture(autouse=True)
def _born_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(JOB_TEXT)
    run("inject", "x.toml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_one_round_is_one_round() -> None:
    result = run("crawl", "x.toml", "--rounds", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("\ncrawl: 1 round\n")


def test_a_quiet_crawl_until_nothing_is_due_says_nothing() -> None:
    result = run("crawl", "x.toml", "--until-done", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_a_fetch_list_that_a_worker_misses_is_named_as_corrupt_data(tmp_path: Path) -> None:
    run("generate", "x.toml")
    path = next((tmp_path / "data/x/segments").glob("*/fetchlist/0.jsonl.zst"))
    path.unlink()
    result = run("fetch", "x.toml")
    assert (result.exit_code, result.stderr.count("\n")) == (6, 1)
    assert result.stderr.startswith(f"batchcrawl: {path}")
