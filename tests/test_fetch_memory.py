"""What memory a fetch takes, by processes of its own."""

import sys
from pathlib import Path

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.layout import Layout, SegmentPaths
from batchcrawl.store.records import read_log
from batchcrawl.store.warc_reader import read_exchange
from tests.bench.spent import run_program
from tests.support.commands import JOB, run, write_job
from tests.support.flood import Flood

THREADS = 128
BODY_BYTES = 3_000_000
BYTES_MAX = 250_000_000 + BODY_BYTES * 3 // 2
"""For both partitions and their parent; all bodies together have 384 MB."""


def test_large_bodies_that_all_come_at_once_are_not_held_in_memory_and_none_is_lost(tmp_path: Path) -> None:
    seeds = [f"http://h{number}.test/" for number in range(THREADS)]
    with Flood(body_bytes=BODY_BYTES, at_once=THREADS) as server:
        write_job(tmp_path, port=server.port, seeds=seeds, sections=f"[fetch]\nthreads = {THREADS}")
        run(tmp_path, "inject")
        run(tmp_path, "generate")
        spent = run_program([sys.executable, "-m", "batchcrawl", "fetch", JOB], directory=tmp_path, memory=True)
    lines = _outcomes(tmp_path)
    assert {line.url: (line.body_bytes, line.truncated) for line in lines} == dict.fromkeys(seeds, (BODY_BYTES, None))
    assert {line.digest for line in lines} == {server.digest}
    assert spent.peak_bytes < BYTES_MAX


def _outcomes(folder: Path) -> list[FetchLogLine]:
    """Return the outcomes, the last one of each partition read back from its WARC file."""
    layout = Layout(folder / "data" / JOB)
    paths = SegmentPaths(layout.segment(layout.segment_ids()[0]))
    lines: list[FetchLogLine] = []
    for partition in (0, 1):
        lines += read_log(paths.fetch_log(partition), FetchLogLine)
        assert lines[-1].warc is not None
        assert lines[-1].offset is not None
        stored = read_exchange(paths.fetch_dir / lines[-1].warc, lines[-1].offset, verify=True)
        assert len(stored.body) == BODY_BYTES
    return lines
