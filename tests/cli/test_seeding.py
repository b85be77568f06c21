import gzip
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.job.crawl import open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.show import dump

NO_CONTACT = "batchcrawl: x.toml: contact: not set, and example.org is not this machine; "


@pytest.fixture(autouse=True)
def _work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text("[crawl]\npartitions = 1\n")


def inject(*sources: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["inject", "x.toml", *sources], input=stdin)


def urls() -> list[str]:
    return sorted(
        row["url"] for row in dump(open_crawl(load_job("x.toml", cwd=Path.cwd())), duplicates=True) if "url" in row
    )


def test_what_stood_before_a_source_that_is_not_there_is_injected(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("localhost/a\n")
    result = inject("a.txt", "localhost/b", "none.txt", "localhost/c")
    assert (result.exit_code, result.stdout) == (2, "inject: 2 new, 0 changed, 0 known, 0 rejected\n")
    assert result.stderr == "batchcrawl: none.txt: no such file; what stood before it is taken\n"
    assert urls() == ["http://localhost/a", "http://localhost/b"]


def test_what_stood_before_the_damage_of_a_source_is_injected_and_bad_lines_are_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("localhost/a\nfoo\n")
    lines = gzip.compress(b"localhost/b\n" + os.urandom(50_000).hex().encode())
    (tmp_path / "b.gz").write_bytes(lines[: len(lines) // 2])
    result = inject("a.txt", "b.gz")
    assert (result.exit_code, result.stdout) == (2, "inject: 2 new, 0 changed, 0 known, 0 rejected\n")
    first, last = result.stderr.splitlines()[0], result.stderr.splitlines()[-1]
    assert first == "a.txt:2: not a URL: 'foo'"
    assert last.startswith("batchcrawl: b.gz: gzip is damaged behind line ")
    assert urls() == ["http://localhost/a", "http://localhost/b"]


def test_a_pipe_that_has_a_name_is_a_file() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"localhost/a\n")
    os.close(write_end)
    try:
        result = inject(f"/dev/fd/{read_end}")
    finally:
        os.close(read_end)
    assert (result.exit_code, urls()) == (0, ["http://localhost/a"])


def test_a_url_that_is_too_long_for_the_name_of_a_file_is_a_url() -> None:
    assert inject("http://localhost/" + "a" * 300).exit_code == 0


@pytest.mark.parametrize("sources", [["seeds.txt"], ["localhost", "example.org"], ["localhost", "-"], []])
def test_nothing_is_injected_when_a_seed_needs_a_contact(sources: list[str], tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("localhost\nexample.org\n")
    (tmp_path / "x.toml").write_text('seed_files = ["seeds.txt"]\n[crawl]\npartitions = 1\n')
    result = inject(*sources, stdin=b"example.org\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(NO_CONTACT)
    assert result.stderr.count("\n") == 1
    if "-" in sources:
        assert urls() == []
    else:
        assert not (tmp_path / "data").exists()


def test_with_a_contact_other_hosts_are_injected(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('contact = "me@example.org"\n[crawl]\npartitions = 1\n')
    assert inject("example.org").exit_code == 0
    assert urls() == ["https://example.org/"]


def test_a_job_without_seeds_brings_no_crawl_to_life(tmp_path: Path) -> None:
    result = inject()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "batchcrawl: x.toml names no seeds; give some: batchcrawl inject x.toml URL\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [["inject", "x.toml", "localhost"], ["status", "x.toml"]])
def test_a_crawl_that_lost_its_identity_is_not_given_another(command: list[str], tmp_path: Path) -> None:
    assert inject("localhost").exit_code == 0
    identity = tmp_path / "data/x/crawl.toml"
    identity.unlink()
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 6
    assert result.stderr.startswith(f"batchcrawl: {identity} is missing but crawldb/ is there; put the file back ")
    assert not identity.exists()


def test_quiet_says_nothing() -> None:
    result = inject("localhost", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
