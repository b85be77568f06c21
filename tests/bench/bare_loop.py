"""The least that fetching by urllib3 takes: threads that read the bodies of URLs and, at most, store them.

`python -m tests.bench.bare_loop PROCESSES THREADS FILE [DIRECTORY]` reads the URLs of FILE by so many threads of each
process, and writes pages, seconds and seconds of processor time to stdout. With a directory, every exchange becomes the
two WARC records that the fetch step makes of it, in a file a process; nothing else that the step does is done.
"""

import multiprocessing
import queue
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import urllib3

from batchcrawl.model.exchange import Answer
from batchcrawl.store.warc_record import (
    exchange_fields,
    gzip_member,
    record_id,
    request_fields,
    response_fields,
    strict_head,
)

Keep = Callable[[str, urllib3.BaseHTTPResponse, bytes], None]
"""Takes URL, answer and body."""

_REQUEST_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\nUser-Agent: python-urllib3\r\n\r\n"


class Records:
    """A WARC file to which threads append, without the care for kills and failures that the fetch step takes."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._lock = threading.Lock()

    def write(self, url: str, response: urllib3.BaseHTTPResponse, body: bytes) -> None:
        """Store an exchange as a response and a request record."""
        now = time.time()
        head = "".join(f"{name}: {value}\r\n" for name, value in response.headers.items())
        answer = Answer(
            url=url,
            status=response.status,
            headers=(),
            request_head=_REQUEST_HEAD,
            response_head=f"HTTP/1.1 {response.status} OK\r\n{head}\r\n".encode("latin-1"),
            body=body,
            address="127.0.0.1",
            started_at=now,
            first_byte_at=now,
            ended_at=now,
        )
        ids = [record_id("bench", url, f"{now:.6f}", kind) for kind in ("response", "request")]
        common = exchange_fields(answer)
        fields = response_fields(answer, common=common, record_id=ids[0])
        main = gzip_member(fields, strict_head(answer.response_head), body)
        fields = request_fields(common=common, record_id=ids[1], concurrent_to=ids[0])
        request = gzip_member(fields, strict_head(answer.request_head))
        with self._lock:
            self._file.write(main + request)


def read_all(urls: list[str], *, threads: int, keep: Keep | None = None) -> None:
    """Read every URL once."""
    manager = urllib3.PoolManager(num_pools=1000, maxsize=threads)
    left: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    for url in [*urls, *([None] * threads)]:
        left.put(url)

    read: list[str] = []

    def work() -> None:
        while (url := left.get()) is not None:
            response = manager.request("GET", url, preload_content=False, decode_content=False)
            parts: list[bytes] = []
            while part := response.read(65536):
                parts.append(part)
            response.release_conn()
            if keep is not None:
                keep(url, response, b"".join(parts))
            if response.status == 200:
                read.append(url)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(read) == len(urls), f"{len(read)} of {len(urls)} pages"


def main(*, processes: int, threads: int, urls: list[str], directory: Path | None) -> tuple[float, float]:
    """Read the URLs by so many processes at once and return the seconds by the clock and of processors."""

    def share(number: int) -> None:
        keep = None if directory is None else Records(directory / f"bare-{number}.warc.gz").write
        read_all(urls[number::processes], threads=threads, keep=keep)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=share, args=(number,)) for number in range(processes)]
    started = time.monotonic()
    for child in children:
        child.start()
    for child in children:
        child.join()
    took_s = time.monotonic() - started
    assert not any(child.exitcode for child in children), "a process of the loop failed"
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took_s, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    count, each, file, *rest = sys.argv[1:]
    pages = Path(file).read_text(encoding="utf-8").split()
    print(
        len(pages),
        *main(processes=int(count), threads=int(each), urls=pages, directory=Path(rest[0]) if rest else None),
    )
