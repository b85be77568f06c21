"""The Makefile's words for what it refuses, and the exit codes that it leaves to be seen."""

from pathlib import Path

import pytest

from tests.support.making import make


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("ROUNDS=x", "ROUNDS is 'x'; it must be a number from 1"),
        ("ROUNDS=0", "ROUNDS is '0'; it must be a number from 1"),
        ("JOB=a b", "JOB is 'a b'; it must be the name of one job, without spaces"),
    ],
)
def test_what_cannot_be_is_refused_with_one_line(variable: str, words: str, tmp_path: Path) -> None:
    done = make(tmp_path, "crawl", variable, program=_telling(tmp_path, code=0))
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
    done = make(tmp_path, "round", "JOB=x", "CRAWL=elsewhere", program=_telling(tmp_path, code=11))
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith("Error 11")
    assert (tmp_path / "called").read_text().split()[0] == {"generated": "generate", "fetched": "fetch"}[stamp]


def _telling(folder: Path, *, code: int) -> str:
    """Return a program that only tells how it was called and ends with an exit code."""
    return f'echo "$@" >>{folder}/called\nexit {code}'
