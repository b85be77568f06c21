"""The synthetic web on a loopback port: HTTP/1.1 with keep-alive, as an origin server and as a proxy."""

import asyncio
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

from batchcrawl.errors import CrawlError, UsageError
from batchcrawl.fakeweb.desk import Desk, RequestLog, WebClock
from batchcrawl.fakeweb.truth import resources
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.fakeweb.wire import HEAD_BYTES_MAX, Request, parse_head
from batchcrawl.model.clock import Clock

_ADDRESS = "127.0.0.1"
_BACKLOG = 512
_HEAD_END = b"\r\n\r\n"
_WORKERS_MAX = 64


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """How the web is served. Nothing here changes what a page is at an instant."""

    port: int = 0
    """The loopback port; 0 takes a free one."""
    workers: int = 1
    """Processes that serve at once."""
    latency_s: float = 0.0
    """A wait before each answer."""
    log: str | None = None
    """A file to which each request is appended as a JSON line, at once."""
    clock_at: float | None = None
    """The web's instant at the start, in seconds since 1970 UTC; None is now. It stands still unless speed is given."""
    speed: float | None = None
    """How many seconds pass in the web for one of ours; None is 0 with `clock_at`, else 1."""
    cache_bytes: int = 256_000_000
    """How many bytes of finished answers each process keeps."""
    warm: bool = False
    """Render every reachable page before the first request, as far as the cache goes."""


def serve(
    web: FakeWeb, settings: ServeSettings, *, clock: Clock, ready: Callable[[str], None], stop_fd: int | None = None
) -> None:
    """Answer requests until SIGINT or SIGTERM, or until the end of file on `stop_fd`.

    `ready` is called once with the address, as `http://127.0.0.1:43210`, when connections are accepted.
    Raises CrawlError when the port is taken, UsageError for settings that cannot be.
    """
    _check(web, settings)
    with ExitStack() as stack:
        sockets = _listen(settings, stack)
        log = None if settings.log is None else stack.enter_context(RequestLog(settings.log, clock))
        web_clock = WebClock(clock, at=settings.clock_at, speed=settings.speed)
        desk = Desk(web, now=web_clock.now, log=log, latency_s=settings.latency_s, cache_bytes=settings.cache_bytes)
        if settings.warm:
            desk.warm(resources(web))
        stack.enter_context(_Workers(desk, sockets[1:]))
        address = f"http://{_ADDRESS}:{sockets[0].getsockname()[1]}"
        asyncio.run(_serve_socket(desk, sockets[0], stop_fd, ready=lambda: ready(address)))


def _check(web: FakeWeb, settings: ServeSettings) -> None:
    if not 1 <= settings.workers <= _WORKERS_MAX:
        raise UsageError(f"workers must be from 1 to {_WORKERS_MAX}, not {settings.workers}")
    if not 0 <= settings.port <= 65_535:
        raise UsageError(f"a port is a number from 0 to 65535, not {settings.port}")
    if settings.latency_s < 0 or (settings.speed is not None and settings.speed < 0):
        raise UsageError("latency and speed must not be negative")
    if settings.warm and web.spec.endless:
        raise UsageError("an endless web cannot be rendered before it is served; leave out --warm or --endless")


def _listen(settings: ServeSettings, stack: ExitStack) -> list[socket.socket]:
    # Each worker has a socket of its own on the one port: the kernel shares out the connections.
    sockets: list[socket.socket] = []
    for _ in range(settings.workers):
        port = sockets[0].getsockname()[1] if sockets else settings.port
        sock = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if settings.workers > 1:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            sock.bind((_ADDRESS, port))
        except OSError as error:
            raise CrawlError(f"cannot listen on {_ADDRESS}:{port}: {error.strerror}; choose another --port") from error
        sock.listen(_BACKLOG)
        sockets.append(sock)
    return sockets


class _Workers:
    """The other processes. Each ends by signal, or when this process is gone and its pipe with it."""

    def __init__(self, desk: Desk, sockets: list[socket.socket]) -> None:
        self._read_end, self._write_end = os.pipe()
        context = multiprocessing.get_context("fork")
        self._processes = [context.Process(target=self._work, args=(desk, sock), daemon=True) for sock in sockets]
        self._sockets = sockets

    def __enter__(self) -> None:
        for process in self._processes:
            process.start()
        for sock in self._sockets:
            sock.close()

    def __exit__(self, *_: object) -> None:
        os.close(self._write_end)
        for process in self._processes:
            process.join()
        os.close(self._read_end)

    def _work(self, desk: Desk, sock: socket.socket) -> None:
        os.close(self._write_end)
        for other in self._sockets:
            if other is not sock:
                other.close()
        asyncio.run(_serve_socket(desk, sock, self._read_end, ready=lambda: None))


async def _serve_socket(desk: Desk, sock: socket.socket, stop_fd: int | None, *, ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if stop_fd is not None:
        loop.add_reader(stop_fd, _stop_at_end, stop_fd, stopped)
    connections: set[_Connection] = set()
    server = await loop.create_server(lambda: _Connection(desk, loop, connections), sock=sock, backlog=_BACKLOG)
    ready()
    await stopped.wait()
    server.close()
    for connection in list(connections):
        connection.abort()


def _stop_at_end(fd: int, stopped: asyncio.Event) -> None:
    if not os.read(fd, 4096):
        asyncio.get_running_loop().remove_reader(fd)
        stopped.set()


class _Connection(asyncio.Protocol):
    """One connection: requests are answered one after the other, in order."""

    def __init__(self, desk: Desk, loop: asyncio.AbstractEventLoop, connections: "set[_Connection]") -> None:
        self._desk = desk
        self._loop = loop
        self._connections = connections
        self._received = bytearray()
        self._waiting = False
        self._transport: asyncio.Transport | None = None
        self._client_port = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._client_port = transport.get_extra_info("peername")[1]
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._connections.discard(self)

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._answer_next()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _answer_next(self) -> None:
        while not self._waiting and self._transport is not None and not self._transport.is_closing():
            end = self._received.find(_HEAD_END)
            if end < 0 or end > HEAD_BYTES_MAX:
                if len(self._received) > HEAD_BYTES_MAX:
                    self._refuse(431)
                return
            head = bytes(self._received[:end])
            del self._received[: end + len(_HEAD_END)]
            request = parse_head(head)
            if request is None:
                self._refuse(400)
                return
            self._answer(request)

    def _answer(self, request: Request) -> None:
        reply = self._desk.reply(request, self._client_port)
        if reply.delay_s:
            self._waiting = True
            self._loop.call_later(reply.delay_s, self._send_late, reply.data, reply.close)
        else:
            self._send(reply.data, close=reply.close)

    def _send_late(self, data: bytes, close: bool) -> None:
        self._waiting = False
        self._send(data, close=close)
        self._answer_next()

    def _send(self, data: bytes, *, close: bool) -> None:
        if self._transport is not None:
            self._transport.write(data)
            if close:
                self._transport.close()

    def _refuse(self, status: int) -> None:
        self._send(self._desk.refusal(status), close=True)
