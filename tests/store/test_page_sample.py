from pathlib import Path

import pytest

from batchcrawl.model.status import PageStatus
from batchcrawl.store.page_sample import count_stored, sample_stored
from tests.support.crawldbs import filled

FETCHED, GONE = {"status": PageStatus.FETCHED}, {"status": PageStatus.GONE}
STEP = 2**64 // 100


def test_what_is_stored_is_counted_by_hosts(tmp_path: Path) -> None:
    copy = {"status": PageStatus.DUPLICATE}
    with filled(tmp_path / "db", (1, 1, FETCHED), (1, 2, GONE), (2, 1, copy), (2, 2, {})) as db:
        assert count_stored(db) == 2


@pytest.mark.parametrize("pages", [1, 10, 100])
def test_a_sample_is_even_over_hosts_and_has_stored_pages_alone(tmp_path: Path, pages: int) -> None:
    urls = [
        (host, STEP * url, FETCHED if url % 2 else GONE) for host, size in ((1, 100), (2, 20)) for url in range(size)
    ]
    with filled(tmp_path / "db", *urls) as db:
        with_hosts = list(sample_stored(db, pages=pages, known=60))
        assert with_hosts == list(sample_stored(db, pages=pages, known=60))
    assert all(record.url.startswith(host.host) for host, record in with_hosts)
    sample = [record for _, record in with_hosts]
    assert {record.status for record in sample} == {PageStatus.FETCHED}
    assert len(sample) == pages
    of_first = sum("host1." in record.url for record in sample)
    assert of_first == pytest.approx(pages * 50 / 60, abs=1)


def test_a_sample_of_a_host_is_not_always_the_same_page(tmp_path: Path) -> None:
    with filled(tmp_path / "db", *((1, STEP * url, FETCHED) for url in range(100))) as db:
        assert len({record.url for _, record in sample_stored(db, pages=50, known=100)}) > 25


def test_a_partition_without_pages_gives_none(tmp_path: Path) -> None:
    with filled(tmp_path / "db", (1, 1, {})) as db:
        assert list(sample_stored(db, pages=0, known=0)) == []
