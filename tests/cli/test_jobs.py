import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.job.catalogue import catalogue
from batchcrawl.job.load import load_job


@pytest.fixture(autouse=True)
def _work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_new_writes_a_job_file_and_names_it_on_stdout(tmp_path: Path) -> None:
    result = run("new", "docs", "docs.example.org", "--contact", "me@example.org")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "jobs/docs.toml\n", "")
    assert load_job("docs", cwd=tmp_path).settings.seeds == ("https://docs.example.org/",)


def test_new_takes_a_path(tmp_path: Path) -> None:
    assert run("new", "elsewhere/docs.toml", "localhost:8080").stdout == "elsewhere/docs.toml\n"
    assert load_job("elsewhere/docs.toml", cwd=tmp_path).settings.seeds == ("http://localhost:8080/",)


def test_new_says_what_to_set_where_a_contact_is_needed() -> None:
    result = run("new", "docs", "docs.example.org")
    assert result.exit_code == 0
    assert result.stderr.startswith("jobs/docs.toml: contact: not set, and docs.example.org is not this machine; set ")


def test_new_never_writes_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/docs.toml").write_text("mine")
    result = run("new", "docs", "localhost")
    assert (result.exit_code, result.stderr) == (
        2,
        "batchcrawl: jobs/docs.toml is there already; take another name, or remove the file first\n",
    )
    assert (tmp_path / "jobs/docs.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs", "foo"], "not a URL: 'foo'"),
        (
            ["docs", "localhost", "--contact", "me"],
            '--contact: "me" is not allowed; '
            "allowed: a URL such as https://example.org/crawler or an address such as me@example.org",
        ),
        (
            ["../docs", "localhost"],
            "'../docs' is no job; allowed: a name of letters, digits, '.', '-' and '_' for jobs/NAME.toml, "
            "or a path that ends in .toml",
        ),
    ],
)
def test_new_refuses_what_is_wrong_and_writes_nothing(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = run("new", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"batchcrawl: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_check_prints_each_setting_its_value_and_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('contact = "me@a.org"\n[politeness]\ndelay_min = "1500ms"\n')
    result = run("job", "check", "x.toml")
    rows = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    shown = {name: rest.split("  ") for name, rest in rows}
    assert [name for name, _ in rows] == [setting.name for setting in catalogue()]
    assert (shown["contact"][0], shown["contact"][-1].strip()) == ('"me@a.org"', "x.toml:1")
    assert (shown["politeness.delay_min"][0], shown["politeness.delay_min"][-1].strip()) == ('"1500ms"', "x.toml:3")
    assert (shown["user_agent"][0], shown["user_agent"][-1].strip()) == ('"batchcrawl/0.1.0 (+me@a.org)"', "default")
    assert (shown["scope.depth_max"][0], shown["scope.depth_max"][-1].strip()) == ("not set", "default")
    assert (shown["data"][0], shown["data"][-1].strip()) == (f'"{tmp_path}/data/x"', "default")


def test_check_prints_one_json_object_a_setting(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[fetch]\nbody_bytes_max = "5MB"\n')
    rows = [json.loads(line) for line in run("job", "check", "x.toml", "--json").stdout.splitlines()]
    assert next(row for row in rows if row["setting"] == "fetch.body_bytes_max") == {
        "setting": "fetch.body_bytes_max",
        "value": "5MB",
        "source": "x.toml:2",
        "meaning": "A body is cut there and marked as truncated.",
    }


def test_check_refuses_a_wrong_file_with_the_exit_code_of_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("[fetch]\nthread = 5\n")
    result = run("job", "check", "x.toml")
    assert result.stderr.startswith(
        "batchcrawl: x.toml:2: fetch.thread: unknown key; nearest is 'threads'; allowed: threads, "
    )
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_check_says_that_a_contact_is_missing_and_the_file_is_right(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('seeds = ["https://example.org/"]')
    result = run("job", "check", "x.toml")
    assert result.exit_code == 0
    assert result.stderr.startswith("x.toml: contact: not set, and example.org is not this machine; ")


def test_check_of_a_born_crawl_tells_what_was_fixed_at_birth_and_what_the_job_asks_for_in_vain(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("[crawl]\npartitions = 2\n")
    assert run("inject", "x.toml", "localhost").exit_code == 0
    assert run("job", "check", "x.toml").stderr == ""
    (tmp_path / "x.toml").write_text('[crawl]\npartitions = 3\ncanonical_steps = ["www"]\n')
    result = run("job", "check", "x.toml")
    assert re.search(r"^crawl.partitions +2 +crawl.toml \(fixed at birth\)$", result.stdout, re.MULTILINE)
    first, second = result.stderr.splitlines()
    assert first == (
        "x.toml: crawl.partitions is fixed at birth: 2 is in force and not 3; another value takes a new crawl"
    )
    assert second.startswith("x.toml: crawl.canonical_steps is fixed at birth: ")
    again = run("inject", "x.toml", "localhost")
    assert (again.exit_code, again.stderr) == (0, result.stderr)


@pytest.mark.parametrize("command", [["new"], ["job"], ["job", "check"]])
def test_each_help_tells_what_is_read_and_written_an_example_and_the_exit_codes(command: list[str]) -> None:
    text = run(*command, "--help").stdout
    assert all(word in text for word in ("Reads: ", "Writes: ", "Example: batchcrawl ", "Exit codes: 0"))
