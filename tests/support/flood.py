"""A server of large bodies that all come at once: none of them ends before all the others have nearly come."""

import contextlib
import socket
import threading

from batchcrawl.model.digest import digest_of
from tests.support.listener import Listener

PATIENCE_S = 60.0
_SEND_BUFFER_BYTES = 64 * 1024
_LINE = b"<p>Of these lines there are very many, and each of them is like the one before it.</p>\n"
_PIECE = _LINE * 700
_NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Flood(Listener):
    """Answers every page with `body_bytes` bytes, `at_once` of them at the same time; there is no robots.txt."""

    def __init__(self, *, body_bytes: int, at_once: int) -> None:
        super().__init__(backlog=at_once)
        self._body_bytes = body_bytes
        self._all_sent = threading.Barrier(at_once)

    @property
    def digest(self) -> str:
        """Return the digest of the body of every page."""
        return digest_of(self._pieces())

    def _accepted(self, sock: socket.socket) -> None:
        # A large buffer would hold what the client has not read.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        sock.settimeout(PATIENCE_S)
        with contextlib.suppress(OSError), sock:
            while request := sock.recv(65536):
                if request.startswith(b"GET /robots.txt "):
                    sock.sendall(_NO_ROBOTS)
                else:
                    self._send_page(sock)

    def _send_page(self, sock: socket.socket) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {self._body_bytes}\r\n\r\n"
        sock.sendall(head.encode())
        *most, last = self._pieces()
        for piece in most:
            sock.sendall(piece)
        with contextlib.suppress(threading.BrokenBarrierError):
            self._all_sent.wait(PATIENCE_S)
        sock.sendall(last)

    def _pieces(self) -> list[bytes]:
        whole, rest = divmod(self._body_bytes, len(_PIECE))
        return [_PIECE] * whole + [_PIECE[:rest]]
