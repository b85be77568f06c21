"""What a refetch is worth now, in weighted days, and when it will be worth as much as is wanted.

The value of a refetch is the freshness-time that it gains: the area form of Olston and Pandey ("Recrawl scheduling
based on information longevity", 2008) with the unknown change rate integrated out over its Gamma belief. With
s = tau / b it is w b h(s, a), h the integral from 0 to s of x a (1 + x)^-(a+1); in L = ln(1 + s) and
phi(z) = (exp(z) - 1) / z that is a L (phi((1-a) L) - phi(-a L)), which no a and no s bring to overflow.

Values are kept as levels, two an octave: a page rises from level to level as time goes by.
"""

import math

from batchcrawl.policy.schedule import SPAN_MAX, Belief, bounded_shape

LEVEL_MIN = 16
LEVEL_MAX = 255
"""The levels of refetches; those below belong to pages that were never fetched (policy/priority.py)."""
_LEVEL_OF_ONE = 128
_LEVELS_AN_OCTAVE = 2
_NEAR = 1e-9
"""A value this close below the bound of a level, relatively, has reached it: instants are rounded, too."""
_SERIES_BELOW = 0.005
_NOTHING = 1e-150
_STEPS_MAX = 80
_STEP_MAX = 200.0
_STEP_LAST = 1e-5
"""A step of Newton's method in ln tau that is so small leaves an error of its square."""


def value(belief: Belief, *, tau: float, weight: float) -> float:
    """Return what a refetch is worth in weighted days, `tau` days after the last fetch; 0 where no time has passed.

    Rises with `tau` and is proportional to `weight`. A belief of a longer memory than MEMORY_A counts as one of that.
    """
    if tau <= 0.0 or weight <= 0.0:
        return 0.0
    a, b = bounded_shape(belief.a, belief.b)
    return weight * b * _gain(min(tau, SPAN_MAX) / b, a)[0]


def still_right(belief: Belief, tau: float) -> float:
    """Return the chance that a copy is still right `tau` days after its fetch: (1 + tau/b)^-a."""
    a, b = bounded_shape(belief.a, belief.b)
    return math.exp(-a * math.log1p(min(max(tau, 0.0), SPAN_MAX) / b))


def value_level(worth: float) -> int:
    """Return the level of a value in weighted days: 128 for 1, two more each time it doubles; bounded."""
    if worth <= 0.0:
        return LEVEL_MIN
    if worth == math.inf:
        return LEVEL_MAX
    level = _LEVEL_OF_ONE + math.floor(_LEVELS_AN_OCTAVE * math.log2(worth) + _NEAR)
    return min(max(level, LEVEL_MIN), LEVEL_MAX)


def level_value(level: int) -> float:
    """Return the lower bound of a level in weighted days; value_level gives the level back."""
    return math.pow(2.0, (level - _LEVEL_OF_ONE) / _LEVELS_AN_OCTAVE)


def reached_after(belief: Belief, *, weight: float, wanted: float) -> float:
    """Return how many days after a fetch the next one is worth `wanted` weighted days; inf if it never is.

    For a > 1 a value stays below weight * b / (a - 1). Newton's method on ln V in ln tau: that is concave, so every
    step from a start that lies too early lies too early as well, and none goes too far. An instant that is made of
    the span is rounded up, so that the level is reached by then.
    """
    a, b = bounded_shape(belief.a, belief.b)
    scale = weight * b
    if wanted <= scale * _NOTHING:
        return 0.0
    if scale <= 0.0 or (a - 1.0) * wanted >= scale:
        return math.inf
    target = wanted / scale
    span, longest = math.sqrt(2.0 * target / a), SPAN_MAX / b
    for _ in range(_STEPS_MAX):
        if span > longest:
            return math.inf
        gain, growth = _gain(span, a)
        if growth <= 0.0:
            return math.inf
        step = math.log(target / gain) * gain / growth
        span *= math.exp(min(step, _STEP_MAX))
        if step < _STEP_LAST:
            break
    return span * b


def _gain(s: float, a: float) -> tuple[float, float]:
    """Return h(s, a), what is gained in units of b days, and its growth with ln s."""
    power = a + 1.0
    if power * s < _SERIES_BELOW:
        # The Taylor series, since the difference below would lose its digits.
        rest = 1 / 8 - (a + 3.0) * s * (1 / 30 - (a + 4.0) * s / 144)
        half = 0.5 - power * s * (1 / 3 - (a + 2.0) * s * rest)
        return a * s * s * half, a * s * s * math.exp(-power * math.log1p(s))
    span = math.log1p(s)
    down = -a * span
    up = down + span
    fall = math.expm1(down)
    rise = math.expm1(up) / up if up else 1.0
    return a * span * (rise - fall / down), a * s * s / (1.0 + s) * (1.0 + fall)
