"""A crawl of a web on this machine, run by commands of the real program in a folder of the test."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.support.webserver import ROOT

JOB = "x"
_TEXT = """\
seeds = {seeds}
{sections}
[crawl]
partitions = 2
[politeness]
delay_min = "0s"
factor = 0
backoff_min = "1ms"
[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
"""


def write_job(folder: Path, *, port: int, seeds: Sequence[str], sections: str = "") -> None:
    """Write the job `x` of a crawl whose hosts are all on a local port; `sections` stand on its second line."""
    (folder / "jobs").mkdir(exist_ok=True)
    text = _TEXT.format(seeds=msgspec.json.encode(list(seeds)).decode(), sections=sections, port=port)
    (folder / "jobs" / f"{JOB}.toml").write_text(text)


def run(folder: Path, *words: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run a command on the job `x` that must end with an exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "batchcrawl", words[0], JOB, *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def crawl(folder: Path) -> str:
    """Inject the seeds, crawl until nothing is due, and return what the crawl said."""
    run(folder, "inject")
    return run(folder, "crawl", "--until-done").stdout


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the URLs and hosts of the crawldb."""
    return [msgspec.json.decode(line) for line in run(folder, "dump", "--duplicates").stdout.splitlines()]


def urls(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the URL records of the crawldb by URL."""
    return {row["url"]: row for row in rows(folder) if "url" in row}
