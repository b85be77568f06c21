"""What filter and cache of LevelDB buy: a round's links looked up in a crawldb larger than the cache."""

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import Place
from batchcrawl.store.crawldb import CrawlDb, Entry, Tuning
from tests.bench.table import Row

_BATCH = 20_000
_HOST_URLS = 1000
_CHOSEN = Tuning()
_OTHERS = {
    "no filter": replace(_CHOSEN, bloom_bits=0),
    "20 bits": replace(_CHOSEN, bloom_bits=20),
    "8 MB": replace(_CHOSEN, cache_bytes=8 << 20),
    "256 MB": replace(_CHOSEN, cache_bytes=256 << 20),
}


def run(*, quick: bool) -> list[Row]:
    """Look known and new URLs up under several tunings and return the look-ups a second of CPU time."""
    records, lookups = (20_000, 2_000) if quick else (1_000_000, 100_000)
    rng = random.Random(1)
    known = [_fingerprint(n) for n in rng.sample(range(records), lookups)]
    new = [_fingerprint(n) for n in rng.sample(range(records, 2 * records), lookups)]
    rows: list[Row] = []
    with TemporaryDirectory(prefix="bench-") as name:
        rates = {label: _measure(Path(name) / label, t, records, known, new) for label, t in _tunings().items()}
    for label in _OTHERS:
        for what, ours in rates["chosen"].items():
            rows.append(Row(what=what, ours=ours, unit="URLs/CPU s", other=rates[label][what], other_name=label))
    return rows


def _tunings() -> dict[str, Tuning]:
    return {"chosen": _CHOSEN, **_OTHERS}


def _measure(
    path: Path, tuning: Tuning, records: int, known: Sequence[bytes], new: Sequence[bytes]
) -> dict[str, float]:
    """Fill a crawldb, since the filter is written with its files, and look URLs up that come in random order."""
    with CrawlDb(path, create=True, tuning=tuning) as db:
        _fill(db, records)
    with CrawlDb(path, tuning=tuning) as db:
        return {
            "known URLs in key order": _rate(db, sorted(known)),
            "new URLs in key order": _rate(db, sorted(new)),
            "known URLs in any order": _rate(db, known),
        }


def _fill(db: CrawlDb, records: int) -> None:
    fingerprints = sorted(_fingerprint(n) for n in range(records))
    for start in range(0, records, _BATCH):
        batch = db.batch()
        for fp in fingerprints[start : start + _BATCH]:
            entry = Entry.new(fp, _record(fp))
            batch.enter_host(entry.host_part, HostRecord(host="http://a.test", domain="a.test", first_seen_at=0))
            batch.put(entry)
        batch.commit()


def _fingerprint(number: int) -> bytes:
    host = (number // _HOST_URLS).to_bytes(8)
    return blake2b(host, digest_size=8).digest() + blake2b(number.to_bytes(8), digest_size=8).digest()


def _record(fp: bytes) -> UrlRecord:
    url = f"http://a.test/some/folder/{fp.hex()}"
    return UrlRecord(url=url, place=Place.READY, level=1, depth=3, source=fp, first_seen_at=0, next_fetch_at=0)


def _rate(db: CrawlDb, fingerprints: Sequence[bytes]) -> float:
    started = time.process_time()
    for fp in fingerprints:
        db.load(fp)
    return len(fingerprints) / (time.process_time() - started)
