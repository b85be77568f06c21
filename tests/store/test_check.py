from pathlib import Path

import pytest

from batchcrawl.model.host import DomainRecord, HostRecord, encode_domain, encode_host
from batchcrawl.model.record import encode_record
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.store import keys
from batchcrawl.store.check import Fault, verify
from batchcrawl.store.crawldb import CrawlDb, Entry
from batchcrawl.web.fingerprint import domain_part
from tests.support.crawldbs import filled, fp, leveldb, record

READY = keys.ready_key(fp(1, 1), level=5, next_fetch_at=600)
TIMER = keys.timer_key(fp(1, 2), next_fetch_at=660)
RISE = keys.timer_key(fp(2, 2), next_fetch_at=720)
URL, HOST = keys.url_key(fp(1, 1)), keys.host_key(fp(1, 1)[:8])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a sound database of four URLs on two hosts."""
    db = filled(
        tmp_path / "db",
        (1, 1, {"level": 5}),
        (1, 2, {"place": Place.TIMER, "next_fetch_at": 660, "status": PageStatus.FETCHED}),
        (1, 3, {"place": Place.LEASED, "lease": 77}),
        (2, 1, {"place": Place.NONE}),
        (2, 2, {"place": Place.RISING, "level": 99, "next_fetch_at": 720}),
    )
    batch = db.batch()
    batch.set_meta("update/x", b"{}")
    batch.commit()
    db.close()
    return tmp_path / "db"


def faults(path: Path) -> list[tuple[bytes, str]]:
    with CrawlDb(path) as db:
        return [(fault.key, fault.what) for fault in verify(db)]


def test_a_sound_database_has_no_fault(path: Path) -> None:
    assert faults(path) == []


def test_an_empty_database_has_no_fault(tmp_path: Path) -> None:
    with CrawlDb(tmp_path / "db", create=True) as db:
        assert list(verify(db)) == []


@pytest.mark.parametrize(
    ("key", "url"),
    [
        (READY, "http://host1.example/1"),
        (TIMER, "http://host1.example/2"),
        (keys.ready_key(fp(2, 2), level=99, next_fetch_at=720), "http://host2.example/2"),
        (RISE, "http://host2.example/2"),
    ],
)
def test_a_missing_index_entry_is_found(path: Path, key: bytes, url: str) -> None:
    with leveldb(path) as raw:
        raw.delete(key)
    assert faults(path) == [(key, f"the index entry of {url} is missing")]


@pytest.mark.parametrize(
    ("key", "wrong", "what"),
    [
        (TIMER, keys.RISES, "the index entry of http://host1.example/2 holds 01"),
        (RISE, b"", "the index entry of http://host2.example/2 holds nothing"),
    ],
)
def test_a_timer_that_says_wrongly_whether_its_url_is_ready_is_found(
    path: Path, key: bytes, wrong: bytes, what: str
) -> None:
    with leveldb(path) as raw:
        raw.put(key, wrong)
    assert faults(path) == [(key, what)]


@pytest.mark.parametrize(
    ("key", "url"),
    [
        (keys.ready_key(fp(1, 1), level=9, next_fetch_at=600), "http://host1.example/1"),
        (keys.ready_key(fp(1, 2), level=0, next_fetch_at=660), "http://host1.example/2"),
        (keys.timer_key(fp(1, 3), next_fetch_at=660), "http://host1.example/3"),
        (keys.timer_key(fp(2, 1), next_fetch_at=0), "http://host2.example/1"),
        (keys.ready_key(fp(9, 9), level=0, next_fetch_at=0), fp(9, 9).hex()),
    ],
)
def test_a_stray_index_entry_is_found(path: Path, key: bytes, url: str) -> None:
    with leveldb(path) as raw:
        raw.put(key, b"")
    assert faults(path) == [(key, f"an index entry that no record asks for ({url})")]


def test_an_entry_moved_to_another_level_is_both_missing_and_stray(path: Path) -> None:
    moved = keys.ready_key(fp(1, 1), level=9, next_fetch_at=600)
    with leveldb(path) as raw:
        raw.delete(READY)
        raw.put(moved, b"")
    assert {key for key, _ in faults(path)} == {READY, moved}


@pytest.mark.parametrize(("key", "size"), [(READY[:-1], 22), (READY + b"x", 22), (TIMER[:3], 21)])
def test_an_index_key_of_another_size_is_found(path: Path, key: bytes, size: int) -> None:
    with leveldb(path) as raw:
        raw.put(key, b"")
    assert faults(path) == [(key, f"an index key has {len(key)} bytes instead of {size}")]


def test_a_wrong_count_is_found(path: Path) -> None:
    wrong = HostRecord(host="http://host1.example", domain="host1.example", urls={1: 5, 7: 1})
    with leveldb(path) as raw:
        raw.put(HOST, encode_host(wrong))
    what = "http://host1.example counts 5 of status 1, 1 of status 7, but has 2 of status 1, 1 of status 2"
    assert faults(path) == [(HOST, what)]


def test_a_host_that_counts_urls_it_has_not_is_found(path: Path) -> None:
    key = keys.host_key(fp(5, 1)[:8])
    with leveldb(path) as raw:
        raw.put(key, encode_host(HostRecord(host="http://host5.example", domain="host5.example", urls={1: 1})))
    assert faults(path) == [(key, "http://host5.example counts 1 of status 1, but has no URLs")]


def test_a_host_without_urls_is_no_fault(path: Path) -> None:
    with leveldb(path) as raw:
        raw.put(keys.host_key(fp(5, 1)[:8]), encode_host(HostRecord(host="http://host5.example", domain="x")))
    assert faults(path) == []


def test_a_missing_host_record_is_found(path: Path) -> None:
    with leveldb(path) as raw:
        raw.delete(HOST)
    assert faults(path) == [(HOST, "the host record of 3 URLs is missing")]


def test_a_damaged_host_record_is_found(path: Path) -> None:
    with leveldb(path) as raw:
        raw.put(HOST, b"\xc1")
    ((key, what),) = faults(path)
    assert key == HOST
    assert what.startswith("the host record is damaged: ")


def test_a_damaged_url_record_is_found_and_the_rest_is_still_looked_at(path: Path) -> None:
    with leveldb(path) as raw:
        raw.put(URL, b"\x01damaged")
        raw.delete(TIMER)
    found = dict(faults(path))
    assert set(found) == {URL, READY, HOST, TIMER}
    assert "damaged" in found[URL]


def test_a_removed_url_record_leaves_its_traces(path: Path) -> None:
    with leveldb(path) as raw:
        raw.delete(URL)
    assert {key for key, _ in faults(path)} == {READY, HOST, keys.domain_key(HOST[1:5])}


def test_a_url_key_of_another_size_is_found(path: Path) -> None:
    with leveldb(path) as raw:
        raw.put(b"u" + fp(1, 1) + b"x", encode_record(record()))
    assert (b"u" + fp(1, 1) + b"x", "the key of a URL record has 18 bytes") in faults(path)


@pytest.mark.parametrize(("place", "lease"), [(Place.LEASED, None), (Place.NONE, 77)])
def test_a_lease_without_its_place_or_the_other_way_round_is_found(path: Path, place: Place, lease: int | None) -> None:
    key = keys.url_key(fp(2, 1))
    with leveldb(path) as raw:
        raw.put(key, encode_record(record(2, 1, place=place, lease=lease)))
    assert faults(path) == [(key, f"http://host2.example/1 has the place {place.name} and lease {lease}")]


def test_faults_are_found_one_after_the_other(path: Path) -> None:
    with leveldb(path) as raw:
        raw.delete(READY)
        raw.delete(HOST)
    with CrawlDb(path) as db:
        found = verify(db)
        assert next(found) == Fault(READY, "the index entry of http://host1.example/1 is missing")
        assert next(found).key == HOST


def test_a_wrong_count_of_a_domain_is_found(path: Path) -> None:
    key = keys.domain_key(fp(1, 1)[:4])
    with leveldb(path) as raw:
        raw.put(key, encode_domain(DomainRecord(domain="host1.example", urls=9)))
    assert faults(path) == [(key, "host1.example counts 9 URLs, but has 5")]


def test_a_wrong_count_of_a_domain_within_a_registered_one_is_found(path: Path) -> None:
    host = HostRecord(host="http://a.io", domain="io", budget_domain="a.io")
    part = domain_part(fp(9, 1)[:8], budget="a.io")
    with CrawlDb(path) as db:
        batch = db.batch()
        batch.enter_host(fp(9, 1)[:8], host)
        batch.put(Entry.new(fp(9, 1), record(9, 1)))
        batch.commit()
    assert faults(path) == []
    with leveldb(path) as raw:
        raw.put(keys.domain_key(part), encode_domain(DomainRecord(domain="a.io", urls=2)))
    assert faults(path) == [(keys.domain_key(part), "a.io counts 2 URLs, but has 1")]


def test_a_damaged_domain_record_is_found(path: Path) -> None:
    key = keys.domain_key(fp(1, 1)[:4])
    with leveldb(path) as raw:
        raw.put(key, b"\xc1")
    assert [found for found, _ in faults(path)] == [key]


def test_a_wrong_count_of_costly_urls_is_found(path: Path) -> None:
    with CrawlDb(path) as db:
        entry = db.load(fp(1, 1))
        assert entry is not None
        entry.record.costly = True
        batch = db.batch()
        batch.put(entry)
        batch.commit()
    assert faults(path) == [(HOST, "http://host1.example counts 0 costly URLs, but has 1")]
