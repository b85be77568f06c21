import subprocess
import sys
from pathlib import Path

import pytest

from batchcrawl.store.leveldb_manifest import next_file_number

_MAKER = """
import sys
import plyvel
db = plyvel.DB(sys.argv[1], create_if_missing=True, write_buffer_size=1 << 16, max_file_size=1 << 20)
for number in range(600):
    db.put(b"%06d" % (number * 7919 % 601) + b"k" * (40_000 if number % 50 == 0 else 10), b"v" * 2000)
db.compact_range()  # else unfinished tables are left, which do not count
db.close()
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of many tables, some of whose keys are too long for one block of its manifest."""
    path = tmp_path_factory.mktemp("db") / "db"
    # In a process of its own: a thread that LevelDB has started there would be missing in processes forked from here.
    subprocess.run([sys.executable, "-c", _MAKER, str(path)], check=True)
    return path


def manifest_of(database: Path) -> bytes:
    (path,) = database.glob("MANIFEST-*")
    return path.read_bytes()


def test_every_file_that_counts_has_a_lower_number(database: Path) -> None:
    tables = [int(path.stem) for path in database.glob("*.ldb")]
    number = next_file_number(manifest_of(database))
    assert tables
    assert number is not None
    assert max(tables) < number < 10 * max(tables)


def test_a_cut_manifest_tells_what_its_whole_records_tell(database: Path) -> None:
    manifest = manifest_of(database)
    told = [next_file_number(manifest[:size]) for size in range(0, len(manifest), 97)]
    numbers = [number for number in told if number is not None]
    assert told[0] is None
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("damage", [b"", b"\0" * 100, b"\xff" * 100, bytes(range(256)) * 300])
def test_what_is_no_manifest_tells_nothing_or_some_number(damage: bytes) -> None:
    assert (next_file_number(damage) or 0) >= 0
