"""A server that sends scripted bytes, for answers that no well-behaved server would give."""

import contextlib
import itertools
import socket
import ssl
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tests.support.listener import Listener


@dataclass(frozen=True)
class Drip:
    """Sends the bytes one by one, so many times over, or until the client has had enough."""

    data: bytes
    interval_s: float = 0.01
    times: int | None = None


class Act(Enum):
    """What a script does beside sending bytes."""

    READ = "read another request"
    TLS = "turn to TLS, as behind a CONNECT"
    HANG = "say nothing until the client goes"
    RESET = "break the connection with a TCP reset"


_TLS_HANDSHAKE = b"\x16"
"""Begins what a client sends that wants TLS; all of a request that a server without it can read."""

Step = bytes | Drip | Act


class RawServer(Listener):
    """Serves on a loopback address: the n-th connection gets the n-th script, further ones the last.

    A script starts when a request head has come, or any bytes where that is wanted, and the connection closes at its
    end.
    """

    def __init__(
        self,
        *scripts: Sequence[Step],
        tls: ssl.SSLContext | None = None,
        tls_at_once: bool = True,
        any_bytes: bool = False,
        address: str = "127.0.0.1",
    ) -> None:
        super().__init__(address=address)
        self._scripts = scripts
        self._tls = tls
        self._tls_at_once = tls is not None and tls_at_once
        self._head_end = b"" if any_bytes else b"\r\n\r\n"
        self.requests: list[bytes] = []
        self.connections = 0

    @property
    def url(self) -> str:
        """The URL of its root."""
        return f"{'https' if self._tls_at_once else 'http'}://127.0.0.1:{self.port}/"

    def _accepted(self, sock: socket.socket) -> None:
        script = self._scripts[min(self.connections, len(self._scripts) - 1)]
        self.connections += 1
        self._start(self._serve, sock, script)

    def _serve(self, sock: socket.socket, script: Sequence[Step]) -> None:
        sock.settimeout(5)
        with contextlib.suppress(OSError):
            if self._tls_at_once:
                sock = self._to_tls(sock)
            self._read(sock)
            for step in script:
                if step is Act.TLS:
                    sock = self._to_tls(sock)
                else:
                    self._act(sock, step)
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            sock.close()

    def _to_tls(self, sock: socket.socket) -> socket.socket:
        assert self._tls is not None
        return self._tls.wrap_socket(sock, server_side=True)

    def _act(self, sock: socket.socket, step: Step) -> None:
        if isinstance(step, bytes):
            sock.sendall(step)
        elif isinstance(step, Drip):
            self._drip(sock, step)
        elif step is Act.READ:
            self._read(sock)
        elif step is Act.HANG:
            while not self._stop.is_set() and sock.recv(4096):
                pass
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()

    def _drip(self, sock: socket.socket, drip: Drip) -> None:
        for _ in itertools.count() if drip.times is None else range(drip.times):
            for number in range(len(drip.data)):
                if self._stop.wait(drip.interval_s):
                    return
                sock.sendall(drip.data[number : number + 1])

    def _read(self, sock: socket.socket) -> None:
        head = b""
        while not head or (self._head_end not in head and not head.startswith(_TLS_HANDSHAKE)):
            data = sock.recv(65536)
            if not data:
                raise ConnectionError("the client went away")
            head += data
        self.requests.append(head)
