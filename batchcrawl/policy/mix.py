"""How places are divided between pages never fetched and refetches, of a segment and of each of its hosts."""

from dataclasses import dataclass

from batchcrawl.policy.priority import shares
from batchcrawl.policy.value import LEVEL_MIN


@dataclass(frozen=True, kw_only=True)
class Mix:
    """What a segment shall hold of both."""

    new_share: float = 0.5
    """Share of the places that pages never fetched may claim; what one side leaves, the other takes."""
    refetches_max: int | None = None
    """Most refetches of the whole segment; None for no limit."""

    def split(self, *, new: int, refetches: int, places: int, turn: int) -> tuple[int, int]:
        """Return how many of so many new pages and refetches get one of the places.

        `turn` is any number that differs from segment to segment: by it a share that is no whole number is rounded,
        so that over the segments a host of a single place gives both.
        """
        if self.refetches_max is not None:
            refetches = min(refetches, self.refetches_max)
        share = self.new_share * places
        claimed = int(share) + (_fraction(turn) < share - int(share))
        taken = min(new, max(claimed, places - refetches))
        return taken, min(refetches, places - taken)

    def quotas(self, available: dict[int, int], *, places: int, turn: int) -> dict[int, int]:
        """Divide the places of a segment among levels that have `available` pages each.

        Levels of new pages each get a share, by `priority.shares`; refetches are taken from the highest level down.
        """
        fresh = {level: pages for level, pages in available.items() if level < LEVEL_MIN}
        known = {level: pages for level, pages in available.items() if level >= LEVEL_MIN}
        new, left = self.split(new=sum(fresh.values()), refetches=sum(known.values()), places=places, turn=turn)
        quotas = shares(fresh, total=new)
        for level in sorted(known, reverse=True):
            quotas[level] = min(known[level], left)
            left -= quotas[level]
        return quotas

    def places_for_refetches(self, available: dict[int, int], *, places: int, turn: int) -> int:
        """Return how many refetches the segment takes if there are enough of them."""
        new = sum(pages for level, pages in available.items() if level < LEVEL_MIN)
        return self.split(new=new, refetches=places, places=places, turn=turn)[1]


def _fraction(turn: int) -> float:
    """Return a number in [0, 1): those of turns one after the other fall evenly (Knuth, TAOCP 3, 6.4)."""
    return (turn * 0x9E37_79B1 & 0xFFFF_FFFF) / 2**32
