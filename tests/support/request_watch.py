"""Reads the request log of a synthetic web in spans that end at kills, and finds what was asked for twice."""

import http.client
import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment
from tests.support.webserver import WebServer

_MARK_HOST = "mark.test"
_ROBOTS_PATHS = ("/robots.txt", "/robots-moved.txt")


@dataclass
class Span:
    """The requests between two kills."""

    urls: Counter[str] = field(default_factory=Counter)
    logged: set[str] = field(default_factory=set)
    """The URLs whose outcomes were in the logs of the segment at the span's end."""


class RequestWatch:
    """The spans of one segment's requests, from now on."""

    def __init__(self, server: WebServer) -> None:
        self._server = server
        self._read = len(server.hits())
        self.spans: list[Span] = []

    def wait_for_requests(self, requests: int, process: "subprocess.Popen[str]", *, patience_s: float) -> None:
        """Wait until a command has sent so many requests in this span, has ended, or time is up."""
        end = time.monotonic() + patience_s
        while len(self._server.hits()) - self._read < requests and time.monotonic() < end:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.01)
                return

    def end_span(self, *segments: Segment | None) -> Span:
        """End a span: the last command, which worked on these segments, was killed or has ended.

        Every request that it sent is in the log now.
        """
        self._mark()
        hits = self._server.hits()
        urls = Counter(f"http://{hit.host}{hit.path}" for hit in hits[self._read :] if hit.host != _MARK_HOST)
        self._read = len(hits)
        self.spans.append(Span(urls, {url for s in segments if s is not None for url in logged_urls(s)}))
        return self.spans[-1]

    def faults(self, *, in_flight_max: int) -> list[str]:
        """Return what was asked for twice, those in flight at a kill left out: not yet logged, one a host."""
        found: list[str] = []
        for number, span in enumerate(self.spans):
            found += [f"{url} twice in span {number}" for url, times in span.urls.items() if times > 1]
            later = {url for other in self.spans[number + 1 :] for url in other.urls}
            again = span.urls.keys() & later
            found += [f"{url} again though it was logged in span {number}" for url in sorted(again & span.logged)]
            hosts = {url.split("/")[2] for url in again}
            if len(hosts) > in_flight_max or len([u for u in again if not u.endswith(_ROBOTS_PATHS)]) > in_flight_max:
                found.append(f"{len(again)} URLs of span {number} again, more than can be in flight: {sorted(again)}")
        return found

    def _mark(self) -> None:
        """Ask for something on one connection three times: what came before is read by then, and logged."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=30)
        for _ in range(3):
            connection.request("GET", "/mark", headers={"Host": _MARK_HOST})
            connection.getresponse().read()
        connection.close()


def logged_urls(segment: Segment) -> set[str]:
    """Return the URLs that have an outcome, and the robots.txt files that are known, in a segment's logs."""
    urls: set[str] = set()
    for p in range(segment.manifest.partitions):
        log, host_log = segment.paths.fetch_log(p), segment.paths.host_log(p)
        if log.exists():
            urls |= {line.url.partition("#")[0] for line in read_log(log, FetchLogLine)}
        if host_log.exists():
            for line in read_log(host_log, HostLogLine):
                urls |= {line.host + path for path in (_ROBOTS_PATHS if line.robots_hop is None else _ROBOTS_PATHS[:1])}
    return urls
