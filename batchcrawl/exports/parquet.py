"""Parquet, compressed by zstd, with the extra `parquet`. Instants stand as numbers, as elsewhere; maps as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.exports.rows import FIELDS, Row
from batchcrawl.store.whole_file import WholeFile

_GROUP_ROWS_MAX = 10_000
_GROUP_BYTES = 64 << 20
"""Text of about so much makes a row group."""


def write_parquet(rows: Iterator[Row], fields: Sequence[str], out: WholeFile) -> None:
    """Write a row for each page, in groups. Raises UsageError where pyarrow is not there."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra, and a heavy one
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("--to parquet needs pyarrow; install batchcrawl[parquet]") from error
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), list: pa.list_(pa.string())}
    schema = pa.schema([(name, types.get(FIELDS[name].type, pa.string())) for name in fields])
    with parquet.ParquetWriter(pa.PythonFile(_Sink(out), mode="w"), schema, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append({name: _cell(value) for name, value in row.items()})
        size += len(row.get("text", ""))
        if len(group) == _GROUP_ROWS_MAX or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value


class _Sink:
    """The file as pyarrow wants it."""

    closed = False

    def __init__(self, out: WholeFile) -> None:
        self._out = out

    def write(self, data: Any) -> int:
        self._out.write(bytes(data))
        return len(data)

    def tell(self) -> int:
        return self._out.taken

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass
