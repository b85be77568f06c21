"""What a purge writes down of the pages that go, and which pages then are the first with their texts."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData
from batchcrawl.store import purge_files
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.purge_files import PurgePaths, PurgeWriter, gone_contents, new_firsts, read_purge
from batchcrawl.store.seen_keys import page_of

TEXTS = [bytes([text]) * 16 for text in (3, 90, 91, 255)]


def text_key(text: bytes, page: int) -> bytes:
    return b"s" + text + page.to_bytes(4, "big") + b"\0\x14" + bytes([page]) * 16


pages = st.sets(st.tuples(st.sampled_from(TEXTS), st.integers(0, 9)), max_size=25)


@settings(max_examples=50, deadline=None)
@given(there=pages, going=pages)
def test_the_next_page_with_a_text_takes_the_place_of_a_first_that_goes(
    there: set[tuple[bytes, int]], going: set[tuple[bytes, int]]
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="purge-"))
    try:
        with CrawlDb(folder / "db", create=True) as db:
            batch = db.batch()
            for text, page in there:
                batch.put_seen(text_key(text, page))
            batch.commit()
            found = set(new_firsts(db, iter(sorted(text_key(text, page) for text, page in going))))
    finally:
        shutil.rmtree(folder)
    expected = set()
    for text in TEXTS:
        of_text = sorted(page for other, page in there if other == text)
        staying = [page for page in of_text if (text, page) not in going]
        if staying and staying[0] != of_text[0]:
            expected.add(page_of(text_key(text, staying[0])))
    assert found == expected


def test_contents_come_back_in_order_whatever_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge_files, "RUN_CONTENTS", 3)
    paths, contents = PurgePaths(tmp_path), [text_key(text, page) for page in range(5) for text in TEXTS]
    for p in range(2):
        with PurgeWriter(Disk(), paths, p, partitions=2) as writer:
            for content in contents[p::2]:
                writer.add(page_of(content), [(content, (1,))])
            writer.finish()
    assert len(paths.all_contents(1)) > 4
    assert (list(gone_contents(paths, 1)), list(gone_contents(paths, 0))) == (sorted(contents), [])


def test_a_writer_that_is_left_leaves_no_list(tmp_path: Path) -> None:
    with PurgeWriter(Disk(), PurgePaths(tmp_path), 0, partitions=1) as writer:
        writer.add(bytes(16), [])
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_manifest_is_corrupt_data(tmp_path: Path) -> None:
    (tmp_path / "purge.json").write_text('{"at":')
    with pytest.raises(CorruptData, match=r"purge\.json: "):
        read_purge(PurgePaths(tmp_path))
