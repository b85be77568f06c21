"""The HTTP server of a dashboard: GET and HEAD of a few paths, each connection for one request, none for long."""

import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any

from batchcrawl import __version__
from batchcrawl.dashboard.access import Access

CONNECTIONS_MAX = 32
"""More are closed at once."""
REQUEST_S = 10.0
"""Longest time that one may be silent."""
CONNECTION_S = 60.0
"""Longest time for all of it."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TEXT = "text/plain; charset=utf-8"
_FILES = {"/": "page.html", "/dashboard.js": "page.js", "/dashboard.css": "page.css"}
_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css"}


@dataclass(frozen=True)
class Content:
    """What is at a path."""

    media_type: str
    give: Callable[[], bytes]


@contextmanager
def served(address: tuple[str, int], contents: Mapping[str, Content], access: Access) -> Iterator[int]:
    """Serve the page and `contents` by path until the block ends; give the port. Raises OSError where it may not."""
    server = _Server(address, {**_page(), **contents}, access)
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def _page() -> dict[str, Content]:
    folder = Path(__file__).parent
    return {path: _file(folder / name) for path, name in _FILES.items()}


def _file(path: Path) -> Content:
    data = path.read_bytes()
    return Content(_TYPES[path.suffix], lambda: data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = CONNECTIONS_MAX

    def __init__(self, address: tuple[str, int], contents: Mapping[str, Content], access: Access) -> None:
        self.contents = contents
        self.access = access
        self._room = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Take the place, without asking a name server for a name of it as HTTPServer does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread, if there is room for one more."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room; who takes too long is cut off, however often there is a sign of life."""
        deadline = threading.Timer(CONNECTION_S, _cut_off, (request,))
        deadline.daemon = True
        deadline.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            deadline.cancel()
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line what went wrong, unless whoever asked has just gone away."""
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"batchcrawl: dashboard: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201


def _cut_off(request: socket.socket) -> None:
    with suppress(OSError):  # it has just ended
        request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = REQUEST_S

    def version_string(self) -> str:
        """Return the Server field."""
        return f"batchcrawl/{__version__}"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Say nothing of requests, which have the token in them."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse in a line of plain text."""
        refusals = {501: (405, "only GET and HEAD", {"Allow": "GET, HEAD"})}
        status, text, more = refusals.get(code, (code, message or "refused", {}))
        self._send(status, _TEXT, f"{text}\n".encode(), more)

    def _answer(self) -> None:
        access = self.server.access
        if not access.knows_host(self.headers.get("Host")):
            self._send(421, _TEXT, b"the dashboard is not called so; --name NAME lets it be\n")
        elif not access.lets_in(self.headers.get("Authorization")):
            wanted = {"WWW-Authenticate": 'Basic realm="batchcrawl", charset="UTF-8"'}
            self._send(401, _TEXT, b"the token is wanted, as the password; any name will do\n", wanted)
        elif (content := self.server.contents.get(self.path.partition("?")[0])) is None:
            self._send(404, _TEXT, b"nothing is here\n")
        else:
            self._send(200, content.media_type, content.give())

    def _send(self, status: int, media_type: str, body: bytes, more: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        fields = {"Content-Type": media_type, "Content-Length": str(len(body)), "Connection": "close"}
        for name, value in {**fields, **_HEADERS, **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
