"""Which visited pages have texts near to those of earlier ones: SimHashes, looked up by their halves.

Of two that differ in at most NEAR_BITS bits, which are three, one half differs in at most one (M. Norouzi, A. Punjani,
D. J. Fleet, Fast search in Hamming space with multi-index hashing, 2012). So each page stands in the index by each half
of its SimHash, and a page that was visited is compared with those under its own half, and under the 32 that differ from
it in one bit. All these are looked up in their order, which is one way through the keys.
"""

from collections.abc import Iterable, Iterator, Sequence, Set

from batchcrawl.model.seen import VerdictLine
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.forward import Forward
from batchcrawl.store.keys import after
from batchcrawl.store.seen_keys import (
    HALF_BITS,
    NEAR_KINDS,
    Share,
    group_of,
    half_of,
    keys_of,
    order_of,
    page_of,
    rest_of,
)
from batchcrawl.web.signature import NEAR_BITS

HALF_MAX = 300
"""SimHashes with one half that are compared with; a site can bring any number of pages that differ by a word."""
_SLICE_BITS = 16
_SLICE = 1 << _SLICE_BITS
"""SimHashes looked for at once, each under 33 halves: what is held of them is 80 MB, divided by the partitions."""
_NO_HALF = 1 << HALF_BITS
_FLIPS = (0, *(1 << bit + _SLICE_BITS for bit in range(HALF_BITS)))

Firsts = dict[int, bytes]
"""Order of the first page of each SimHash with one half, by the other half."""


def near_pages(db: CrawlDb, visited: Iterable[bytes], gone: Set[bytes], share: Share) -> Iterator[VerdictLine]:
    """Yield for each visited page the first before it with a SimHash near to its own, as far as one partition knows.

    `visited` are contents of SimHashes that pages have, `gone` are keys that count no more. Memory is that of both.
    """
    orders: dict[bytes, list[bytes]] = {}
    for content in visited:
        orders.setdefault(group_of(content), []).append(order_of(content))
    firsts = {simhash: min(having) for simhash, having in orders.items()}
    near: dict[bytes, bytes] = {}
    for table, kind in enumerate(NEAR_KINDS):
        search = _Search(kind, {keys_of(simhash + order)[table]: simhash for simhash, order in firsts.items()}, share)
        for start in range(0, len(firsts), _SLICE):
            with db.forward(kind) as forward:
                search.take(slice(start, start + _SLICE), _Stored(forward, kind, gone), near)
    for simhash, having in sorted(orders.items()):
        first = near.get(simhash)
        for order in sorted(having) if first is not None else ():
            if first is not None and first < order:
                yield VerdictLine(fp=page_of(order).hex(), near=first.hex())


class _Search:
    """Looks for the SimHashes that are near to those of visited pages, by one of their halves."""

    def __init__(self, kind: bytes, keys: dict[bytes, bytes], share: Share) -> None:
        """`keys` are those of the first page with each SimHash, of the kind, with what tells of the SimHash."""
        self._simhashes = list(keys.values())
        self._halves, self._rests = list(map(half_of, keys)), list(map(rest_of, keys))
        self._within = share.halves
        self._brought: dict[int, Firsts] = {}
        for key in sorted(keys):
            with_half = self._brought.setdefault(half_of(key), {})
            if len(with_half) < HALF_MAX:
                with_half[rest_of(key)] = order_of(key)

    def take(self, some: slice, stored: "_Stored", near: dict[bytes, bytes]) -> None:
        """Look for some of them; `near` takes up the first page that is near, where it is before the one found."""
        offset, brought, at, last, firsts = some.start, self._brought, -1, -1, Firsts()
        for probe in self._probes(some):
            half = probe >> _SLICE_BITS
            if half > at:
                at = stored.go_to(half)
            if half != at and half not in brought:
                continue
            if half != last:
                last, firsts = half, _joined(stored.firsts() if half == at else {}, brought.get(half, {}))
            number = offset + (probe & (_SLICE - 1))
            rest, bits = self._rests[number], NEAR_BITS - (half != self._halves[number])
            found = [order for other, order in firsts.items() if (other ^ rest).bit_count() <= bits]
            if found:
                simhash, order = self._simhashes[number], min(found)
                near[simhash] = min(order, near.get(simhash, order))

    def _probes(self, some: slice) -> Sequence[int]:
        """Return the halves to look under, in order, each with the number of the SimHash as its lowest bits."""
        low, high = (half << _SLICE_BITS for half in (self._within.start, self._within.stop))
        own = [half << _SLICE_BITS | number for number, half in enumerate(self._halves[some])]
        probes = [probe for flip in _FLIPS for half in own if low <= (probe := half ^ flip) < high]
        probes.sort()
        return probes


class _Stored:
    """The keys of one kind, by halves in ascending order."""

    def __init__(self, forward: Forward, kind: bytes, gone: Set[bytes]) -> None:
        self._forward, self._kind, self._gone = forward, kind, gone
        self._key: bytes | None = None
        self._half = _NO_HALF

    def go_to(self, half: int) -> int:
        """Go on to the first half from `half` on, and return it."""
        key = self._key = self._first_from(self._kind + half.to_bytes(HALF_BITS // 8, "big"))
        self._half = _NO_HALF if key is None else half_of(key)
        return self._half

    def firsts(self) -> Firsts:
        """Return the first page of each SimHash with that half; to be asked once."""
        firsts: Firsts = {}
        key = self._key
        while key is not None and half_of(key) == self._half and len(firsts) < HALF_MAX:
            firsts[rest_of(key)] = order_of(key)
            key = self._first_from(after(group_of(key)))
        return firsts

    def _first_from(self, place: bytes) -> bytes | None:
        key = self._forward.first_from(place)
        while key is not None and key in self._gone:
            key = self._forward.first_from(key + b"\0")
        return key


def _joined(stored: Firsts, brought: Firsts) -> Firsts:
    """Return both, at most HALF_MAX; of a SimHash that both have the first page."""
    for rest, order in brought.items():
        if rest in stored or len(stored) < HALF_MAX:
            stored[rest] = min(order, stored.get(rest, order))
    return stored
