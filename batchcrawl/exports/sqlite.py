"""SQLite: a table `pages`, with full-text search over title and text where they are among the fields.

    SELECT url FROM pages WHERE rowid IN (SELECT rowid FROM pages_fts WHERE pages_fts MATCH 'words');

The table of the search holds no text of its own (SQLite, "External Content Tables"), and the name by which Datasette
finds it. Lists and maps stand as JSON; control characters but tab and line feed become U+FFFD.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from batchcrawl.errors import CrawlError, DiskFull
from batchcrawl.exports.rows import FIELDS, Row, plain
from batchcrawl.store.disk import Disk
from batchcrawl.store.whole_file import lock_temporary

_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER", list: "TEXT", dict: "TEXT"}
_SEARCHED = ("title", "text")
_ROWS_AT_ONCE = 200
_CACHE_KIB = 16_384


def write_sqlite(rows: Iterator[Row], fields: Sequence[str], path: Path, disk: Disk) -> None:
    """Write a database of the rows, which appears whole; a file of that name is replaced."""
    held = lock_temporary(disk, path)
    try:
        with _told(path), closing(sqlite3.connect(held.path, isolation_level=None)) as db:
            _fill(db, rows, fields)
        disk.truncate(held.path, held.path.stat().st_size)
        disk.rename(held.path, path)
    except BaseException:
        disk.remove(held.path)
        raise
    finally:
        held.close()


def _fill(db: sqlite3.Connection, rows: Iterator[Row], fields: Sequence[str]) -> None:
    # What is cut off is thrown away, so SQLite need not be able to roll back.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{_CACHE_KIB}"):
        db.execute(f"PRAGMA {pragma}")
    columns = ", ".join(f'"{name}" {_TYPES[FIELDS[name].type]}' for name in fields)
    db.execute(f"CREATE TABLE pages ({columns})")
    insert = f"INSERT INTO pages VALUES ({', '.join('?' * len(fields))})"
    while part := list(islice(rows, _ROWS_AT_ONCE)):
        db.executemany(insert, [[_cell(row.get(name)) for name in fields] for row in part])
    for name in ("url", "host"):
        if name in fields:
            db.execute(f'CREATE INDEX pages_{name} ON pages ("{name}")')
    searched = ", ".join(name for name in _SEARCHED if name in fields)
    if searched:
        db.execute(f'CREATE VIRTUAL TABLE pages_fts USING fts5 ({searched}, content="pages")')
        db.execute("INSERT INTO pages_fts (pages_fts) VALUES ('rebuild')")


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return msgspec.json.encode(value).decode()
    return plain(value) if isinstance(value, str) else value


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise DiskFull(f"no space left to write {path}; make space and run the same command again") from error
        raise CrawlError(f"{path}: SQLite: {error}") from error
