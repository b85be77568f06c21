"""A small crawl that is run by commands, killed, and run again."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.fakeweb.spec import FAULTS, WebSpec
from batchcrawl.fetch import RESERVE_TIMES
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.show import dump
from batchcrawl.store.failpoints import VARIABLE as FAILPOINT_VARIABLE
from batchcrawl.store.segment import Segment
from tests.support.warm import Ended, Warm
from tests.support.webserver import ROOT

JOB = "web"
THREADS = 6
IN_FLIGHT_MAX = (1 + RESERVE_TIMES) * THREADS
"""Where the machine is busy a visit may count as slow."""
STEPS = ("generate", "fetch", "parse", "update")
ROUNDS = 3
BORN_AT = 1_796_040_000
ROUND_S = 2 * 86_400
"""Between two rounds: what was fetched is due again in the next, and robots.txt is read anew."""
TIMEOUT_S = 60.0
"""No command takes so long unless it hangs."""

SPEC = WebSpec(
    hosts=20,
    pages=140,
    seed=5,
    page_bytes=1500,
    links=12,
    faults=frozenset(FAULTS) - {"slow", "crawl_delay", "changes"},
)
"""The web of the crash tests: both partitions have hosts of it."""

_JOB_TEXT = """
seed_files = ["seeds.txt"]

[crawl]
partitions = 2

[scope]
within = "any"

[politeness]
delay_min = "0s"
factor = 0
backoff_min = "1ms"

[fetch]
{fetch}

[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]

[parse]
chunk_pages = 5

[recrawl]
{recrawl}
"""


FETCH_SETTINGS = f"""
threads = {THREADS}
warc_bytes_max = "20KB"
"""


RECRAWL_SETTINGS = 'interval = "1d"'


def clock_of(round_number: int) -> int:
    """Return the instant at which the clock of a round stands still, from round 1 on."""
    return BORN_AT + round_number * ROUND_S


@dataclass(frozen=True)
class Crawling:
    """A directory with a job file, and the crawl in it."""

    root: Path
    port: int
    warm: Warm

    @classmethod
    def make(
        cls,
        root: Path,
        port: int,
        warm: Warm,
        *,
        seeds: Sequence[str],
        fetch: str = FETCH_SETTINGS,
        recrawl: str = RECRAWL_SETTINGS,
    ) -> "Crawling":
        """Make the directory of a job whose hosts are all on a local port; the rest is as of `set_job`."""
        (root / "jobs").mkdir(parents=True)
        (root / "jobs" / "seeds.txt").write_text("".join(f"{seed}\n" for seed in seeds))
        crawling = cls(root, port, warm)
        crawling.set_job(fetch=fetch, recrawl=recrawl)
        return crawling

    @property
    def data(self) -> Path:
        """The crawl's directory."""
        return self.root / "data" / JOB

    def set_job(self, *, fetch: str = FETCH_SETTINGS, recrawl: str = RECRAWL_SETTINGS, port: int | None = None) -> None:
        """Write the job file anew. `fetch` and `recrawl` are the settings of those sections."""
        text = _JOB_TEXT.format(port=port or self.port, fetch=fetch, recrawl=recrawl)
        (self.root / "jobs" / f"{JOB}.toml").write_text(text)

    def copy_to(self, root: Path, port: int) -> "Crawling":
        """Return a copy of the crawl and its job, for the web on another port."""
        shutil.copytree(self.root, root)
        copy = Crawling(root, port, self.warm)
        copy.set_job()
        return copy

    def remove(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self.root)

    def start(self, *words: str, at: int, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
        """Start a command of the real program in a session of its own, so that its process group can be killed."""
        environment = {name: value for name, value in os.environ.items() if name != FAILPOINT_VARIABLE}
        return subprocess.Popen(
            [sys.executable, "-m", "batchcrawl", words[0], JOB, *words[1:]],
            cwd=self.root,
            env=environment | {"PYTHONPATH": str(ROOT), CLOCK_VARIABLE: str(at)},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, at: int, failpoint: str | None = None) -> Ended:
        """Run a command to its end, with small batches."""
        return self.warm.run(words[0], JOB, *words[1:], cwd=self.root, at=at, failpoint=failpoint)

    def must(self, *words: str, at: int) -> str:
        """Run a command that must succeed and return what it said."""
        end = self.run(*words, at=at)
        assert end.code == 0, f"{words}: exit code {end.code}\n{end.said}"
        return end.said

    def opened(self) -> Crawl:
        """Open the crawl in this process."""
        return open_crawl(load_job(JOB, cwd=self.root))

    def rows(self) -> list[dict[str, Any]]:
        """Return the URLs and hosts of the crawldb."""
        return list(dump(self.opened(), duplicates=True))

    def dump(self) -> list[str]:
        """Return the crawldb as sorted JSON lines."""
        return sorted(msgspec.json.encode(row).decode() for row in self.rows())

    def segments(self) -> list[Segment]:
        """Return the visible segments, oldest first."""
        layout = self.opened().layout
        return [Segment(layout.segment(name)) for name in layout.segment_ids()]

    def counts(self) -> list[dict[str, dict[str, int]]]:
        """Return what each step of each segment counted."""
        return [{step: info.counts for step, info in s.manifest.steps.items()} for s in self.segments()]

    def rounds_done(self) -> int:
        """Return how many segments are updated."""
        return sum(segment.is_done("updated") for segment in self.segments()) if self.data.exists() else 0

    def files(self) -> dict[str, bytes]:
        """Return every file of the segments by its path."""
        root = self.data / "segments"
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def ended(process: "subprocess.Popen[str]", timeout_s: float = TIMEOUT_S) -> Ended:
    """Wait for a command; one that hangs is killed and fails the test."""
    try:
        said, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        kill(process)
        raise
    return Ended(process.returncode, said)


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a command with all its processes, as a power button would; one that has ended stays so."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@contextmanager
def started(process: "subprocess.Popen[str]") -> Iterator["subprocess.Popen[str]"]:
    """Kill a command when the block ends, whatever happened in it."""
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process)
