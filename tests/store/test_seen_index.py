"""Settling over partitions gives what one look at all pages gives, whatever the pages did and in whatever segments."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.model.record import UrlRecord
from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.seen import Verdict, judge_unvisited, judge_visited
from batchcrawl.settle import join_verdicts
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.near_index import HALF_MAX
from batchcrawl.store.seen_index import settle
from batchcrawl.store.seen_keys import (
    KINDS,
    Share,
    contents_of,
    half_of,
    is_text,
    order_of,
    owner_of,
    page_of,
    seen_keys,
)
from batchcrawl.web.signature import NEAR_BITS, hamming

PARTITIONS = 3
PAGES = [bytes([page * 41]) * 16 for page in range(6)]
TEXTS = 4
bits = st.integers(0, 63).map(lambda bit: 1 << bit)
simhashes = st.lists(bits, max_size=5).map(lambda flips: (sum(set(flips)) ^ 0xA5A5_5A5A_0FF0_C33C).to_bytes(8, "big"))
near_ones = simhashes.map(lambda simhash: int.from_bytes(simhash, "big"))
visits = st.dictionaries(st.sampled_from(PAGES), st.none() | st.integers(0, TEXTS - 1), max_size=len(PAGES))
"""What the pages of a segment show, the number of a text; None for a page that is gone."""


def new_page(page: bytes) -> UrlRecord:
    return UrlRecord(f"http://{'a' * (page[0] % 3)}.test/", status=PageStatus.UNFETCHED)


def signature_of(text: int) -> bytes:
    return bytes([text * 60]) * 16


def see(record: UrlRecord, text: int | None, at: int, simhash: bytes | None) -> None:
    record.status = PageStatus.GONE if text is None else PageStatus.FETCHED
    signature = None if text is None else signature_of(text)
    if record.signature != signature:
        record.content_at = None if text is None else at
    record.signature, record.simhash, record.near_to = signature, simhash, None


class Crawl:
    """Pages and the indexes of content of three partitions."""

    def __init__(self, folder: Path, simhashes: list[bytes]) -> None:
        self.dbs = [CrawlDb(folder / str(p), create=True) for p in range(PARTITIONS)]
        self.records = {page: new_page(page) for page in PAGES}
        self.simhashes = simhashes

    def apply(self, seen: dict[bytes, int | None], at: int) -> None:
        claims: list[ClaimLine] = []
        for page, text in sorted(seen.items()):
            before = contents_of(page, self.records[page])
            see(self.records[page], text, at, None if text is None else self.simhashes[text])
            after = contents_of(page, self.records[page])
            claims.append(claim(page, before, after))
        lines: list[VerdictLine] = []
        for q, db in enumerate(self.dbs):
            share = Share(q, PARTITIONS)
            mine = list(settle(db, claims, share))
            assert list(settle(db, claims, share)) == mine
            lines += mine
        for q, db in enumerate(self.dbs):
            write(db, claims, Share(q, PARTITIONS))
        told = join_verdicts(lines)
        for page, record in self.records.items():
            verdict = told.get(page.hex(), Verdict())
            if page in seen:
                judge_visited(record, page, verdict)
            else:
                judge_unvisited(record, page, verdict)

    def first_near(self, page: bytes) -> bytes | None:
        """Return what a page is to name, by a look at all others."""
        mine = self.records[page]
        if mine.status is not PageStatus.FETCHED:
            return None
        near = [
            order(other, record)
            for other, record in self.records.items()
            if record.simhash is not None and hamming(record.simhash, mine.simhash or b"") <= NEAR_BITS
        ]
        first = min(near)
        return page_of(first) if first < order(page, mine) else None

    def close(self) -> None:
        for db in self.dbs:
            db.close()


def order(page: bytes, record: UrlRecord) -> bytes:
    return order_of(min(contents_of(page, record)))


def claim(page: bytes, before: set[bytes], after: set[bytes]) -> ClaimLine:
    def in_hex(contents: set[bytes]) -> tuple[str, ...]:
        return tuple(sorted(content.hex() for content in contents))

    return ClaimLine(
        fp=page.hex(), gone=in_hex(before - after), came=in_hex(after - before), stays=in_hex(before & after)
    )


def write(db: CrawlDb, claims: list[ClaimLine], share: Share) -> None:
    batch = db.batch()
    for line in claims:
        for key in share.keys(line.gone):
            batch.drop_seen(key)
        for key in share.keys(line.came):
            batch.put_seen(key)
    batch.commit()


@settings(max_examples=60, deadline=None)
@given(st.lists(visits, max_size=8), st.lists(simhashes, min_size=TEXTS, max_size=TEXTS))
def test_pages_are_to_one_another_what_a_look_at_all_of_them_says(
    segments: list[dict[bytes, int | None]], simhashes: list[bytes]
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="seen-"))
    crawl = Crawl(folder, simhashes)
    for number, seen in enumerate(segments):
        crawl.apply(seen, 1000 + number)
        for text in map(signature_of, range(TEXTS)):
            having = [(r.content_at or 0, len(r.url), page) for page, r in crawl.records.items() if r.signature == text]
            fetched = [p for p, r in crawl.records.items() if r.signature == text and r.status is PageStatus.FETCHED]
            assert fetched == [page for *_, page in sorted(having)[:1]]
        for page in seen:
            assert crawl.records[page].near_to == crawl.first_near(page)
        stored = {key for db in crawl.dbs for kind in KINDS for key in db.keys(kind)}
        assert stored == {key for page, record in crawl.records.items() for key in seen_keys(page, record)}
    crawl.close()
    shutil.rmtree(folder)


@given(simhashes, simhashes)
def test_two_simhashes_agree_in_a_half_but_for_a_bit_where_they_are_near(one: bytes, other: bytes) -> None:
    first, second = (
        sorted(
            half_of(key)
            for key in seen_keys(PAGES[0], UrlRecord("http://a/", signature=b"s" * 16, simhash=simhash))
            if not is_text(key)
        )
        for simhash in (one, other)
    )
    assert len(first) == len(second) == 2
    agreeing = [(hamming(one[at : at + 4], other[at : at + 4]) <= 1) for at in (0, 4)]
    assert any(agreeing) or hamming(one, other) > NEAR_BITS


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 2**64 - 1) | near_ones, min_size=1, max_size=60, unique=True),
    st.lists(st.integers(0, 2**64 - 1) | near_ones, min_size=1, max_size=12),
    st.integers(1, 3),
)
def test_every_page_with_a_near_simhash_is_found_whatever_partition_has_it(
    known: list[int], new: list[int], partitions: int
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="seen-"))
    shares = [Share(q, partitions) for q in range(partitions)]
    dbs = [CrawlDb(folder / str(q), create=True) for q in range(partitions)]
    before = [claim(page, set(), contents) for page, contents in pages_with(known, at=1)]
    for db, share in zip(dbs, shares, strict=True):
        write(db, before, share)
    claims = [claim(page, set(), contents) for page, contents in pages_with(new, at=2)]
    told = join_verdicts(
        line for db, share in zip(dbs, shares, strict=True) for line in settle(db, claims, share) if line.near
    )
    every = [*pages_with(known, at=1), *pages_with(new, at=2)]
    simhash_of = {page: simhash.to_bytes(8, "big") for (page, _), simhash in zip(every, known + new, strict=True)}
    orders = {page: order_of(min(contents)) for page, contents in every}
    for line in claims:
        page = bytes.fromhex(line.fp)
        near = (other for other in orders if hamming(simhash_of[other], simhash_of[page]) <= NEAR_BITS)
        first = min(near, key=lambda other: orders[other])
        assert told.get(line.fp, Verdict()).near == (first if orders[first] < orders[page] else None)
    for db in dbs:
        db.close()
    shutil.rmtree(folder)


def pages_with(simhashes: list[int], *, at: int) -> list[tuple[bytes, set[bytes]]]:
    """Return pages and their contents, all of one partition and with texts of their own."""
    pages: list[tuple[bytes, set[bytes]]] = []
    for number, simhash in enumerate(simhashes):
        page = bytes([at]) + number.to_bytes(15, "big")
        record = UrlRecord("http://a.test/", signature=page, simhash=simhash.to_bytes(8, "big"), content_at=at)
        pages.append((page, contents_of(page, record)))
    return pages


def test_a_half_that_many_pages_share_takes_bounded_time(tmp_path: Path) -> None:
    with CrawlDb(tmp_path / "db", create=True) as db:
        pages = [UrlRecord(f"http://a.test/{n:06}", signature=n.to_bytes(16, "big"), content_at=1) for n in range(900)]
        for number, record in enumerate(pages):
            record.simhash = (number << 22).to_bytes(8, "big")
        fps = [number.to_bytes(16, "big") for number in range(900)]
        write(db, [claim(fp, set(), contents_of(fp, page)) for fp, page in zip(fps, pages, strict=True)], Share(0, 1))
        assert len(pages) > HALF_MAX
        new = [0b111, HALF_MAX + 1 << 22 | 0b111]
        claims = [claim(page, set(), contents) for page, contents in pages_with(new, at=2)]
        assert join_verdicts(settle(db, claims, Share(0, 1))) == {claims[0].fp: Verdict(near=fps[0])}


def test_keys_are_dealt_out_to_all_partitions() -> None:
    record = UrlRecord("http://a/", signature=b"s" * 16, simhash=b"\x12\xf4\x56\xb8\x9a\xcd\x0e\x81")
    assert {owner_of(key, 2) for key in seen_keys(PAGES[0], record)} == {0, 1}


def test_a_page_without_a_text_has_no_key() -> None:
    assert seen_keys(PAGES[0], new_page(PAGES[0])) == set()
