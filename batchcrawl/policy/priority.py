"""Priority levels of URLs that were never fetched: a higher one is taken first, and every one keeps a share.

The levels above them, from policy.value.LEVEL_MIN on, are those of refetches.
"""

LEVEL_MAX = 15
SEED_LEVEL = 12
COSTLY_LEVEL = 0
"""Below every link: calendars, facets and copies come when nothing else waits, and by their share."""


def seed_level(score: float | None) -> int:
    """Return the level of a seed: 12, one more for each doubling of its score, one less for each halving."""
    if score is None or score == 1:
        return SEED_LEVEL
    if score <= 0:
        return 0
    level = SEED_LEVEL
    while score >= 2 and level < LEVEL_MAX:
        level, score = level + 1, score / 2
    while score <= 0.5 and level > 0:
        level, score = level - 1, score * 2
    return level


def link_level(depth: int) -> int:
    """Return the level of a new URL found `depth` links from a seed: one less a link, never below 1."""
    return max(1, SEED_LEVEL - 1 - depth)


def draw_pattern(levels: list[int]) -> list[int]:
    """Return the order in which levels are drawn from, repeated: higher levels more often, none never.

    The k-th level from the bottom stands k times in the pattern, the highest first.
    """
    ordered = sorted(levels)
    shares = {level: rank for rank, level in enumerate(ordered, 1)}
    return [level for turn in range(1, len(ordered) + 1) for level in reversed(ordered) if shares[level] >= turn]


def shares(available: dict[int, int], *, total: int) -> dict[int, int]:
    """Divide `total` places among levels that have `available` URLs each.

    The k-th level from the bottom has weight k and takes at most what it has; what a level leaves goes to
    the others by the same weights. The sum is min(total, sum of available).
    """
    ranks = {level: rank for rank, level in enumerate(sorted(available), 1)}
    taken = dict.fromkeys(ranks, 0)
    left = min(total, sum(available.values()))
    while left > 0:
        hungry = [level for level in sorted(ranks, reverse=True) if taken[level] < available[level]]
        weight = sum(ranks[level] for level in hungry)
        pot = left
        for level in hungry:
            fair = max(1, pot * ranks[level] // weight)
            given = min(fair, available[level] - taken[level], left)
            taken[level] += given
            left -= given
    return taken
