"""How much a URL matters beside others: its weight, by which the value of a refetch is multiplied."""

import math
from typing import NamedTuple

from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.linking import domains

DEPTH_OF_ONE = 2
"""A page so many links from a seed weighs 1; the weight doubles with each two links less."""
DEPTH_PART_MIN = 0.25
SCORE_MIN, SCORE_MAX = 1 / 64, 64.0
INLINKS_PART_MAX = 8.0
"""The weight grows with the root of the number of domains, up to this."""
COSTLY_PART = 1 / 16
"""Calendars, facets and copies: taken again when little else waits."""
_DEPTH_PARTS = (2.0, 2.0**0.5, 1.0, 0.5**0.5, 0.5, 0.125**0.5)


class Importance(NamedTuple):
    """The parts of a weight, which are multiplied."""

    depth: float
    """By the links from the nearest seed."""
    score: float
    """The seed's own score."""
    inlinks: float
    """By the registered domains beside its own that link to it, about."""
    costly: float
    """Of URLs that look like a part of the web that goes on without end."""

    @property
    def weight(self) -> float:
        """The weight; 1 is that of a page of no particular importance."""
        return self.depth * self.score * self.inlinks * self.costly


def importance(record: UrlRecord) -> Importance:
    """Return the parts of a URL's weight, each above 0."""
    depth = _DEPTH_PARTS[record.depth] if record.depth < len(_DEPTH_PARTS) else DEPTH_PART_MIN
    # In this order a score that is no number counts as the least.
    score = 1.0 if record.score is None else min(max(SCORE_MIN, record.score), SCORE_MAX)
    inlinks = min(math.sqrt(1.0 + domains(record.inlinks)), INLINKS_PART_MAX) if record.inlinks else 1.0
    return Importance(depth, score, inlinks, COSTLY_PART if record.costly else 1.0)
