"""WARC files for tests: a writer with plain settings, and what warcio reads of them; `warc_judge` judges them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from batchcrawl.model.clock import FixedClock
from batchcrawl.store.disk import Disk
from batchcrawl.store.warc_file import reopen_file
from batchcrawl.store.warc_writer import WarcWriter
from tests.support.exchanges import STARTED_AT

INFO = {"http-header-user-agent": "batchcrawl (+http://example.org/bot)", "operator": "A. Person <person@example.org>"}


def warc_writer(directory: Path, disk: Disk | None = None, **changes: Any) -> WarcWriter:
    """Return a writer of `0-*.warc.gz` for the segment 20261130T101500Z."""
    facts = {"segment": "20261130T101500Z", "info": INFO, "clock": FixedClock(STARTED_AT), **changes}
    return WarcWriter(disk or Disk(), directory, "0", **facts)


def records_by_warcio(path: Path) -> Iterator[Any]:
    """Yield the records as warcio reads them."""
    with path.open("rb") as file:
        yield from ArchiveIterator(file)


def recover_warc(disk: Disk, path: Path, *, synced_bytes: int = 0) -> int:
    """Cut the torn tail of an open WARC file, let it go again and return its size."""
    growing = reopen_file(disk, path, synced_bytes=synced_bytes)
    growing.file.close()
    return growing.file.tell()
