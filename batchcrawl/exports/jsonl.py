"""JSON lines: an object a page, fields that are absent left out."""

from collections.abc import Iterator

import msgspec

from batchcrawl.exports.output import Output
from batchcrawl.exports.rows import Row

_encode = msgspec.json.Encoder().encode


def write_jsonl(rows: Iterator[Row], out: Output) -> None:
    """Write a line for each row."""
    for row in rows:
        out.write(_encode(row) + b"\n")
