"""Crawl databases for tests: records and hosts in a few words, and LevelDB itself to damage one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import plyvel

from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import Place
from batchcrawl.store.crawldb import Batch, CrawlDb, Entry


def fp(host: int, url: int) -> bytes:
    """Return the fingerprint of URL number `url` of host number `host`."""
    return host.to_bytes(8, "big") + url.to_bytes(8, "big")


def record(host: int = 1, url: int = 1, **facts: Any) -> UrlRecord:
    """Return the record of that URL, ready unless told otherwise."""
    return UrlRecord(f"http://host{host}.example/{url}", **{"place": Place.READY, "next_fetch_at": 600, **facts})


def enter(batch: Batch, host: int, url: int, **facts: Any) -> Entry:
    """Put that URL into a batch as a new one, and its host with it."""
    entry = Entry.new(fp(host, url), record(host, url, **facts))
    name = f"host{host}.example"
    batch.enter_host(entry.host_part, HostRecord(host=f"http://{name}", domain=name))
    batch.put(entry)
    return entry


def filled(path: Path, *urls: tuple[int, int, dict[str, Any]]) -> CrawlDb:
    """Return a new database that holds URLs, each as host, number and facts."""
    db = CrawlDb(path, create=True)
    batch = db.batch()
    for host, url, facts in urls:
        enter(batch, host, url, **facts)
    batch.commit()
    return db


@contextmanager
def leveldb(path: Path) -> Iterator[Any]:
    """Open the LevelDB of a closed database."""
    db = plyvel.DB(str(path))
    yield db
    db.close()
