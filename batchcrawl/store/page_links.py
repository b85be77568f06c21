"""The links of a page, as parse hands them to its output: those that are taken, and those that are not."""

from collections import Counter
from dataclasses import dataclass, field

from batchcrawl.model.entries import LinkLine, RejectedLink, RejectionLine

HOSTS_MAX = 1000
"""So many pairs of reason and host are written of a chunk, those with the most links; the rest is summed by reason."""
_HOSTS_HELD_MAX = 20_000
URL_CHARACTERS_MAX = 2000

Buckets = list[list[LinkLine]]
"""Links by target partition."""


@dataclass
class PageLinks:
    """The links of one page."""

    buckets: Buckets
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Those not taken, by reason and host key: of the target or, where that has none, of the page."""
    listed: list[RejectedLink] | None = None
    """Those not taken; None where they are not asked for."""


class RejectionCounts:
    """Counts links not taken by reason and host, in bounded memory."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._rest: Counter[str] = Counter()

    def add(self, rejected: Counter[tuple[str, str]]) -> None:
        """Add what was not taken of a page."""
        self._counts.update(rejected)
        if len(self._counts) > _HOSTS_HELD_MAX:
            self._prune()

    def lines(self) -> list[RejectionLine]:
        """Return at most HOSTS_MAX lines, most links first, then one for each reason that has more."""
        self._prune()
        lines = [
            RejectionLine(reason=reason, host=host, links=links) for (reason, host), links in _sorted(self._counts)
        ]
        return lines + [RejectionLine(reason=reason, links=links) for reason, links in sorted(self._rest.items())]

    def _prune(self) -> None:
        for pair, links in _sorted(self._counts)[HOSTS_MAX:]:
            self._rest[pair[0]] += links
            del self._counts[pair]


def _sorted(counts: Counter[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
