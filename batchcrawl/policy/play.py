"""Play days of refetching over pages whose change rates are known: how fresh does a policy keep the copies?

Changes are Poisson, so what has not changed yet is as good as new: the next change is drawn when a page is fetched.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import Protocol

from batchcrawl.policy.populations import Page
from batchcrawl.policy.schedule import DAY_S, Belief, adaptive_interval
from batchcrawl.policy.value import value

ROUNDS_A_DAY = 4
AGE_DAYS_MAX = 365.0
_ADAPTIVE_FIRST_S, _ADAPTIVE_MIN_S, _ADAPTIVE_MAX_S = 30 * DAY_S, 60.0, 365 * DAY_S
"""Apache Nutch's defaults."""


class Player(Protocol):
    """A policy that has pages fetched."""

    def scores(self, now: float) -> list[float]:
        """Return what says which pages come first at an instant, in days; a page below 0 does not come."""

    def saw(self, page: int, *, at: float, tau: float, changed: bool) -> None:
        """Learn what a fetch saw, `tau` days after the last."""


class ByValue:
    """The policy `value`: what a refetch is worth by what is believed of the page."""

    def __init__(self, pages: Sequence[Page], beliefs: Sequence[Belief], fetched_at: Sequence[float]) -> None:
        self._weights, self._beliefs, self._at = [page.weight for page in pages], list(beliefs), list(fetched_at)

    def scores(self, now: float) -> list[float]:
        """Return what a refetch of each page is worth."""
        state = zip(self._beliefs, self._at, self._weights, strict=True)
        return [value(belief, tau=now - at, weight=weight) for belief, at, weight in state]

    def saw(self, page: int, *, at: float, tau: float, changed: bool) -> None:
        """Learn the rate."""
        belief = self._beliefs[page]
        self._beliefs[page], self._at[page] = belief.changed(tau) if changed else belief.unchanged(tau), at


class Fixed:
    """The policy `fixed`: the same interval for all, so the oldest copy comes first."""

    def __init__(self, pages: Sequence[Page], beliefs: Sequence[Belief], fetched_at: Sequence[float]) -> None:
        self._at = list(fetched_at)

    def scores(self, now: float) -> list[float]:
        """Return how old the copies are."""
        return [now - at for at in self._at]

    def saw(self, page: int, *, at: float, tau: float, changed: bool) -> None:
        """Note the fetch."""
        self._at[page] = at


class Adaptive:
    """The policy `adaptive`: Apache Nutch's intervals; of what is due the pages of most weight come first."""

    def __init__(self, pages: Sequence[Page], beliefs: Sequence[Belief], fetched_at: Sequence[float]) -> None:
        self._weights, self._interval_s = [page.weight for page in pages], [_ADAPTIVE_FIRST_S] * len(pages)
        self._changed_at = list(fetched_at)
        self._due_at = [at + _ADAPTIVE_FIRST_S / DAY_S for at in fetched_at]

    def scores(self, now: float) -> list[float]:
        """Return the weights of the pages that are due."""
        return [weight if due <= now else -1.0 for weight, due in zip(self._weights, self._due_at, strict=True)]

    def saw(self, page: int, *, at: float, tau: float, changed: bool) -> None:
        """Set the next interval."""
        if changed:
            self._changed_at[page] = at
        since_s = (at - self._changed_at[page]) * DAY_S
        interval_s, wait_s = adaptive_interval(
            self._interval_s[page],
            changed=changed,
            since_change_s=since_s,
            min_s=_ADAPTIVE_MIN_S,
            max_s=_ADAPTIVE_MAX_S,
        )
        self._interval_s[page], self._due_at[page] = interval_s, at + wait_s / DAY_S


class Known:
    """What nobody has: every rate is known, and the pages that gain the most come first."""

    def __init__(self, pages: Sequence[Page], beliefs: Sequence[Belief], fetched_at: Sequence[float]) -> None:
        self._pages, self._at = pages, list(fetched_at)

    def scores(self, now: float) -> list[float]:
        """Return what each page gains."""
        return [_gain(page, now - at) for page, at in zip(self._pages, self._at, strict=True)]

    def saw(self, page: int, *, at: float, tau: float, changed: bool) -> None:
        """Note the fetch."""
        self._at[page] = at


POLICIES: dict[str, type[ByValue] | type[Fixed] | type[Adaptive] | type[Known]] = {
    "value": ByValue,
    "fixed": Fixed,
    "adaptive": Adaptive,
    "known": Known,
}


def played(
    policy: str, pages: Sequence[Page], beliefs: Sequence[Belief], *, fetches_a_day: float, days: int, chance: Random
) -> float:
    """Return the share of weight and time for which copies were right, in so many days under a policy of POLICIES.

    The copies are at first of all ages that a fetch of all of them would take. Every page is believed of as `beliefs`
    say, and each fetch falls on a random instant of its round.
    """
    oldest = min(len(pages) / fetches_a_day, AGE_DAYS_MAX)
    copies = _Copies(pages, [-oldest * chance.random() for _ in pages], chance)
    player: Player = POLICIES[policy](pages, beliefs, copies.fetched_at)
    saved = 0.0
    for turn in range(days * ROUNDS_A_DAY):
        now = turn / ROUNDS_A_DAY
        saved += fetches_a_day / ROUNDS_A_DAY
        for page in _best(player.scores(now), int(saved)):
            at = now + chance.random() / ROUNDS_A_DAY
            tau, changed = copies.fetch(page, at)
            player.saw(page, at=at, tau=tau, changed=changed)
        saved -= int(saved)
    return copies.right_share(float(days))


class _Copies:
    """The copies as they are: when each was fetched, until when it is right, and what has been right so far."""

    def __init__(self, pages: Sequence[Page], fetched_at: list[float], chance: Random) -> None:
        self._pages, self._chance, self.fetched_at = pages, chance, fetched_at
        self._right_until = [self._next_change(page, at) for page, at in zip(pages, fetched_at, strict=True)]
        self._gained = 0.0

    def fetch(self, page: int, at: float) -> tuple[float, bool]:
        """Replace a copy; return the days since its last fetch, and whether the page had changed."""
        tau, changed = at - self.fetched_at[page], self._right_until[page] <= at
        self._settle(page, at)
        self.fetched_at[page] = at
        self._right_until[page] = self._next_change(self._pages[page], at)
        return tau, changed

    def right_share(self, days: float) -> float:
        """Return the share that was right from day 0 on; once, at the end."""
        for page in range(len(self._pages)):
            self._settle(page, days)
        return self._gained / (days * math.fsum(page.weight for page in self._pages))

    def _settle(self, page: int, until: float) -> None:
        right = min(self._right_until[page], until) - max(self.fetched_at[page], 0.0)
        self._gained += self._pages[page].weight * max(right, 0.0)

    def _next_change(self, page: Page, at: float) -> float:
        return at + self._chance.expovariate(page.rate) if page.rate > 0 else math.inf


def _best(scores: Sequence[float], wanted: int) -> list[int]:
    """Return the pages of the highest scores, best first."""
    able = [page for page, score in enumerate(scores) if score >= 0]
    return sorted(able, key=lambda page: -scores[page])[:wanted]


def _gain(page: Page, tau: float) -> float:
    """Return the freshness-time that a refetch gains at a known rate: w (1 - exp(-x) (1 + x)) / rate, x = rate tau."""
    x = page.rate * max(tau, 0.0)
    if x < 1e-4:
        return page.weight * x * max(tau, 0.0) / 2
    return page.weight * (1.0 - math.exp(-x) * (1.0 + x)) / page.rate
