"""Connections that go only where they may, and note down what they carry."""

import errno
import io
import select
import socket
from collections.abc import Sequence
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection, HTTPSConnection

from batchcrawl.errors import CrawlError
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt, CurrentAttempt
from batchcrawl.net.failure import FetchError
from batchcrawl.net.guard import AddressGuard, is_address
from batchcrawl.net.names import StaticNames
from batchcrawl.net.proxy import SocksProxy
from batchcrawl.net.resolver import Resolver
from batchcrawl.net.response import RecordedResponse
from batchcrawl.net.source import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SocketOptions = list[tuple[int, int, int | bytes]]

_OWN_FAULTS = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
_CLOSED = frozenset((errno.EPIPE, errno.ECONNRESET, errno.EPROTOTYPE))


class Dialer:
    """Opens the sockets of all connections. The address judged is the address connected to."""

    def __init__(
        self,
        resolver: Resolver,
        guard: AddressGuard,
        names: StaticNames,
        *,
        current: CurrentAttempt,
        socks: SocksProxy | None = None,
    ) -> None:
        self._resolver = resolver
        self._guard = guard
        self._names = names
        self._current = current
        self._socks = socks

    @property
    def attempt(self) -> Attempt:
        """The attempt of this thread."""
        return self._current.attempt

    def connect(self, host: str, port: int, *, options: SocketOptions) -> tuple[socket.socket, str | None]:
        """Return a connected socket and its address, None where a proxy resolves the name. Raises FetchError.

        The addresses are tried in order; each gets its share of what is left of the connect timeout. By way of a
        SOCKS proxy, the proxy is told the address that was judged.
        """
        place = self._names.find(host)
        if place is None and self._is_resolved_elsewhere(host):
            return self._first_of([host], port, options)[0], None
        addresses = self._addresses(host, timeout_s=self._time_to_connect())
        port = port if place is None else place.port or port
        allowed = [address for address in addresses if self._guard.allows(address)]
        if not allowed:
            raise FetchError(FetchOutcome.ADDRESS_REFUSED, f"{host} is at {', '.join(addresses)}")
        return self._first_of(allowed, port, options)

    def first_address(self, host: str, *, timeout_s: float) -> str | None:
        """Return the address that a connection to a host tries first; None if it has none or a proxy resolves it."""
        if self._names.find(host) is None and self._is_resolved_elsewhere(host):
            return None
        try:
            addresses = self._addresses(host, timeout_s=timeout_s)
        except FetchError:
            return None
        return next((address for address in addresses if self._guard.allows(address)), None)

    def connect_proxy(self, host: str, port: int, *, options: SocketOptions) -> socket.socket:
        """Return a socket connected to the job's proxy, wherever that is. Raises FetchError."""
        addresses = self._resolver.resolve(host, timeout_s=self._time_to_connect())
        return self._first_of(addresses, port, options, directly=True)[0]

    def _is_resolved_elsewhere(self, host: str) -> bool:
        return self._socks is not None and self._socks.resolves_names and not is_address(host)

    def _addresses(self, host: str, *, timeout_s: float) -> Sequence[str]:
        place = self._names.find(host)
        return (place.address,) if place is not None else self._resolver.resolve(host, timeout_s=timeout_s)

    def _first_of(
        self, addresses: Sequence[str], port: int, options: SocketOptions, *, directly: bool = False
    ) -> tuple[socket.socket, str]:
        clock = self.attempt.clock
        end = clock.monotonic() + self._time_to_connect()
        problem = FetchError(FetchOutcome.TIMEOUT, f"no connection to {addresses[0]} port {port} in time")
        for number, address in enumerate(addresses):
            left = end - clock.monotonic()
            if left <= 0:
                break
            share_s = left / (len(addresses) - number)
            try:
                if self._socks is None or directly:
                    sock = _connect(address, port, timeout_s=share_s, options=options)
                else:
                    sock = self._connect_through(self._socks, address, port, timeout_s=share_s, options=options)
            except TimeoutError:
                continue
            except FetchError as error:
                problem = error
                continue
            except OSError as error:
                _blame_no_host(error)
                problem = FetchError(FetchOutcome.CONNECT_FAILED, f"{address} port {port}: {error.strerror or error}")
                continue
            # A TLS handshake comes next, under what is left of the same timeout.
            sock.settimeout(max(end - clock.monotonic(), 0.001))
            return sock, address
        raise problem

    def _connect_through(
        self, socks: SocksProxy, host: str, port: int, *, timeout_s: float, options: SocketOptions
    ) -> socket.socket:
        sock = self.connect_proxy(socks.host, socks.port, options=options)
        try:
            sock.settimeout(timeout_s)
            socks.open_through(sock, host, port)
        except BaseException:
            sock.close()
            raise
        return sock

    def _time_to_connect(self) -> float:
        return min(self.attempt.connect_timeout_s, self.attempt.time_left())


class Connection(HTTPConnection):
    """A connection of urllib3 that dials by the Dialer and speaks for itself: urllib3's own way costs twice as much."""

    def __init__(self, host: str, port: int | None = None, *, dialer: Dialer, **options: Any) -> None:
        super().__init__(host, port, **options)
        self._dialer = dialer
        self._peer: str | None = None
        self.response_class = self._reply_of_proxy  # type: ignore[assignment]  # called like the class

    @property
    def is_connected(self) -> bool:
        """Whether the open connection may be used again: nothing has come on it, not even its end."""
        if self.sock is None or self._dialer.attempt.fresh_only:
            return False
        come = select.poll()
        come.register(self.sock, select.POLLIN)
        return not come.poll(0)

    def ask(self, head: bytes) -> RecordedResponse:
        """Send the head of a request and read the head of its answer."""
        attempt, sock = self._dialer.attempt, self.sock
        attempt.request_head, attempt.address = head, self._peer
        timeout_s = min(attempt.read_timeout_s, attempt.time_left())
        if sock.gettimeout() != timeout_s:
            sock.settimeout(timeout_s)
        try:
            sock.sendall(head)
        except OSError as error:
            # A server may answer and close before it has read all.
            if error.errno not in _CLOSED:
                raise
        response = RecordedResponse(sock, attempt)
        response.begin()
        return response

    def _new_conn(self) -> socket.socket:
        self._dialer.attempt.connected = True
        options: SocketOptions = list(self.socket_options or [])
        if self.proxy is not None:
            return self._dialer.connect_proxy(self.host, self.port, options=options)
        sock, self._peer = self._dialer.connect(self.host, self.port, options=options)
        return sock

    def _reply_of_proxy(self, sock: socket.socket, debuglevel: int = 0, method: str | None = None) -> HTTPResponse:
        """Return the answer to a CONNECT, the one that http.client reads; it, too, comes within the limits."""
        reply = HTTPResponse(sock, method=method)
        reply.fp.close()
        reply.fp = io.BufferedReader(_Within(Source(sock, self._dialer.attempt)))
        return reply


class SecureConnection(Connection, HTTPSConnection):
    """The same over TLS."""


class _Within(io.RawIOBase):
    """A source as a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        data = self._source.some(len(view))
        view[: len(data)] = data
        return len(data)


def _connect(address: str, port: int, *, timeout_s: float, options: SocketOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        for option in options:
            sock.setsockopt(*option)
        sock.settimeout(timeout_s)
        sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return sock


def _blame_no_host(error: OSError) -> None:
    """Raise CrawlError for what this machine lacks, which ends the step where it can be taken up again."""
    if error.errno in _OWN_FAULTS:
        raise CrawlError(
            f"no connection can be opened: {error.strerror}; raise the limit of open files (ulimit -n) or lower "
            "fetch.threads, and run the same command again"
        ) from error
