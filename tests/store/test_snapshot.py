import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batchcrawl.errors import CorruptData
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.leveldb_manifest import next_file_number
from batchcrawl.store.snapshot import snapshots

_WRITER = """
import sys
import plyvel
db = plyvel.DB(sys.argv[1], create_if_missing=True, write_buffer_size=1 << 16, max_file_size=1 << 20)
for number in range(1, 10_000_000):
    with db.write_batch(sync=number % 50 == 0) as batch:
        batch.put(b"m%08d" % (number * 7919 % 5003), b"x" * 400)
        batch.put(b"n%08d" % number, b"")
        batch.put(b"last", b"%d" % number)
    if number == 500:
        print("begun", flush=True)
"""
_CHECKER = """
import sys
from pathlib import Path
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.snapshot import snapshots
for _ in range(40):
    with snapshots(Path(sys.argv[1]), range(1)) as folder, CrawlDb(folder / "0") as db:
        last = int(db.value(b"last") or b"0")
        assert [int(key[1:]) for key in db.keys(b"n")] == list(range(1, last + 1))
        print(last)
"""
_LOOKER = """
import sys
from pathlib import Path
from batchcrawl.store.snapshot import snapshots
with snapshots(Path(sys.argv[1]), range(1)) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@contextmanager
def running(program: str, path: Path) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def looks(crawldb: Path) -> list[Path]:
    return list(crawldb.glob(".look-*"))


@pytest.fixture
def crawldb(tmp_path: Path) -> Path:
    CrawlDb(tmp_path / "0", create=True).close()
    return tmp_path


def test_every_look_at_a_database_under_writing_sees_all_batches_up_to_one(tmp_path: Path) -> None:
    with running(_WRITER, tmp_path / "0"):
        # In a process of its own: LevelDB starts a thread there, which would be missing in processes forked from here.
        ended = subprocess.run(
            [sys.executable, "-c", _CHECKER, str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert ended.returncode == 0, ended.stderr
    seen = [int(line) for line in ended.stdout.splitlines()]
    assert len(seen) == 40
    assert seen == sorted(seen)
    assert seen[-1] > seen[0], "the writer was not hindered"


def test_a_look_leaves_nothing_behind_and_the_database_as_it_was(crawldb: Path) -> None:
    before = {path.name: path.read_bytes() for path in (crawldb / "0").iterdir()}
    with snapshots(crawldb, range(1)) as folder, CrawlDb(folder / "0") as db:
        assert list(db.keys(b"")) == []
    assert looks(crawldb) == []
    assert {path.name: path.read_bytes() for path in (crawldb / "0").iterdir()} == before


def test_what_a_killed_look_left_is_removed_by_the_next(crawldb: Path) -> None:
    with running(_LOOKER, crawldb) as (process, folder):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert looks(crawldb) == [Path(folder)]
        with snapshots(crawldb, range(1)):
            assert Path(folder) not in looks(crawldb)
    assert looks(crawldb) == []


def test_two_may_look_at_once(crawldb: Path) -> None:
    with running(_LOOKER, crawldb) as (_, folder), snapshots(crawldb, range(1)) as ours:
        assert sorted(looks(crawldb)) == sorted([Path(folder), ours])


def test_a_table_that_is_still_being_written_is_left_alone(tmp_path: Path) -> None:
    with CrawlDb(tmp_path / "0", create=True) as db:
        batch = db.raw_batch()
        batch.put(b"m", b"1")
        db.write(batch)
    (manifest,) = (tmp_path / "0").glob("MANIFEST-*")
    number = next_file_number(manifest.read_bytes())
    assert number is not None
    unfinished = [tmp_path / "0" / f"{number + more:06}.ldb" for more in range(4)]
    for path in unfinished:
        path.write_bytes(b"half a table")
    with snapshots(tmp_path, range(1)) as folder, CrawlDb(folder / "0") as seen:
        assert seen.value(b"m") == b"1"
    assert {path.read_bytes() for path in unfinished} == {b"half a table"}


@pytest.mark.parametrize("missing", ["CURRENT", "MANIFEST"])
def test_a_database_that_lost_a_file_is_damage_of_the_crawl_and_not_of_the_look(crawldb: Path, missing: str) -> None:
    (path,) = (crawldb / "0").glob(f"{missing}*")
    path.unlink()
    with pytest.raises(CorruptData, match=f"^{path} is missing"), snapshots(crawldb, range(1)):
        pass
    assert looks(crawldb) == []


def test_damage_that_is_found_while_looking_is_told_of_the_crawl(crawldb: Path) -> None:
    (path,) = (crawldb / "0").glob("MANIFEST*")
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(CorruptData, match=f"^{crawldb}/0: "), snapshots(crawldb, range(1)) as folder:
        CrawlDb(folder / "0")
