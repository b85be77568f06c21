"""Serve a synthetic web to another program: `python -m batchcrawl.fakeweb '{"web": {...}, "serve": {...}}'`.

Writes the address as the only line of stdout, and ends with its standard input, so that no server outlives
the program that started it. People use `batchcrawl fakeweb`.
"""

import sys
from dataclasses import dataclass, field

import msgspec

from batchcrawl.errors import CrawlError, UsageError
from batchcrawl.fakeweb.server import ServeSettings, serve
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.model.clock import SystemClock


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The one argument."""

    web: WebSpec = field(default_factory=WebSpec)
    serve: ServeSettings = field(default_factory=ServeSettings)


def main(arguments: list[str]) -> int:
    """Serve until the standard input ends, and return the exit code."""
    try:
        invocation = _read(arguments)
        web = FakeWeb(invocation.web)
        serve(web, invocation.serve, clock=SystemClock(), ready=_announce, stop_fd=sys.stdin.fileno())
    except CrawlError as error:
        sys.stderr.write(f"fakeweb: {error}\n")
        return int(error.exit_code)
    return 0


def _read(arguments: list[str]) -> Invocation:
    try:
        return msgspec.json.decode(arguments[0] if arguments else "{}", type=Invocation)
    except msgspec.DecodeError as error:
        raise UsageError(f"the argument is not what it should be: {error}") from error


def _announce(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
