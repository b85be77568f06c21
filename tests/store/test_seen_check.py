"""The check of the indexes of content finds each key and each status that does not follow from the records."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.seen_check import verify_seen
from batchcrawl.store.seen_keys import owner_of, seen_keys
from tests.support.crawldbs import filled, fp, leveldb, record

PARTITIONS = 2
TEXT = b"\xf0" + b"s" * 15
FIRST, COPY, OTHER = fp(1, 1), fp(0xC000_0000_0000_0001, 2), fp(2, 3)
"""Pages of both partitions; the text belongs to the second."""
PAGES = {
    FIRST: (1, 1, {"status": PageStatus.FETCHED, "signature": TEXT, "content_at": 50}),
    COPY: (0xC000_0000_0000_0001, 2, {"status": PageStatus.DUPLICATE, "signature": TEXT, "content_at": 60}),
    OTHER: (2, 3, {"status": PageStatus.FETCHED, "signature": b"o" * 16, "content_at": 50}),
}


def made(page: bytes) -> UrlRecord:
    host, url, facts = PAGES[page]
    return record(host, url, **facts)


def key_of(page: bytes) -> bytes:
    (key,) = seen_keys(page, made(page))
    return key


@pytest.fixture
def crawldb(tmp_path: Path) -> Path:
    """Return a sound crawldb of two partitions."""
    for p, pages in enumerate(((FIRST, OTHER), (COPY,))):
        with filled(tmp_path / str(p), *(PAGES[page] for page in pages)) as db:
            batch = db.batch()
            for page in PAGES:
                for key in seen_keys(page, made(page)):
                    if owner_of(key, PARTITIONS) == p:
                        batch.put_seen(key)
            batch.commit()
    return tmp_path


@contextmanager
def opened(crawldb: Path) -> Iterator[list[CrawlDb]]:
    with CrawlDb(crawldb / "0") as low, CrawlDb(crawldb / "1") as high:
        yield [low, high]


def faults(crawldb: Path) -> list[tuple[str, bytes, str]]:
    with opened(crawldb) as partitions:
        return [(str(p), fault.key, fault.what) for p, fault in verify_seen(partitions)]


def test_a_sound_crawldb_has_no_fault(crawldb: Path) -> None:
    assert faults(crawldb) == []


def test_a_missing_key_is_found_and_what_it_makes_of_the_others(crawldb: Path) -> None:
    with leveldb(crawldb / "1") as raw:
        raw.delete(key_of(FIRST))
    assert faults(crawldb) == [
        ("1", key_of(FIRST), "the entry of http://host1.example/1 is missing or wrong"),
        ("1", key_of(COPY), f"{made(COPY).url} is a duplicate, but was first with its text"),
    ]


def test_a_key_with_another_value_is_found(crawldb: Path) -> None:
    with leveldb(crawldb / "0") as raw:
        raw.put(key_of(OTHER), b"x")
    assert faults(crawldb) == [
        ("0", key_of(OTHER), "the entry of http://host2.example/3 is missing or wrong"),
        ("0", key_of(OTHER), "an entry that no record asks for (http://host2.example/3)"),
    ]


def test_a_key_of_no_record_is_found_and_the_page_that_it_displaces(crawldb: Path) -> None:
    stray = key_of(FIRST)[:-16] + bytes(16)
    with leveldb(crawldb / "1") as raw:
        raw.put(stray, b"")
    assert faults(crawldb) == [
        ("1", key_of(FIRST), f"http://host1.example/1 is no duplicate, but {bytes(16).hex()} was first with its text"),
        ("1", stray, f"an entry that no record asks for ({bytes(16).hex()})"),
    ]


def test_a_key_that_lies_in_another_partition_than_its_own_is_found(crawldb: Path) -> None:
    with leveldb(crawldb / "1") as raw:
        raw.put(key_of(OTHER), b"")
    assert faults(crawldb) == [("1", key_of(OTHER), "an entry that no record asks for (http://host2.example/3)")]


def test_a_copy_that_is_told_as_fetched_is_found(crawldb: Path) -> None:
    with CrawlDb(crawldb / "1") as db:
        entry = db.load(COPY)
        assert entry is not None
        entry.record.status = PageStatus.FETCHED
        batch = db.batch()
        batch.put(entry)
        batch.commit()
    assert faults(crawldb) == [
        ("1", key_of(COPY), f"{made(COPY).url} is no duplicate, but http://host1.example/1 was first with its text")
    ]
