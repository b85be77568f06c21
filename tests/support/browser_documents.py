"""Pages to put before a browser: sampled from documentation packages, or cases from a file; and a server of them."""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

HOST = "pages.test"
"""Name under which the documents are served."""


@dataclass(frozen=True)
class Document:
    """A page as it is served."""

    url: str
    body: bytes
    content_type: str = "text/html"


def sampled(package: str, count: int) -> list[Document]:
    """Return that many HTML files of a Debian package, always the same ones; an empty list where it is not there."""
    files = sorted(_html_files(package), key=lambda path: sha1(str(path).encode()).digest())
    return [Document(f"http://{HOST}{quote(str(path))}", path.read_bytes()) for path in files[:count]]


def _html_files(package: str) -> list[Path]:
    try:
        listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return []
    paths = map(Path, listed.splitlines())
    # apache2-doc names language and charset behind, as index.html.ko.euc-kr.
    return [path for path in paths if {".html", ".htm"} & set(path.suffixes) and path.is_file()]


@contextmanager
def serving(documents: Sequence[Document]) -> Iterator[int]:
    """Serve documents on loopback until the block ends, whatever host is asked for; yields the port."""
    by_path = {document.url.removeprefix(f"http://{HOST}"): document for document in documents}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            document = by_path.get(self.path)
            self.send_response(200 if document else 404)
            self.send_header("Content-Length", str(len(document.body) if document else 0))
            if document:
                self.send_header("Content-Type", document.content_type)
            self.end_headers()
            if document:
                self.wfile.write(document.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()
