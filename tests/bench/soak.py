"""A crawl of a synthetic web with all its faults for as long as is wanted, killed three times in between.

Memory and open files of all its processes are sampled; in the end every URL handed to a segment has its one outcome.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from batchcrawl.fakeweb.spec import FAULTS, WebSpec
from tests.bench.spent import ProgramFailed, processes_of, resident_bytes, run_program
from tests.bench.table import Row
from tests.support.webserver import ROOT, serving

MINUTES = 30.0
KILLS = 3
SAMPLE_S = 1.0
PICTURE_COLUMNS = 60
_BARS = " ▁▂▃▄▅▆▇█"
_HARVEST_S = 240.0
_JOB = """\
seeds = {seeds}
[crawl]
partitions = 2
[scope]
within = "any"
[generate]
duration = "20s"
urls_max = 2000
[politeness]
delay_min = "20ms"
factor = 0
backoff_min = "1s"
backoff_max = "10s"
[recrawl]
interval = "30s"
interval_min = "10s"
interval_max = "10m"
gone_interval = "1m"
retry_interval = "10s"
[fetch]
threads = 32
[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
"""


@dataclass
class Samples:
    """What the crawl's processes took, one entry a sample."""

    bytes: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    kills: int = 0

    def take(self, pid: int) -> None:
        """Add a sample of a process and its descendants."""
        pids = list(processes_of(pid))
        self.bytes.append(sum(map(resident_bytes, pids)))
        self.files.append(sum(map(_open_files, pids)))


def run(*, quick: bool, minutes: float = MINUTES) -> list[Row]:
    """Crawl for so many minutes and return what was seen; a crawl that is not whole in the end raises ProgramFailed."""
    minutes = min(minutes, 0.3) if quick else minutes
    spec = WebSpec(
        hosts=6 if quick else 60, pages=60 if quick else 6000, seed=23, page_bytes=3000, faults=frozenset(FAULTS)
    )
    samples = Samples()
    with TemporaryDirectory(prefix="soak-") as name, serving(spec, latency_s=0.01) as web:
        directory = Path(name)
        (directory / "jobs").mkdir()
        seeds = msgspec.json.encode(list(web.web.seeds())).decode()
        (directory / "jobs" / "soak.toml").write_text(_JOB.format(seeds=seeds, port=web.port))
        _command(directory, "inject")
        _crawl_for(directory, minutes * 60, samples)
        _finish(directory)
        _command(directory, "check", "--deep")
        outcomes = _account(directory)
    print(_picture("memory of all processes, MB", [size // 1_000_000 for size in samples.bytes]))
    print(_picture("open files of all processes", samples.files))
    return _rows(samples, outcomes, minutes)


def _crawl_for(directory: Path, seconds: float, samples: Samples) -> None:
    """Keep a crawl running, kill it KILLS times at even distances, and ask it to stop in the end."""
    began = time.monotonic()
    ends = [began + seconds * part / (KILLS + 1) for part in range(1, KILLS + 2)]
    process = _start(directory)
    while ends:
        time.sleep(SAMPLE_S if seconds > 60 else SAMPLE_S / 10)
        if process.poll() is not None:
            process = _start(directory)  # nothing was due for a moment
        samples.take(process.pid)
        if time.monotonic() >= ends[0]:
            ends.pop(0)
            os.killpg(process.pid, signal.SIGKILL if ends else signal.SIGINT)
            process.wait(timeout=_HARVEST_S)
            samples.kills += bool(ends)
            process = _start(directory) if ends else process


def _start(directory: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "batchcrawl", "crawl", "soak", "--until-done", "--quiet"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _command(directory: Path, *words: str) -> str:
    program = [sys.executable, "-m", "batchcrawl", words[0], "soak", *words[1:]]
    return run_program(program, directory=directory).output


def _finish(directory: Path) -> None:
    """Finish the segment under way."""
    listed = _command(directory, "segments", "--json").splitlines()
    if any(msgspec.json.decode(line)["state"] != "updated" for line in listed):
        _command(directory, "round")


def _account(directory: Path) -> Counter[str]:
    """Return the outcomes; raises ProgramFailed for a URL of a segment that has none, or more than one."""
    outcomes: Counter[str] = Counter()
    for line in _command(directory, "segments", "--json").splitlines():
        name = msgspec.json.decode(line)["id"]
        asked = Counter(_fps(_command(directory, "segment", name, "--fetch-list")))
        ended = [msgspec.json.decode(row) for row in _command(directory, "segment", name, "--outcomes").splitlines()]
        if asked != Counter(row["fp"] for row in ended):
            raise ProgramFailed(
                f"segment {name}: {len(asked)} URLs were handed to it, and {len(ended)} outcomes are there"
            )
        outcomes.update(row["outcome"] for row in ended)
    return outcomes


def _fps(lines: str) -> Iterator[str]:
    return (msgspec.json.decode(line)["fp"] for line in lines.splitlines())


def _open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _picture(what: str, values: list[int]) -> str:
    """Return the largest values over time as a row of bars."""
    if not values:
        return f"{what}: no sample"
    step = max(1, len(values) // PICTURE_COLUMNS)
    peaks = [max(values[at : at + step]) for at in range(0, len(values), step)]
    bars = "".join(_BARS[min(8, 8 * peak // max(1, *peaks))] for peak in peaks)
    return f"{what}, up to {max(peaks):,}:\n  {bars}"


def _rows(samples: Samples, outcomes: Counter[str], minutes: float) -> list[Row]:
    third = max(1, len(samples.bytes) // 3)
    early, late = slice(None, third), slice(-third, None)
    return [
        Row(what=f"soak of {minutes:g} minutes, outcomes, each URL's own", ours=outcomes.total(), unit="URLs"),
        Row(what="kinds of outcome in it", ours=len(outcomes), unit="kinds"),
        Row(what="kills in it", ours=samples.kills, unit="kills"),
        Row(
            what="memory, last third beside the first",
            ours=max(samples.bytes[late], default=0) / 1e6,
            unit="MB",
            other=max(samples.bytes[early], default=0) / 1e6,
            wanted_most=1.2,
        ),
        Row(
            what="open files, last third beside the first",
            ours=max(samples.files[late], default=0),
            unit="files",
            other=max(samples.files[early], default=0),
            wanted_most=1.2,
        ),
    ]
