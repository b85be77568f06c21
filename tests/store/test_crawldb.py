import shutil
from collections.abc import Iterator
from pathlib import Path

import plyvel
import pytest

from batchcrawl.errors import CorruptData, CrawlError, CrawlLocked, DiskFull
from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.store import crawldb, keys
from batchcrawl.store.crawldb import CrawlDb, Entry
from tests.support.crawldbs import enter, filled, fp, leveldb, record


@pytest.fixture
def db(tmp_path: Path) -> Iterator[CrawlDb]:
    with CrawlDb(tmp_path / "db", create=True) as opened:
        yield opened


def index(db: CrawlDb) -> keys.IndexEntries:
    return dict([*db.entries(b"r"), *db.entries(b"t")])


def test_a_url_that_was_put_is_loaded(db: CrawlDb) -> None:
    batch = db.batch()
    enter(batch, 1, 1, level=5)
    batch.commit()
    entry = db.load(fp(1, 1))
    assert entry is not None
    assert entry.record == record(1, 1, level=5)
    assert list(db.records()) == [(fp(1, 1), record(1, 1, level=5))]


def test_an_unknown_url_is_none(db: CrawlDb) -> None:
    assert db.load(fp(1, 1)) is None
    assert db.host(fp(1, 1)[:8]) is None


def test_nothing_is_written_before_the_commit(db: CrawlDb) -> None:
    enter(db.batch(), 1, 1)
    assert list(db.entries(b"")) == []


def test_a_url_that_changes_its_place_leaves_no_index_entry_behind(db: CrawlDb) -> None:
    batch = db.batch()
    entry = enter(batch, 1, 1)
    batch.commit()
    for place in (Place.TIMER, Place.RISING, Place.LEASED, Place.RISING, Place.READY, Place.NONE):
        batch = db.batch()
        entry.record.place = place
        batch.put(entry)
        batch.commit()
        assert index(db) == keys.index_entries(entry.fingerprint, entry.record)


def test_a_url_put_twice_in_a_batch_has_the_place_of_the_second_time(db: CrawlDb) -> None:
    batch = db.batch()
    entry = enter(batch, 1, 1, level=5)
    for level in (9, 5, 7):
        entry.record.level = level
        batch.put(entry)
    batch.commit()
    assert index(db) == {keys.ready_key(fp(1, 1), level=7, next_fetch_at=600): b""}
    host = db.host(fp(1, 1)[:8])
    assert host is not None
    assert host.urls == {PageStatus.UNFETCHED: 1}


def test_counts_move_with_the_status(db: CrawlDb) -> None:
    batch = db.batch()
    entry = enter(batch, 1, 1)
    enter(batch, 1, 2)
    batch.commit()
    batch = db.batch()
    entry.record.status = PageStatus.FETCHED
    batch.put(entry)
    batch.commit()
    host = db.host(fp(1, 1)[:8])
    assert host is not None
    assert host.urls == {PageStatus.UNFETCHED: 1, PageStatus.FETCHED: 1}


def test_a_url_without_a_host_record_is_corrupt_data(db: CrawlDb) -> None:
    with pytest.raises(CorruptData, match=r"no host record for http://host1\.example/1"):
        db.batch().put(Entry.new(fp(1, 1), record(1, 1)))


def test_a_known_host_is_not_replaced_by_a_new_one(db: CrawlDb) -> None:
    batch = db.batch()
    enter(batch, 1, 1)
    batch.commit()
    batch = db.batch()
    host = batch.enter_host(fp(1, 1)[:8], HostRecord(host="http://other", domain="other"))
    assert (host.host, host.urls) == ("http://host1.example", {PageStatus.UNFETCHED: 1})


def test_a_changed_host_is_written_with_its_batch(db: CrawlDb) -> None:
    batch = db.batch()
    enter(batch, 1, 1)
    batch.commit()
    batch = db.batch()
    host = batch.host(fp(1, 1)[:8])
    assert host is not None
    host.failures = 4
    batch.commit()
    assert [(part, host.failures) for part, host in db.hosts()] == [(fp(1, 1)[:8], 4)]


def test_the_ready_urls_of_a_host_come_best_first(db: CrawlDb) -> None:
    batch = db.batch()
    for url, (level, at) in enumerate([(3, 9), (12, 9), (12, 5), (0, 1), (255, 99)]):
        enter(batch, 1, url, level=level, next_fetch_at=at)
    enter(batch, 2, 9, level=200)
    batch.commit()
    assert [keys.ready_fingerprint(key) for key in db.ready(fp(1, 0)[:8])] == [fp(1, url) for url in (4, 2, 1, 0, 3)]


def test_the_ready_urls_of_a_host_are_found_from_a_level_down(db: CrawlDb) -> None:
    batch = db.batch()
    for url, level in enumerate([255, 16, 15, 0]):
        enter(batch, 2**64 - 1, url, level=level)
    batch.commit()
    found = [[keys.ready_level(key) for key in db.ready(b"\xff" * 8, level_max=most)] for most in (255, 254, 15, 14)]
    assert found == [[255, 16, 15, 0], [16, 15, 0], [15, 0], [0]]


def test_what_rises_is_not_waiting(db: CrawlDb) -> None:
    batch = db.batch()
    enter(batch, 1, 1, place=Place.RISING, next_fetch_at=600)
    enter(batch, 1, 2, place=Place.TIMER, next_fetch_at=660)
    batch.commit()
    assert [keys.timer_fingerprint(key) for key in db.waiting()] == [fp(1, 2)]
    assert list(db.due_timers(660)) == [fp(1, 1), fp(1, 2)]


@pytest.mark.parametrize("hosts", [[], [1], [1, 2, 3], [0, 2**64 - 2, 2**64 - 1]])
def test_each_host_with_ready_urls_is_found_once(db: CrawlDb, hosts: list[int]) -> None:
    batch = db.batch()
    for host in hosts:
        for url in (0, 5, 2**64 - 1):
            enter(batch, host, url)
    enter(batch, 7, 1, place=Place.TIMER)
    batch.commit()
    assert [int.from_bytes(part, "big") for part in db.ready_hosts()] == hosts


def test_timers_are_due_from_their_instant_on_the_oldest_first(db: CrawlDb) -> None:
    batch = db.batch()
    for url, at in enumerate([600, 540, 601, 660, 6000]):
        enter(batch, 1, url, place=Place.TIMER, next_fetch_at=at)
    batch.commit()
    due = {now: [int.from_bytes(f[8:], "big") for f in db.due_timers(now)] for now in (539.9, 540, 600, 659.9, 660)}
    assert due == {539.9: [], 540: [1], 600: [1, 0], 659.9: [1, 0], 660: [1, 0, 2, 3]}


def test_keys_of_the_indexes_of_content_are_put_and_dropped(db: CrawlDb) -> None:
    batch = db.batch()
    batch.put_seen(b"sab")
    batch.put_seen(b"sac")
    batch.put_seen(b"sb")
    batch.commit()
    batch = db.batch()
    batch.drop_seen(b"sab")
    batch.drop_seen(b"sad")
    batch.commit()
    assert list(db.keys(b"sa")) == [b"sac"]


def test_meta_entries_are_set(db: CrawlDb) -> None:
    batch = db.batch()
    batch.set_meta("b", b"2")
    batch.commit()
    assert (db.meta("a"), db.meta("b")) == (None, b"2")


def test_what_was_committed_is_there_after_a_kill(tmp_path: Path) -> None:
    db = filled(tmp_path / "db", (1, 1, {}))
    enter(db.batch(), 1, 2)
    db.close()
    with CrawlDb(tmp_path / "db") as again:
        assert [fingerprint for fingerprint, _ in again.records()] == [fp(1, 1)]


def test_a_database_may_be_closed_twice(db: CrawlDb) -> None:
    db.close()
    db.close()


def test_an_open_database_is_locked_for_others(db: CrawlDb) -> None:
    with pytest.raises(CrawlLocked, match="another process has the crawldb open"):
        CrawlDb(db.path)


def test_a_missing_database_is_not_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match="none is missing; restore it"):
        CrawlDb(tmp_path / "none")
    (tmp_path / "none").mkdir()
    with pytest.raises(CorruptData, match="none/CURRENT is missing"):
        CrawlDb(tmp_path / "none")


@pytest.mark.parametrize("damaged", [0.1, 0.5, 0.95])
def test_a_changed_byte_in_the_log_is_damage_and_not_a_batch_that_never_was(tmp_path: Path, damaged: float) -> None:
    log = with_log(tmp_path)
    data = bytearray(log.read_bytes())
    data[int(len(data) * damaged)] ^= 1
    log.write_bytes(data)
    with pytest.raises(CorruptData, match=r"db: LevelDB finds damage: .*; restore it from a copy"):
        CrawlDb(log.parent)


def test_a_log_that_a_crash_left_shorter_opens_with_the_batches_before(tmp_path: Path) -> None:
    log = with_log(tmp_path)
    data = log.read_bytes()
    for cut in range(1, len(data) // 10, 7):
        again = tmp_path / str(cut)
        shutil.copytree(log.parent, again)
        (again / log.name).write_bytes(data[:-cut])
        with CrawlDb(again) as db:
            assert [fingerprint for fingerprint, _ in db.records()] == [fp(1, url) for url in range(9)]


def with_log(tmp_path: Path) -> Path:
    """Return the log of a database whose process was killed after ten batches of one URL."""
    with CrawlDb(tmp_path / "live", create=True) as db:
        for url in range(10):
            batch = db.batch()
            enter(batch, 1, url)
            batch.commit()
        shutil.copytree(db.path, tmp_path / "db")
    (log,) = (tmp_path / "db").glob("*.log")
    return log


@pytest.mark.parametrize("folder", ["lock", "Corruption", "No space left on device"])
def test_the_name_of_a_folder_does_not_make_another_error_of_one(tmp_path: Path, folder: str) -> None:
    with pytest.raises(CrawlError) as raised:
        CrawlDb(tmp_path / folder / "none" / "db", create=True)
    assert type(raised.value) is CrawlError


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    full = plyvel.IOError(b"IO error: /x/000003.log: No space left on device")
    assert isinstance(crawldb._translation(tmp_path, full), DiskFull)


@pytest.mark.parametrize("key", [keys.url_key(fp(1, 1)), keys.host_key(fp(1, 1)[:8])])
def test_a_damaged_value_names_its_partition_and_key(tmp_path: Path, key: bytes) -> None:
    filled(tmp_path / "db", (1, 1, {})).close()
    with leveldb(tmp_path / "db") as raw:
        raw.put(key, b"\x01damaged")
    with CrawlDb(tmp_path / "db") as db, pytest.raises(CorruptData, match=f"db: key . {key[1:].hex()}: "):
        (db.load(fp(1, 1)), db.host(fp(1, 1)[:8]))


def test_a_changed_byte_in_a_table_is_found_by_its_checksum(tmp_path: Path) -> None:
    filled(tmp_path / "db", *((1, url, {"etag": f"{url:x}" * 9}) for url in range(500))).close()
    with leveldb(tmp_path / "db") as raw:
        raw.compact_range()
    (table,) = (tmp_path / "db").glob("*.ldb")
    data = bytearray(table.read_bytes())
    data[len(data) // 3] ^= 1
    table.write_bytes(data)
    with CrawlDb(tmp_path / "db") as db, pytest.raises(CorruptData, match="LevelDB finds damage"):
        list(db.records())


HOST_PART = fp(1, 1)[:8]
HOST = HostRecord(host="http://host1.example", domain="host1.example")


def test_a_domain_counts_the_urls_of_all_its_hosts(tmp_path: Path) -> None:
    with filled(tmp_path / "db", (1, 1, {}), (1, 2, {}), (2, 1, {})) as db:
        domain = db.domain(HOST_PART, HOST)
        assert domain is not None
        assert domain.urls == 3  # the test's hosts share the first half of their parts


def test_a_domain_without_a_record_is_counted_by_its_hosts_when_the_next_url_enters(tmp_path: Path) -> None:
    filled(tmp_path / "db", (1, 1, {}), (2, 1, {})).close()
    with leveldb(tmp_path / "db") as raw:
        raw.delete(keys.domain_key(fp(1, 1)[:4]))
    with CrawlDb(tmp_path / "db") as db:
        batch = db.batch()
        enter(batch, 3, 1)
        batch.commit()
        domain = db.domain(HOST_PART, HOST)
        assert domain is not None
        assert domain.urls == 3


def test_a_domain_within_a_registered_one_counts_its_own_urls_alone(tmp_path: Path) -> None:
    owners = [HostRecord(host=f"http://{name}.io", domain="io.io", budget_domain=f"{name}.io") for name in "ab"]
    with filled(tmp_path / "db", (1, 1, {})) as db:
        batch = db.batch()
        for number, owner in enumerate(owners, start=2):
            batch.enter_host(fp(number, 1)[:8], owner)
            for url in range(number):
                batch.put(Entry.new(fp(number, url), record(number, url)))
        batch.commit()
        found = [db.domain(fp(number, 1)[:8], owner) for number, owner in enumerate([HOST, *owners], start=1)]
    assert [domain.urls for domain in found if domain is not None] == [1, 2, 3]


def test_keys_asked_for_in_order_are_found_near_and_far(db: CrawlDb) -> None:
    batch = db.batch()
    stored = [b"s%04d" % number for number in range(0, 3000, 3)]
    for key in stored:
        batch.put_seen(key)
    batch.put_seen(b"v")
    batch.commit()
    for step in (1, 2, 50, 700):
        asked = [b"s%04d" % number for number in range(0, 3000, step)]
        with db.forward(b"s") as forward:
            found = [forward.first_from(key) for key in asked]
        assert found == [next((key for key in stored if key >= place), None) for place in asked]
