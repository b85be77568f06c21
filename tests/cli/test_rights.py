"""What of a crawl others on the machine may read or change."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.webserver import ROOT


def run(folder: Path, *words: str, umask: int = 0o022) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "batchcrawl", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        umask=umask,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


@pytest.fixture
def job(tmp_path: Path) -> str:
    (tmp_path / "job.toml").write_text('seeds = ["http://127.0.0.1:1/"]\n')
    return "job.toml"


def test_files_have_the_rights_that_the_umask_grants(job: str, tmp_path: Path) -> None:
    for words in (["inject", job], ["generate", job], ["snapshot", job, "kept"]):
        run(tmp_path, *words, umask=0o077)
    paths = list((tmp_path / "data").rglob("*"))
    assert len(paths) > 20
    assert [str(path) for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_a_crawl_that_anybody_may_change_is_warned_of(job: str, tmp_path: Path) -> None:
    (tmp_path / "data" / "job").mkdir(parents=True)
    (tmp_path / "data" / "job").chmod(0o777)
    for words in (["inject", job], ["generate", job]):
        assert "data/job may be changed by anybody here (mode 777); chmod o-w" in run(tmp_path, *words).stderr
    (tmp_path / "data" / "job").chmod(0o1777)
    assert run(tmp_path, "inject", job).stderr == ""
