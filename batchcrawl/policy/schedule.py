"""When a page comes again: a belief about its change rate, learned from what each fetch saw.

The rate is unknown; the belief is Gamma(shape a, rate b), b in days. A fetch sees only whether the content
differs from the last one (Poisson changes; Cho and Garcia-Molina, "Estimating frequency of change", 2003).
"""

import math
from dataclasses import dataclass

DAY_S = 86_400.0
PRIOR_A = 0.25
PRIOR_RATE = 0.6
"""Changes a day: the mean of a belief that is very wide by PRIOR_A."""
PRIOR_B = PRIOR_A / PRIOR_RATE
MEMORY_A = 20.0
"""Above this shape the belief is scaled down, so that a page whose habits change is learned anew."""
RARELY_FACTOR = 1.5
ADAPTIVE_LONGER, ADAPTIVE_SHORTER, ADAPTIVE_SYNC = 0.4, 0.2, 0.3
"""Apache Nutch's defaults: db.fetch.schedule.adaptive.inc_rate, .dec_rate and .sync_delta_rate."""


SPAN_MIN, SPAN_MAX = 1e-9, 1e30
"""Bounds in days of a belief's b and of any span, so that whatever a float32 holds can be computed with."""
SHAPE_MIN = 1e-9
"""Likewise of a; the prior's is far above."""


@dataclass(frozen=True)
class Belief:
    """What is believed of a page's change rate, in changes a day."""

    a: float = PRIOR_A
    b: float = PRIOR_B

    @property
    def rate(self) -> float:
        """The expected rate, in changes a day."""
        return self.a / self.b

    def unchanged(self, tau: float) -> "Belief":
        """Return the belief after a fetch that saw the same content, `tau` days after the last."""
        return Belief(*bounded_shape(self.a, self.b + max(tau, 0.0)))

    def changed(self, tau: float) -> "Belief":
        """Return the belief after a fetch that saw other content, `tau` days after the last.

        The likelihood is 1 - exp(-rate tau); the posterior is matched by its first two moments.
        """
        if tau <= 0:
            return self
        a, b = bounded_shape(self.a, self.b)
        tau = min(tau, SPAN_MAX)
        span = math.log1p(tau / b)
        chance = -math.expm1(-a * span)
        if span < 1e-12 or chance <= 0.0:
            return Belief(*bounded_shape(a + 1, b + tau / 2))
        first = (a / b) * -math.expm1(-(a + 1) * span) / chance
        second = a * (a + 1) / (b * b) * -math.expm1(-(a + 2) * span) / chance
        variance = second - first * first
        if variance <= 0:
            return Belief(*bounded_shape(a + 1, b + tau / 2))
        return Belief(*bounded_shape(first * first / variance, first / variance))

    def changed_at(self, *, tau: float, age: float) -> "Belief":
        """Return the belief after a fetch, `tau` days after the last, whose content is known to be `age` days old.

        The likelihood is that of the last change alone: rate exp(-rate age), 0 <= age <= tau.
        """
        if tau <= 0:
            return self
        return Belief(*bounded_shape(self.a + 1, self.b + min(max(age, 0.0), tau)))


PRIOR = Belief()
"""What is believed of a page before anything is known of it, its host or the crawl."""


def bounded_shape(a: float, b: float) -> tuple[float, float]:
    """Return a belief's `a` and `b` within its memory, with the same expected rate, and within what can be computed."""
    if a > MEMORY_A:
        a, b = MEMORY_A, b * (MEMORY_A / a)
    elif a < SHAPE_MIN:
        a = SHAPE_MIN
    return a, SPAN_MIN if b < SPAN_MIN else b if b < SPAN_MAX else SPAN_MAX


def bounded_interval(wanted_s: float, *, min_s: float, max_s: float) -> int:
    """Return a fetch interval in whole seconds, at least 1, within the job's bounds."""
    return max(1, int(min(max(wanted_s, min_s), max_s)))


def adaptive_interval(
    last_s: float, *, changed: bool | None, since_change_s: float, min_s: float, max_s: float
) -> tuple[int, int]:
    """Return the next interval of Apache Nutch's AdaptiveFetchSchedule, and the wait until the next fetch, in seconds.

    `changed` is what the fetch saw, None for nothing; `since_change_s` is how old the content is. The interval grows
    with sameness and shrinks with change; the wait is shorter by a part of that age, so that fetches follow changes.
    """
    factor = 1.0 if changed is None else 1.0 - ADAPTIVE_SHORTER if changed else 1.0 + ADAPTIVE_LONGER
    interval_s = bounded_interval(max(last_s * factor, since_change_s), min_s=min_s, max_s=max_s)
    wait_s = bounded_interval(interval_s - ADAPTIVE_SYNC * since_change_s, min_s=min_s, max_s=interval_s)
    return interval_s, wait_s


def rare_interval(last_s: int | None, *, min_s: float, max_s: float) -> int:
    """Return the next interval of a page that is gone: half as long again each time, bounded."""
    return bounded_interval((last_s or 0) * RARELY_FACTOR, min_s=min_s, max_s=max_s)


def retry_wait(failures: int, *, wait_s: float, max_s: float) -> int:
    """Return the wait in seconds before the next try: doubled with each failure in a row, bounded."""
    return int(min(wait_s * 2 ** min(failures - 1, 30), max_s))
