"""CSV (RFC 4180) in UTF-8: a line of names, then one a page. Lists stand with spaces between, maps as JSON.

Control characters but tab and line feed become U+FFFD. A value may begin with `=`, `+`, `-` or `@`, which spreadsheets
take for a formula: it is written as it is, since an escape would change the data for all that read CSV otherwise.
"""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import msgspec

from batchcrawl.exports.output import Output
from batchcrawl.exports.rows import Row, plain


def write_csv(rows: Iterator[Row], fields: Sequence[str], out: Output, *, names: bool = True) -> None:
    """Write a line for each row, under one of the fields' names unless `names` are there already."""
    text = StringIO()
    writer = csv.writer(text)
    if names:
        writer.writerow(fields)
        out.write(_taken(text))
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in fields])
        out.write(_taken(text))


def _taken(text: StringIO) -> bytes:
    data = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return data


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return plain(" ".join(value))
    if isinstance(value, dict):
        return plain(msgspec.json.encode(value).decode())
    return plain(value) if isinstance(value, str) else str(int(value)) if isinstance(value, bool) else str(value)
