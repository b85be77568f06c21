"""The indexes of content of one partition: what the claims of a segment's pages make of them.

Settling only looks and says what each page is to the others. The keys are written once all partitions have settled, so
that one that is killed settles the same again.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import groupby

from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.keys import after
from batchcrawl.store.seen_keys import Share, group_of, is_text, order_of, page_of, run_of, simhash_of
from batchcrawl.web.signature import NEAR_BITS

BAND_MAX = 300
"""Different SimHashes of a band that are compared with; a site can bring any number of pages that differ by a word."""

Seek = Callable[[bytes], bytes | None]
"""Returns the first key of the database from a key on."""


@dataclass
class _Group:
    """What the visits of a segment say of one text, or of one band."""

    gone: set[bytes] = field(default_factory=set)
    has: list[bytes] = field(default_factory=list)


def settle(db: CrawlDb, claims: Iterable[ClaimLine], share: Share) -> Iterator[VerdictLine]:
    """Yield what the pages of a segment are to those with the same content or one like it.

    A page that was not visited is spoken of where it takes the place of the first, or loses it. The database is that
    before the segment, and is not changed. Memory is that of the claims.
    """
    gone: set[bytes] = set()
    keys: list[bytes] = []
    for line in claims:
        gone.update(share.keys(line.gone))
        keys += share.keys((*line.came, *line.stays))
    keys += gone
    keys.sort()
    with db.seeking() as seek:
        for start, of_start in groupby(keys, key=group_of):
            group = _Group()
            for key in of_start:
                (group.gone.add if key in gone else group.has.append)(key)
            yield from (_settle_text if is_text(start) else _settle_band)(seek, start, group)


def _next(seek: Seek, start: bytes, place: bytes, gone: Set[bytes] = frozenset()) -> bytes | None:
    """Return the first key from `place` on that begins with `start` and is not gone."""
    key = seek(place)
    while key is not None and key in gone:
        key = seek(key + b"\0")
    return key if key is not None and key.startswith(start) else None


def _settle_text(seek: Seek, start: bytes, group: _Group) -> Iterator[VerdictLine]:
    before = _next(seek, start, start)
    staying = _next(seek, start, before, group.gone) if before is not None else None
    first = min(filter(None, (staying, *group.has)), default=None)
    if first is None:
        return
    visited = set(group.has)
    for key in sorted(visited - {first}):
        yield _verdict(key, first)
    if before == first:
        return
    if first not in visited:
        yield _verdict(first, first)
    if before is not None and before not in visited | group.gone:
        yield _verdict(before, first)


def _verdict(key: bytes, first: bytes) -> VerdictLine:
    return VerdictLine(fp=page_of(key).hex(), first=page_of(first).hex())


def _settle_band(seek: Seek, start: bytes, group: _Group) -> Iterator[VerdictLine]:
    """Yield for each visited page the first before it with a SimHash near to its own."""
    if not group.has:
        return
    firsts = _firsts(seek, start, group.gone)
    if not firsts and len(group.has) == 1:
        return
    for key in group.has:
        simhash, order = simhash_of(key), order_of(key)
        if simhash in firsts or len(firsts) < BAND_MAX:
            firsts[simhash] = min(order, firsts.get(simhash, order))
    near: dict[int, bytes | None] = {}
    for key in sorted(group.has):
        simhash, order = simhash_of(key), order_of(key)
        if simhash not in near:
            found = (first for other, first in firsts.items() if (other ^ simhash).bit_count() <= NEAR_BITS)
            near[simhash] = min(found, default=None)
        first = near[simhash]
        if first is not None and first < order:
            yield VerdictLine(fp=page_of(order).hex(), near=first.hex())


def _firsts(seek: Seek, start: bytes, gone: Set[bytes]) -> dict[int, bytes]:
    """Return the first page of each SimHash of a band, a seek each."""
    firsts: dict[int, bytes] = {}
    place = start
    while len(firsts) < BAND_MAX:
        key = _next(seek, start, place, gone)
        if key is None:
            break
        firsts[simhash_of(key)] = order_of(key)
        place = after(run_of(key))
    return firsts
