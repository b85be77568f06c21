"""A web of a few answers by host and path, served from a thread of the test, which sees each request."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """One answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"<title>a page</title>"
    drop: bool = False
    """Close the connection and answer nothing."""


@dataclass
class ScriptedWeb:
    """Answers by URL; any other is not found."""

    answers: Mapping[str, Scripted]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """The URL of each request, in their order."""
    sent: list[dict[str, str]] = field(default_factory=list)
    """The header fields of each, by their names in lower case."""
    asked_at: list[float] = field(default_factory=list)
    """When each came, in seconds on the monotonic clock."""
    cookies: list[str | None] = field(default_factory=list)
    """What each had in its Cookie field."""
    connections: int = 0
    """How many were opened."""
    on_request: Callable[[str], None] = lambda url: None
    """Told of each request before it is answered."""


@contextmanager
def scripted_web(answers: Mapping[str, Scripted]) -> Iterator[ScriptedWeb]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    web = ScriptedWeb(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            web.connections += 1
            super().setup()

        def do_GET(self) -> None:
            url = f"http://{self.headers['Host']}{self.path}"
            web.asked.append(url)
            web.sent.append({name.lower(): value for name, value in self.headers.items()})
            web.asked_at.append(time.monotonic())
            web.cookies.append(self.headers["Cookie"])
            web.on_request(url)
            answer = web.answers.get(url, Scripted(status=404, body=b""))
            if answer.drop:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in {"Content-Type": "text/html", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        web.port = server.server_address[1]
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()
