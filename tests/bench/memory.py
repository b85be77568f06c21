"""The memory of a fetch step by many threads while large bodies come on all of them at once."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.spent import run_program
from tests.bench.table import Row
from tests.support import commands
from tests.support.flood import Flood

THREADS = 128
BODY_MB_MAX = 10
"""As in a job that says nothing."""
MB_MAX = 250 + 1.5 * BODY_MB_MAX


def run(*, quick: bool) -> list[Row]:
    """Fetch a page of each of as many hosts as there are threads, every one larger than what is kept of a body."""
    body_mb = 1 if quick else BODY_MB_MAX + 1
    seeds = [f"http://h{number}.test/" for number in range(THREADS)]
    with (
        TemporaryDirectory(prefix="bench-") as name,
        Flood(body_bytes=body_mb * 1_000_000, at_once=THREADS) as server,
    ):
        directory = Path(name)
        commands.write_job(directory, port=server.port, seeds=seeds, sections=f"[fetch]\nthreads = {THREADS}")
        commands.run(directory, "inject")
        commands.run(directory, "generate")
        spent = run_program(
            [sys.executable, "-m", "batchcrawl", "fetch", commands.JOB], directory=directory, memory=True
        )
    kept_mb = min(body_mb, BODY_MB_MAX)
    return [
        Row(
            what=f"fetch step, {THREADS} bodies of {kept_mb} MB at once, memory of all processes",
            ours=spent.peak_bytes / 1e6,
            unit="MB",
            other=MB_MAX,
            wanted_most=1.0,
        )
    ]
