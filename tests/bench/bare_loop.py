"""The least that fetching by urllib3 takes: threads that read the bodies of URLs and do nothing with them.

`python -m tests.bench.bare_loop THREADS FILE` reads the URLs of FILE, and writes pages and seconds to stdout.
"""

import queue
import sys
import threading
import time
from pathlib import Path

import urllib3


def read_all(urls: list[str], *, threads: int) -> float:
    """Read every URL once and return the seconds that it took."""
    manager = urllib3.PoolManager(num_pools=1000, maxsize=threads)
    left: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    for url in [*urls, *([None] * threads)]:
        left.put(url)

    read: list[str] = []

    def work() -> None:
        while (url := left.get()) is not None:
            response = manager.request("GET", url, preload_content=False, decode_content=False)
            while response.read(65536):
                pass
            response.release_conn()
            if response.status == 200:
                read.append(url)

    started = time.monotonic()
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(read) == len(urls), f"{len(read)} of {len(urls)} pages"
    return time.monotonic() - started


if __name__ == "__main__":
    pages = Path(sys.argv[2]).read_text(encoding="utf-8").split()
    print(len(pages), read_all(pages, threads=int(sys.argv[1])))
