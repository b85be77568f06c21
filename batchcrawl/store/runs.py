"""Sorted runs merged by the block: C code sorts what the blocks have in common, instead of Python taking item by item.

Of every run a block is at hand. Up to the least of their ends everything is known and is sorted at once, which costs
what a merge does, since the sort finds the runs (Timsort).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


def merged(runs: Sequence[Iterator[list[T]]], *, key: Callable[[T], str]) -> Iterator[list[T]]:
    """Yield all items in the order of their keys, in lists of which no two share a key.

    Each run gives blocks, and is sorted. Items with one key come in the order of the runs.
    """
    open_runs = [_Run(blocks, key) for blocks in runs]
    while open_runs:
        for run in open_runs:
            run.refill()
        bound = min((run.last for run in open_runs if not run.ended), default=None)
        together = [item for run in open_runs for item in run.take(bound)]
        together.sort(key=key)
        if together:
            yield together
        else:  # what is at hand has the bound alone
            for run in open_runs:
                if not run.ended and run.last == bound:
                    run.read()
        open_runs = [run for run in open_runs if run.left or not run.ended]


class _Run(Generic[T]):
    """A run, and the block of it that is at hand."""

    def __init__(self, blocks: Iterator[list[T]], key: Callable[[T], str]) -> None:
        self.ended = False
        """Nothing is left to be read."""
        self._blocks, self._key = blocks, key
        self._block: list[T] = []
        self._start = 0
        """So much of the block is taken."""

    @property
    def left(self) -> int:
        """Items at hand."""
        return len(self._block) - self._start

    @property
    def last(self) -> str:
        """Key of the last item at hand."""
        return self._key(self._block[-1])

    def refill(self) -> None:
        """Read on where less than half a block is left; then there is something, unless the run has ended."""
        while not self.ended and self.left <= len(self._block) // 2:
            self.read()

    def read(self) -> None:
        """Read the next block, if there is one."""
        more = next(self._blocks, None)
        if more is None:
            self.ended = True
        else:
            self._block = self._block[self._start :] + more
            self._start = 0

    def take(self, bound: str | None) -> list[T]:
        """Take the items before `bound`, or all."""
        start, end = self._start, len(self._block)
        if bound is not None:
            end = bisect_left(self._block, bound, lo=start, key=self._key)
        self._start = end
        return self._block[start:end]
