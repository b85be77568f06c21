"""The Makefile's words for what it refuses, and the exit codes that it leaves to be seen."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def make(folder: Path, *arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run a target with a program that only tells how it was called and ends with an exit code."""
    program = folder / "bin" / "batchcrawl"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$@" >>{folder}/called\nexit {code}\n')
    program.chmod(0o755)
    (folder / ".ready").touch()
    variables = [f"BIN={folder}/bin", f"READY={folder}/.ready"]
    return subprocess.run(
        ["make", "--file", str(ROOT / "Makefile"), "--old-file", f"{folder}/.ready", *variables, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("ROUNDS=x", "ROUNDS is 'x'; it must be a number from 1"),
        ("ROUNDS=0", "ROUNDS is '0'; it must be a number from 1"),
        ("JOB=a b", "JOB is 'a b'; it must be the name of one job, without spaces"),
    ],
)
def test_what_cannot_be_is_refused_with_one_line(variable: str, words: str, tmp_path: Path) -> None:
    done = make(tmp_path, "crawl", variable)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("stamp", ["generated", "fetched"])
def test_the_exit_code_of_a_step_is_seen(stamp: str, tmp_path: Path) -> None:
    segment = tmp_path / "elsewhere/segments/20260101T000000Z"
    segment.mkdir(parents=True)
    (tmp_path / "elsewhere/crawl.toml").touch()
    if stamp == "fetched":
        (segment / ".generated").touch()
    done = make(tmp_path, "round", "JOB=x", "CRAWL=elsewhere", code=11)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("Error 11")
    assert (tmp_path / "called").read_text().split()[0] == {"generated": "generate", "fetched": "fetch"}[stamp]
