"""SQLite: a table `pages`, with full-text search over title and text where they are among the fields.

    SELECT url FROM pages WHERE rowid IN (SELECT rowid FROM pages_fts WHERE pages_fts MATCH 'words');

The table of the search holds no text of its own (SQLite, "External Content Tables"), and the name by which Datasette
finds it. Lists and maps stand as JSON; control characters but tab and line feed become U+FFFD.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from batchcrawl.errors import CrawlError, DiskFull, Interrupted
from batchcrawl.exports.place import Place
from batchcrawl.exports.rows import FIELDS, Row, plain
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.whole_file import lock_temporary, temporary

KEPT_EVERY_ROWS = 5000
"""So many rows are committed at once."""
_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER", list: "TEXT", dict: "TEXT"}
_SEARCHED = ("title", "text")
_CACHE_KIB = 16_384


class Table:
    """The database of an export under its temporary name, which other processes are kept from. A context.

    It holds the place of its last commit, so that an export that is cut goes on there, also after SIGKILL.
    """

    def __init__(self, path: Path, fields: Sequence[str], disk: Disk, key: str) -> None:
        self.path = path
        self._fields = fields
        self._disk = disk
        self._key = key
        self._rows = 0
        self._is_kept = False
        written = temporary(path)
        self._held = lock_temporary(disk, path, kept_bytes=written.stat().st_size if written.exists() else 0)
        try:
            with _told(path):
                self._db, self.kept = self._opened()
                self._is_kept = self.kept is not None
        except BaseException:
            self._held.close()
            raise

    def __enter__(self) -> "Table":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()  # what is not committed is rolled back
        if error is not None and not (self._is_kept and isinstance(error, Interrupted)):
            self._disk.remove(self._held.path)
        self._held.close()

    def write(self, rows: Iterator[Row]) -> None:
        """Write all rows that are left, the indexes of the columns, and the search; then the database has its name."""
        insert = f"INSERT INTO pages VALUES ({', '.join('?' * len(self._fields))})"
        with _told(self.path):
            for row in rows:
                self._db.execute(insert, [_cell(row.get(name)) for name in self._fields])
                self._rows += 1
            self._end()
            self._db.close()
        self._disk.truncate(self._held.path, self._held.path.stat().st_size)
        self._disk.rename(self._held.path, self.path)
        self._held.close()

    def reach(self, place: Place) -> None:
        """Commit all before a place if many rows have come since the last."""
        if self._rows < KEPT_EVERY_ROWS:
            return
        self._rows = 0
        self._keep(place)

    def _opened(self) -> tuple[sqlite3.Connection, Place | None]:
        """Return the database, empty unless it is of the same export, and the place that it holds."""
        path = self._held.path
        db = sqlite3.connect(path, isolation_level=None)
        place = self._place_in(db)
        if place is None:
            db.close()
            self._held.truncate(0)
            if (journal := path.with_name(path.name + "-journal")).exists():
                self._disk.remove(journal)
            db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("temp_store = FILE", f"cache_size = -{_CACHE_KIB}"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN")
        if place is None:
            columns = ", ".join(f'"{name}" {_TYPES[FIELDS[name].type]}' for name in self._fields)
            db.execute(f"CREATE TABLE pages ({columns})")
            db.execute("CREATE TABLE export_place (key, place)")
        return db, place

    def _place_in(self, db: sqlite3.Connection) -> Place | None:
        """Return the place of the same export, if the file is a database that has it."""
        try:
            key, place = db.execute("SELECT key, place FROM export_place").fetchone() or (None, b"")
            return msgspec.json.decode(place, type=Place) if key == self._key else None
        except (sqlite3.DatabaseError, msgspec.MsgspecError):
            return None

    def _keep(self, place: Place) -> None:
        with _told(self.path):
            self._db.execute("DELETE FROM export_place")
            self._db.execute("INSERT INTO export_place VALUES (?, ?)", (self._key, msgspec.json.encode(place)))
            self._db.execute("COMMIT")
            failpoint("export.kept")
            self._db.execute("BEGIN")
        self._is_kept = True

    def _end(self) -> None:
        for name in ("url", "host"):
            if name in self._fields:
                self._db.execute(f'CREATE INDEX pages_{name} ON pages ("{name}")')
        searched = ", ".join(name for name in _SEARCHED if name in self._fields)
        if searched:
            self._db.execute(f'CREATE VIRTUAL TABLE pages_fts USING fts5 ({searched}, content="pages")')
            self._db.execute("INSERT INTO pages_fts (pages_fts) VALUES ('rebuild')")
        self._db.execute("DROP TABLE export_place")
        self._db.execute("COMMIT")


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
