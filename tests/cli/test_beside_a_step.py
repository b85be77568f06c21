import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.lock import CrawlLock


@pytest.fixture(autouse=True)
def _crawl_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A crawl whose lock is held and whose database is open, as update has it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text('seeds = ["http://localhost:9/"]\n[crawl]\npartitions = 1\n')
    run("inject", "x.toml")
    run("generate", "x.toml", "--quiet")
    with CrawlLock(tmp_path / "data/x/lock"), CrawlDb(tmp_path / "data/x/crawldb/0"):
        yield


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_second_step_is_refused() -> None:
    assert run("generate", "x.toml").exit_code == 5


@pytest.mark.parametrize(
    "command", [["status"], ["hosts"], ["dump"], ["url", "localhost:9"], ["export", "--to", "nodes", "-q"]]
)
def test_a_look_is_not_refused(command: list[str]) -> None:
    result = run(command[0], "x.toml", *command[1:])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "localhost" in result.stdout or "1 URLs known" in result.stdout


def test_robots_test_says_what_is_known_so_far() -> None:
    assert "not known" in run("robots", "test", "x.toml", "localhost:9").stdout


def test_status_names_the_process_at_work() -> None:
    assert f"process {os.getpid()} is at work" in run("status", "x.toml").stdout


def test_status_counts_the_outcomes_that_a_running_fetch_has_logged(tmp_path: Path) -> None:
    (segment,) = (tmp_path / "data/x/segments").iterdir()
    (segment / "fetch/0.jsonl").write_text('{"url":"a"}\n{"url":"b"}\n{"torn')
    assert f"segment {segment.name} is next to fetch: 2 outcomes so far" in run("status", "x.toml").stdout
