"""A synthetic web in a process of its own, for the length of a test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from batchcrawl.fakeweb.__main__ import Invocation
from batchcrawl.fakeweb.server import ServeSettings
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Hit:
    """A line of the request log."""

    at: float
    host: str
    path: str
    status: int
    client_port: int


@dataclass(frozen=True, kw_only=True)
class WebServer:
    """A running server."""

    address: str
    """As `http://127.0.0.1:43210`: the job's proxy, or a base for the name table."""
    port: int
    web: FakeWeb
    """The web that it serves, for what each URL must answer."""
    log: Path | None = field(default=None)

    def hits(self) -> list[Hit]:
        """Return every request so far."""
        assert self.log is not None, "the server was started without a log"
        whole, _, _ = self.log.read_bytes().rpartition(b"\n")  # the last line may be under way
        return [msgspec.json.decode(line, type=Hit) for line in whole.splitlines()]


@contextmanager
def serving(
    spec: WebSpec,
    *,
    log: Path | None = None,
    at: float | None = None,
    speed: float | None = None,
    latency_s: float = 0.0,
    workers: int = 1,
) -> Iterator[WebServer]:
    """Serve a web until the block ends. `at` is the web's instant, which then stands still."""
    settings = ServeSettings(
        log=None if log is None else str(log), clock_at=at, speed=speed, latency_s=latency_s, workers=workers
    )
    argument = msgspec.json.encode(Invocation(web=spec, serve=settings)).decode()
    process = subprocess.Popen(
        [sys.executable, "-m", "batchcrawl.fakeweb", argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,  # a test that kills its own process group does not take the server along
    )
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, f"the server did not start; its exit code is {process.wait()}"
        try:
            yield WebServer(address=address, port=int(address.rpartition(":")[2]), web=FakeWeb(spec), log=log)
        finally:
            process.terminate()
