"""The servers that are crawled: equal files from nginx under any host name, and synthetic webs rendered in advance."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batchcrawl.fakeweb.__main__ import Invocation
from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.server import ServeSettings
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.web import FakeWeb
from tests.support.nginx import Site
from tests.support.nginx import serving as serving_sites
from tests.support.webserver import ROOT

PAGE_BYTES = 25_000
LINKS = 38
_EVERY_HOST = "~."
_AT = 1_790_000_000.0


@dataclass(frozen=True)
class Files:
    """Pages that nginx serves under every host name."""

    place: str
    """Address and port."""
    hosts: int
    pages: int

    def urls(self) -> Iterator[str]:
        """Return the URL of every page of every host."""
        return (f"http://h{host:04d}.test/p{page}.html" for page in range(self.pages) for host in range(self.hosts))


@contextmanager
def nginx_files(directory: Path, *, hosts: int, pages: int) -> Iterator[Files]:
    """Serve `pages` HTML files of 25 KB with 38 links from nginx until the block ends. Raises NginxFailed."""
    web = FakeWeb(WebSpec(hosts=1, pages=pages, page_bytes=PAGE_BYTES, links=LINKS, faults=frozenset()))
    root = directory / "files"
    root.mkdir(parents=True)
    directory.chmod(0o755)  # nginx, started by root, reads files as somebody else
    for page in range(pages):
        (root / f"p{page}.html").write_bytes(web.resource_answer(Resource(0, Kind.PAGE, page), _AT).body)
    with serving_sites([Site(host=_EVERY_HOST, root=root)]) as nginx:
        yield Files(f"127.0.0.1:{nginx.port}", hosts, pages)


@contextmanager
def warm_web(spec: WebSpec, *, latency_s: float = 0.0) -> Iterator[str]:
    """Serve a synthetic web whose pages are all rendered before, until the block ends; yield its address:port."""
    room = 2 * (spec.pages or 0) * (spec.page_bytes + 2_000)
    settings = ServeSettings(latency_s=latency_s, clock_at=_AT, warm=True, cache_bytes=room)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "batchcrawl.fakeweb",
            msgspec.json.encode(Invocation(web=spec, serve=settings)).decode(),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, f"the synthetic web did not start; its exit code is {process.wait()}"
            yield address.removeprefix("http://")
        finally:
            process.terminate()
