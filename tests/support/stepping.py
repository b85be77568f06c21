"""A crawl whose steps run in the test's own process, on a wall clock that the test moves; waits are real."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchcrawl.engine.control import Control
from batchcrawl.fetch import fetch
from batchcrawl.generate import generate
from batchcrawl.inject import inject
from batchcrawl.job.crawl import Crawl, open_or_create
from batchcrawl.job.load import load_job
from batchcrawl.job.seeds import Seed
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.parse import parse
from batchcrawl.show import dump, outcomes
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.update import update

BORN_AT = 1_796_040_000.0
_JOB_TEXT = """
[crawl]
partitions = 1
[scope]
within = "any"
[politeness]
factor = 0
{politeness}
[fetch]
threads = {threads}
{fetch}
[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
"""


class HandClock:
    """A wall clock that the test moves; monotonic time goes on by itself, and leaps with it where that is wanted."""

    def __init__(self, at: float = BORN_AT) -> None:
        self.at = at
        self._leapt_s = 0.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return time.monotonic() + self._leapt_s

    def leap(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self.at += seconds
        self._leapt_s += seconds


@dataclass
class Stepping:
    """A crawl of hosts that are all on one local port."""

    root: Path
    crawl: Crawl
    clock: HandClock
    control: Control

    @classmethod
    def make(
        cls,
        root: Path,
        port: int,
        seeds: Sequence[str],
        *,
        threads: int = 1,
        politeness: str = 'delay_min = "0s"\nbackoff_min = "1ms"',
        fetch: str = "",
    ) -> "Stepping":
        """Make a crawl of one partition and inject its seeds; `politeness` and `fetch` are settings besides."""
        text = _JOB_TEXT.format(port=port, threads=threads, politeness=politeness, fetch=fetch)
        (root / "job.toml").write_text(text)
        disk, clock = Disk(), HandClock()
        job = load_job("job.toml", cwd=root)
        disk.make_dir(job.data_dir)
        crawl = open_or_create(job, disk)
        inject(crawl, (Seed(url=url, line=1) for url in seeds), disk=disk, clock=clock)
        return cls(root, crawl, clock, Control())

    def generate(self) -> Segment:
        """Make a segment."""
        generate(self.crawl, dry_run=False, disk=Disk(), clock=self.clock, control=Control())
        return self.newest()

    def fetch(self) -> list[FetchLogLine]:
        """Fetch the newest segment and return its outcomes in the order of their ends."""
        fetch(self.crawl, self.newest(), disk=Disk(), clock=self.clock, control=self.control)
        return self.outcomes()

    def outcomes(self) -> list[FetchLogLine]:
        """Return the outcomes of the newest segment so far."""
        return list(outcomes(self.newest()))

    def finish(self) -> None:
        """Parse the newest segment and apply it."""
        for step in (parse, update):
            step(self.crawl, self.newest(), disk=Disk(), clock=self.clock, control=Control())

    def round(self) -> list[FetchLogLine]:
        """Run a whole round and return its outcomes."""
        self.generate()
        lines = self.fetch()
        self.finish()
        return lines

    def newest(self) -> Segment:
        """Return the newest segment as it is on disk now."""
        layout = self.crawl.layout
        return Segment(layout.segment(layout.segment_ids()[-1]))

    def fetched(self) -> StepInfo:
        """Return what the fetch step left in the manifest."""
        return self.newest().manifest.steps["fetched"]

    def host_log(self) -> list[HostLogLine]:
        """Return the host log of the newest segment."""
        return list(read_log(self.newest().paths.host_log(0), HostLogLine))

    def warcs(self) -> list[Path]:
        """Return the WARC files of the newest segment."""
        return sorted(self.newest().paths.fetch_dir.glob("*.warc.gz*"))

    def rows(self) -> list[dict[str, Any]]:
        """Return the URLs and hosts of the crawldb."""
        return list(dump(self.crawl, duplicates=True))
