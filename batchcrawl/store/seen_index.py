"""The indexes of content of one partition: what the claims of a segment's pages make of them.

Settling only looks and says what each page is to the others. The keys are written once all partitions have settled, so
that one that is killed settles the same again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.seen_keys import group_of, page_of


@dataclass
class _Group:
    """What the visits of a segment say of one content."""

    gone: set[bytes] = field(default_factory=set)
    has: list[bytes] = field(default_factory=list)


def settle(db: CrawlDb, claims: Iterable[ClaimLine]) -> Iterator[VerdictLine]:
    """Yield what the pages of a segment are to those with the same content, in the order of the contents.

    A page that was not visited is spoken of where it takes the place of the first, or loses it. The database is that
    before the segment, and is not changed. Memory is that of the claims.
    """
    groups: dict[bytes, _Group] = {}
    for line in claims:
        for key in map(bytes.fromhex, line.gone):
            groups.setdefault(group_of(key), _Group()).gone.add(key)
        for key in map(bytes.fromhex, (*line.came, *line.stays)):
            groups.setdefault(group_of(key), _Group()).has.append(key)
    for start, group in sorted(groups.items()):
        yield from _settle_text(db, start, group)


def _settle_text(db: CrawlDb, start: bytes, group: _Group) -> Iterator[VerdictLine]:
    before = next(db.keys(start), None)
    staying = before
    if before in group.gone:
        staying = next((key for key in db.keys(start) if key not in group.gone), None)
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
