"""Whatever is put and removed, in whatever order: index entries and counts of a partition are those of its records."""

import shutil
import tempfile
from pathlib import Path

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.store import keys
from batchcrawl.store.check import verify
from batchcrawl.store.crawldb import CrawlDb, Entry
from tests.support.crawldbs import enter, fp


class CrawlDbMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="crawldb-"))
        self.db = CrawlDb(self.folder / "db", create=True)
        self.batch = self.db.batch()
        self.in_hand: dict[bytes, Entry] = {}
        self.removed: set[bytes] = set()
        self.committed: dict[bytes, UrlRecord] = {}

    def entry(self, host: int, url: int) -> Entry:
        key = fp(host, url)
        entry = self.in_hand.get(key) or self.db.load(key) or enter(self.batch, host, url)
        self.in_hand[key] = entry
        return entry

    @rule(
        host=st.integers(1, 3),
        url=st.integers(1, 4),
        status=st.sampled_from(PageStatus),
        place=st.sampled_from(Place),
        level=st.integers(0, 255),
        at=st.none() | st.integers(0, 2**33),
    )
    def put(self, host: int, url: int, status: PageStatus, place: Place, level: int, at: int | None) -> None:
        entry = self.entry(host, url)
        record = entry.record
        record.status, record.place, record.level, record.next_fetch_at = status, place, level, at
        record.lease = 77 if place is Place.LEASED else None
        self.batch.put(entry)
        self.removed.discard(entry.fingerprint)

    @rule(host=st.integers(1, 3), url=st.integers(1, 4))
    def remove(self, host: int, url: int) -> None:
        key = fp(host, url)
        entry = self.in_hand.get(key) or self.db.load(key)
        if entry is not None and entry.stored_status is not None:
            self.batch.remove(entry)
            self.in_hand[key] = entry
            self.removed.add(key)

    @rule()
    def commit(self) -> None:
        self.batch.commit()
        self.committed |= {key: msgspec.structs.replace(entry.record) for key, entry in self.in_hand.items()}
        self.committed = {key: record for key, record in self.committed.items() if key not in self.removed}
        self.batch, self.in_hand, self.removed = self.db.batch(), {}, set()

    @rule()
    def lose_what_is_not_committed(self) -> None:
        self.db.close()
        self.db = CrawlDb(self.folder / "db")
        self.batch, self.in_hand, self.removed = self.db.batch(), {}, set()

    @invariant()
    def nothing_disagrees(self) -> None:
        assert list(verify(self.db)) == []

    @invariant()
    def every_committed_record_is_there_with_the_index_entries_of_its_place(self) -> None:
        stored = dict(self.db.records())
        places = {key: (r.status, r.place, r.level) for key, r in stored.items()}
        assert places == {key: (r.status, r.place, r.level) for key, r in self.committed.items()}
        expected = [pair for key, r in self.committed.items() for pair in keys.index_entries(key, r).items()]
        assert [*self.db.entries(b"r"), *self.db.entries(b"t")] == sorted(expected)

    def teardown(self) -> None:
        self.db.close()
        shutil.rmtree(self.folder)


TestCrawlDbMachine = CrawlDbMachine.TestCase
TestCrawlDbMachine.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
