"""A process that has the program loaded and forks for each command, since to start an interpreter costs most of a test.

The commands have small batches and frequent syncs, so that a small crawl has many commit acts; they run in a session
of their own, and are killed after a minute.
"""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

import batchcrawl.engine.crew
import batchcrawl.exports.place
import batchcrawl.exports.sqlite
import batchcrawl.fetch
import batchcrawl.generate
import batchcrawl.inject
import batchcrawl.net.incoming
import batchcrawl.store.changing
import batchcrawl.store.failpoints
import batchcrawl.update
from batchcrawl.cli import main
from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.store.failpoints import parse_failpoint
from tests.support.webserver import ROOT

TIMEOUT_S = 60


class Order(msgspec.Struct):
    """A command to run."""

    words: list[str]
    cwd: str
    at: int
    """The instant at which its clock stands still."""
    failpoint: str | None = None


@dataclass(frozen=True)
class Ended:
    """A command that has ended, and all of its processes with it."""

    code: int
    """As of subprocess: minus the number of the signal that killed it."""
    said: str
    """What it wrote to stdout and stderr."""


class _Reply(msgspec.Struct):
    code: int
    said: str


class Warm:
    """Runs commands one after the other in forks of one process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, *words: str, cwd: Path, at: int, failpoint: str | None = None) -> Ended:
        """Run a command and return once none of its processes is left."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(Order(list(words), str(cwd), at, failpoint)) + b"\n")
        self._process.stdin.flush()
        reply = msgspec.json.decode(self._process.stdout.readline(), type=_Reply)
        return Ended(reply.code, reply.said)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _make_batches_small() -> None:
    batchcrawl.inject.CHUNK_SEEDS = 8
    batchcrawl.store.changing.BATCH_URLS = 16
    for step in (batchcrawl.generate, batchcrawl.update):  # so that a disk is full in the middle of a step
        vars(step)["URL_BYTES"] = 0
    batchcrawl.update.BATCH_EVENTS = 16
    batchcrawl.fetch.SYNC_S = 0.0
    batchcrawl.engine.crew.TICK_S = 0.02
    batchcrawl.net.incoming.HELD_BYTES_MAX = 1000
    batchcrawl.exports.place.KEPT_EVERY_BYTES = 8_000
    batchcrawl.exports.sqlite.KEPT_EVERY_ROWS = 20


def _serve() -> None:
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        read_end, write_end = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(read_end)
            _obey(order, write_end)
        os.close(write_end)
        with open(read_end, "rb") as pipe:
            said = pipe.read()  # ends with the last process that has it
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        sys.stdout.buffer.write(msgspec.json.encode(_Reply(code, said.decode())) + b"\n")
        sys.stdout.buffer.flush()


def _obey(order: Order, write_end: int) -> None:
    os.setsid()
    signal.alarm(TIMEOUT_S)
    os.chdir(order.cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(write_end, 1)
    os.dup2(write_end, 2)
    os.close(write_end)
    os.environ[CLOCK_VARIABLE] = str(order.at)
    batchcrawl.store.failpoints._armed = parse_failpoint(order.failpoint)
    try:
        main(order.words)
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))


if __name__ == "__main__":
    _make_batches_small()
    _serve()
