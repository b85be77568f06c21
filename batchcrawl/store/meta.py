"""Meta entries of a partition, which hold JSON."""

from typing import TypeVar

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.reading import ADVICE

Value = TypeVar("Value")


def read_meta(db: CrawlDb, name: str, kind: type[Value]) -> Value | None:
    """Return the value of a meta entry, or None where there is none. Raises CorruptData for what is no such value."""
    data = db.meta(name)
    try:
        return None if data is None else msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{db.path}: {name}: {error}; {ADVICE}") from error
