"""The command that shows a crawl live in a browser."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import click
import msgspec

from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import command_clock, opened_crawl
from batchcrawl.dashboard.access import TOKEN_CHARACTERS_MIN, Access, is_loopback
from batchcrawl.dashboard.server import Content, served
from batchcrawl.errors import CrawlError, UsageError
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.clock import Clock
from batchcrawl.watch import Live, Watcher

TOKEN_VARIABLE = "BATCHCRAWL_DASHBOARD_TOKEN"
DEFAULT_PLACE = "127.0.0.1:8620"
STOCK_EVERY_S = 10.0
"""The crawldb is counted again after so long, but no more than a twentieth of the time."""
LOOK_EVERY_S = 0.5
"""Who asks sooner gets what was told before."""


@click.command("dashboard")
@job_argument
@click.option("--listen", "place", default=DEFAULT_PLACE, metavar="HOST:PORT", help=f"Default: {DEFAULT_PLACE}.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A host name by which browsers may call it.")
@click.option("--token-file", type=click.Path(path_type=Path), metavar="FILE", help="Its first line is the token.")
def dashboard(job: str, place: str, names: tuple[str, ...], token_file: Path | None) -> None:
    """Show live in a browser how a crawl stands, until Ctrl-C.

    It only looks, beside whatever step is running. /state has the same as JSON, /metrics for Prometheus. Beyond this
    machine it wants a token, from --token-file or the variable BATCHCRAWL_DASHBOARD_TOKEN; browsers ask for it as a
    password, with any name, and scripts send it as `Authorization: Bearer TOKEN`. It speaks HTTP: put a proxy that
    speaks TLS before it where the network is not yours.

    \b
    Reads:   crawldb, manifests, fetch lists and logs of the segments
    Writes:  nothing
    Example: batchcrawl dashboard mysite --listen 127.0.0.1:8620
    Exit codes: 0 ended by Ctrl-C, 1 the port is taken, 2 wrong usage, 6 corrupt data
    """
    host, port = _host_and_port(place)
    access = Access(token=_token(host, token_file), names=frozenset(name.lower() for name in names))
    with opened_crawl(job) as crawl:
        views, stop = _Views(crawl, command_clock()), threading.Event()
        with _stopping(stop), _served((host, port), views, access) as bound:
            shown = f"[{host}]" if ":" in host else host
            click.echo(f"dashboard: http://{shown}:{bound}/", err=True)
            threading.Thread(target=views.count, args=(stop,), daemon=True).start()
            stop.wait()


class _Views:
    """What the server gives, made when somebody asks for it."""

    def __init__(self, crawl: Crawl, clock: Clock) -> None:
        self._crawl = crawl
        self._clock = clock
        self._watcher = Watcher(crawl)
        self._lock = threading.Lock()
        self._told: tuple[float, bytes] | None = None
        self._problem: str | None = None

    def state(self) -> bytes:
        """Return the state as JSON."""
        with self._lock:
            asked = time.monotonic()
            if self._told is None or asked - self._told[0] > LOOK_EVERY_S:
                self._told = asked, msgspec.json.encode(self._look())
            return self._told[1]

    def metrics(self) -> bytes:
        """Return it for Prometheus."""
        with self._lock:
            return self._watcher.metrics(now=self._clock.now()).encode()

    def count(self, stop: threading.Event) -> None:
        """Count the crawldb again and again."""
        pause_s = 0.0
        while not stop.wait(pause_s):
            begun = time.monotonic()
            try:
                self._watcher.take_stock(now=self._clock.now())
                self._problem = None
            except (CrawlError, OSError) as error:
                self._problem = str(error)
            pause_s = max(STOCK_EVERY_S, 19 * (time.monotonic() - begun))

    def _look(self) -> Live:
        now = self._clock.now()
        try:
            live = self._watcher.look(now=now)
        except (CrawlError, OSError) as error:  # a segment may be given up while it is looked at
            return Live(job=self._crawl.job.name, at=now, problem=str(error))
        live.problem = self._problem
        return live


@contextmanager
def _served(address: tuple[str, int], views: _Views, access: Access) -> Iterator[int]:
    contents = {
        "/state": Content("application/json", views.state),
        "/metrics": Content("text/plain; version=0.0.4; charset=utf-8", views.metrics),
    }
    with ExitStack() as stack:
        try:
            port = stack.enter_context(served(address, contents, access))
        except OSError as error:
            raise CrawlError(f"--listen {address[0]}:{address[1]}: {error.strerror or error}") from error
        yield port


@contextmanager
def _stopping(stop: threading.Event) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the wait."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _host_and_port(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"--listen {place}: it must be HOST:PORT, as {DEFAULT_PLACE} or [::1]:8620")
    return host, int(port)


def _token(host: str, file: Path | None) -> str | None:
    token = os.environ.get(TOKEN_VARIABLE) if file is None else _first_line(file)
    if token is None and not is_loopback(host):
        raise UsageError(f"--listen {host} is open to other machines: set {TOKEN_VARIABLE}, or name a --token-file")
    if token is not None and len(token) < TOKEN_CHARACTERS_MIN:
        raise UsageError(f"the token has less than {TOKEN_CHARACTERS_MIN} characters; make one: openssl rand -hex 16")
    return token


def _first_line(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return lines.readline(4096).strip()
