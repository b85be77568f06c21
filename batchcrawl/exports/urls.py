"""Plain lists: a URL a line."""

from collections.abc import Iterator

from batchcrawl.exports.output import Output
from batchcrawl.exports.rows import Item


def write_list(items: Iterator[Item], out: Output) -> None:
    """Write the canonical URL of each page, and of each tombstone."""
    for item in items:
        out.write(item.record.url.encode() + b"\n")
