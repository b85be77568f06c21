"""The indexes of content of one partition: what the claims of a segment's pages make of them.

Settling only looks and says what each page is to the others. The keys are written once all partitions have settled, so
that one that is killed settles the same again.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import groupby

from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.forward import Forward
from batchcrawl.store.near_index import near_pages
from batchcrawl.store.seen_keys import TEXT_KIND, Share, group_of, is_text, page_of


@dataclass
class _Group:
    """What the visits of a segment say of one text."""

    gone: set[bytes] = field(default_factory=set)
    has: list[bytes] = field(default_factory=list)


def settle(db: CrawlDb, claims: Iterable[ClaimLine], share: Share) -> Iterator[VerdictLine]:
    """Yield what the pages of a segment are to those with the same content or one like it.

    A page that was not visited is spoken of where it takes the place of the first, or loses it. The database is that
    before the segment, and is not changed. Memory is that of the claims.
    """
    gone: set[bytes] = set()
    texts: list[bytes] = []
    like: list[bytes] = []
    for line in claims:
        gone.update(share.keys(line.gone))
        for content in map(bytes.fromhex, (*line.came, *line.stays)):
            (texts if is_text(content) else like).append(content)
    yield from _settle_texts(db, texts, gone)
    yield from near_pages(db, like, gone, share)


def _settle_texts(db: CrawlDb, has: list[bytes], gone: Set[bytes]) -> Iterator[VerdictLine]:
    keys = sorted([*has, *filter(is_text, gone)])
    with db.forward(TEXT_KIND) as forward:
        for start, of_start in groupby(keys, key=group_of):
            group = _Group()
            for key in of_start:
                (group.gone.add if key in gone else group.has.append)(key)
            yield from _settle_text(forward, start, group)


def _next(forward: Forward, start: bytes, place: bytes, gone: Set[bytes] = frozenset()) -> bytes | None:
    """Return the first key from `place` on that begins with `start` and is not gone."""
    key = forward.first_from(place)
    while key is not None and key in gone:
        key = forward.first_from(key + b"\0")
    return key if key is not None and key.startswith(start) else None


def _settle_text(forward: Forward, start: bytes, group: _Group) -> Iterator[VerdictLine]:
    before = _next(forward, start, start)
    staying = _next(forward, start, before, group.gone) if before is not None else None
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
