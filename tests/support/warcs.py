"""WARC files for tests: a writer with plain settings, and what other readers say of the files."""

import io
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from batchcrawl.model.clock import FixedClock
from batchcrawl.store.disk import Disk
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


def complaints(path: Path) -> list[str]:
    """Return all that is wrong with a closed WARC file by gzip, by warcio, by fastwarc, and by our own rules."""
    found = [f"gzip: {line}" for line in _run("gzip", "-t", str(path))]
    with redirect_stdout(io.StringIO()) as said:
        if Checker(Namespace(inputs=[str(path)], verbose=False)).process_all():
            found.append(f"warcio: {said.getvalue()}")
    found += [f"fastwarc: {line}" for line in _run(sys.executable, "-m", "fastwarc.cli", "check", "-q", str(path))]
    return found + broken_rules(path)


def broken_rules(path: Path) -> list[str]:
    """Return what is wrong that neither warcio nor fastwarc looks at."""
    return list(_broken_rules(path))


def _broken_rules(path: Path) -> Iterator[str]:
    ids: list[str] = []
    pointers: list[str] = []
    for number, record in enumerate(records_by_warcio(path)):
        fields = record.rec_headers
        ids.append(fields.get_header("WARC-Record-ID"))
        pointers += [value for name, value in fields.headers if name == "WARC-Concurrent-To"]
        if (record.rec_type == "warcinfo") != (number == 0):
            yield f"record {number} is a {record.rec_type}"
        if " " in (fields.get_header("WARC-Target-URI") or ""):
            yield f"record {number} has a space in its URI"
        if record.http_headers is not None and record.http_headers.get_header("Transfer-Encoding"):
            yield f"record {number} keeps Transfer-Encoding"
        record.content_stream().read()
    if len(set(ids)) != len(ids):
        yield "record ids are not unique"
    yield from (f"{pointer} is not there" for pointer in pointers if pointer not in ids)


def _run(*command: str) -> list[str]:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return [] if ended.returncode == 0 else [ended.stdout + ended.stderr]
