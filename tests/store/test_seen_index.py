"""Settling over partitions gives what one look at all pages gives, whatever the pages did and in whatever segments."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.model.record import UrlRecord
from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.seen import ALONE, Verdict, judge_unvisited, judge_visited
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.seen_index import settle
from batchcrawl.store.seen_keys import KINDS, owner_of, seen_entries

PARTITIONS = 3
PAGES = [bytes([page * 41]) * 16 for page in range(6)]
TEXTS = [bytes([text * 90]) * 16 for text in range(3)]
visits = st.dictionaries(st.sampled_from(PAGES), st.none() | st.sampled_from(TEXTS), max_size=len(PAGES))
"""What the pages of a segment show; None for a page that is gone."""


def new_page(page: bytes) -> UrlRecord:
    return UrlRecord(f"http://{'a' * (page[0] % 3)}.test/", status=PageStatus.UNFETCHED)


def see(record: UrlRecord, text: bytes | None, at: int) -> None:
    record.status = PageStatus.GONE if text is None else PageStatus.FETCHED
    if record.signature != text:
        record.content_at = None if text is None else at
    record.signature = text


class Crawl:
    """Pages and the indexes of content of three partitions."""

    def __init__(self, folder: Path) -> None:
        self.dbs = [CrawlDb(folder / str(p), create=True) for p in range(PARTITIONS)]
        self.records = {page: new_page(page) for page in PAGES}

    def apply(self, seen: dict[bytes, bytes | None], at: int) -> None:
        claims: list[list[ClaimLine]] = [[] for _ in range(PARTITIONS)]
        for page, text in sorted(seen.items()):
            before = seen_entries(page, self.records[page])
            see(self.records[page], text, at)
            after = seen_entries(page, self.records[page])
            for q, part in enumerate(claims):
                part.append(claim(page, before, after, q))
        told: dict[bytes, VerdictLine] = {}
        for q, db in enumerate(self.dbs):
            lines = list(settle(db, claims[q]))
            assert list(settle(db, claims[q])) == lines
            told |= {bytes.fromhex(line.fp): line for line in lines}
        for q, db in enumerate(self.dbs):
            write(db, claims[q])
        for page, record in self.records.items():
            if page in seen:
                judge_visited(record, page, verdict(told[page]) if page in told else ALONE)
            elif page in told:
                judge_unvisited(record, page, verdict(told[page]))

    def close(self) -> None:
        for db in self.dbs:
            db.close()


def verdict(line: VerdictLine) -> Verdict:
    return Verdict(bytes.fromhex(line.first or ""))


def claim(page: bytes, before: dict[bytes, bytes], after: dict[bytes, bytes], owner: int) -> ClaimLine:
    def mine(keys: set[bytes]) -> tuple[str, ...]:
        return tuple(sorted(key.hex() for key in keys if owner_of(key, PARTITIONS) == owner))

    had, has = set(before), set(after)
    return ClaimLine(fp=page.hex(), gone=mine(had - has), came=mine(has - had), stays=mine(had & has))


def write(db: CrawlDb, claims: list[ClaimLine]) -> None:
    batch = db.batch()
    for line in claims:
        for key in line.gone:
            batch.drop_seen(bytes.fromhex(key))
        for key in line.came:
            batch.put_seen(bytes.fromhex(key), b"")
    batch.commit()


@settings(max_examples=60, deadline=None)
@given(st.lists(visits, max_size=8))
def test_of_the_pages_with_one_text_the_first_is_fetched_and_the_others_are_duplicates(
    segments: list[dict[bytes, bytes | None]],
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="seen-"))
    crawl = Crawl(folder)
    for number, seen in enumerate(segments):
        crawl.apply(seen, 1000 + number)
        for text in TEXTS:
            having = [(r.content_at or 0, len(r.url), page) for page, r in crawl.records.items() if r.signature == text]
            fetched = [p for p, r in crawl.records.items() if r.signature == text and r.status is PageStatus.FETCHED]
            assert fetched == [page for *_, page in sorted(having)[:1]]
        stored = {key for db in crawl.dbs for kind in KINDS for key in db.keys(kind)}
        assert stored == {key for page, record in crawl.records.items() for key in seen_entries(page, record)}
    crawl.close()
    shutil.rmtree(folder)


def test_a_page_without_a_text_has_no_key() -> None:
    assert seen_entries(PAGES[0], new_page(PAGES[0])) == {}
