"""What a shell is told when Tab is pressed."""

from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from batchcrawl.cli import main
from batchcrawl.cli.completing import SHELLS


@pytest.fixture(autouse=True)
def _crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("data/one/segments/20261130T120000Z", "data/one/segments/20261201T120000Z", "data/one/snapshots/kept"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "jobs").mkdir()
    for name, text in (("one", ""), ("broken", "= 1"), ("other", "")):
        (tmp_path / "jobs" / f"{name}.toml").write_text(text)


def completed(*words: str) -> list[str]:
    """Return what the last word may become, `file` where the shell is to say it."""
    found = BashComplete(main, {}, "batchcrawl", "_BATCHCRAWL_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return sorted(item.value if item.type == "plain" else item.type for item in found)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rep"], ["repair", "report"]),
        (["status", "o"], ["one", "other"]),
        (["parse", "test", "one"], ["one"]),
        (["robots", "te"], ["test"]),
        (["job", "check", "ot"], ["other"]),
        (["status", "./x"], ["file"]),
        (["status", "--js"], ["--json"]),
        (["segment", "one", ""], ["20261130T120000Z", "20261201T120000Z", "newest"]),
        (["fetch", "one", "--segment", "202612"], ["20261201T120000Z"]),
        (["export", "one", "--since", ""], ["20261130T120000Z", "20261201T120000Z"]),
        (["export", "one", "--to", "js"], ["jsonl"]),
        (["restore", "one", ""], ["kept"]),
        (["scope", "test", "one", "ur"], ["file"]),
    ],
)
def test_what_may_stand_there_is_offered(words: list[str], expected: list[str]) -> None:
    assert completed(*words) == expected


@pytest.mark.parametrize("job", ["broken", "none", "../x", "other"])
def test_where_nothing_can_be_read_nothing_is_offered(job: str) -> None:
    assert completed("drop", job, "") == completed("restore", job, "") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_its_script(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_BATCHCRAWL_COMPLETE={shell}_complete" in result.stdout
