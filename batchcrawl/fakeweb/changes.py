"""When pages change: each page is a Poisson process of its own, at a known rate.

Time is cut into windows of eight expected changes. The changes in a window come from the seed, the page
and the window's number alone, so that any instant of any page is answered without counting from the start.
"""

import math
from typing import NamedTuple

from batchcrawl.fakeweb.rolls import roll, stream

WEB_BORN_AT = 1_577_836_800
"""2020-01-01 UTC: pages are as first written until the first change after it."""
DAY_S = 86_400
RATES_PER_DAY = (0.0, 0.0, 0.0, 0.0, 0.0, 1 / 90, 1 / 90, 1 / 30, 1 / 30, 1 / 14, 1 / 7, 1 / 7, 1 / 3, 1.0, 1.0, 12.0)
"""A page takes one of these with equal chance."""

_EVENTS_PER_WINDOW = 8


class Version(NamedTuple):
    """The state of a page at an instant. Instants are seconds since 1970 UTC."""

    number: int
    """Grows with every change; not a count. Zero is the page as first written."""
    changed_at: float
    valid_until: float
    """Until then at least the page stays as it is."""


def change_rate(seed: int, *, host: int, page: int) -> float:
    """Return the expected changes of a page a day."""
    return RATES_PER_DAY[roll(seed, "rate", host, page) % len(RATES_PER_DAY)]


def version_at(seed: int, *, host: int, page: int, now: float) -> Version:
    """Return the state of a page at an instant."""
    rate = change_rate(seed, host=host, page=page)
    if rate == 0.0:
        return Version(0, WEB_BORN_AT, math.inf)
    if now < WEB_BORN_AT:
        return Version(0, WEB_BORN_AT, WEB_BORN_AT)
    length_s = _window_s(rate)
    window = int((now - WEB_BORN_AT) // length_s)
    end = WEB_BORN_AT + (window + 1) * length_s
    for number in range(window, -1, -1):
        times = _window(seed, host=host, page=page, rate=rate, number=number)
        past = sum(1 for at in times if at <= now)
        if number == window and past < len(times):
            end = times[past]
        if past:
            return Version((number + 1) * 1000 + past, times[past - 1], end)
    return Version(0, WEB_BORN_AT, end)


def changes_between(seed: int, *, host: int, page: int, after: float, until: float) -> list[float]:
    """Return the instants of a page's changes in (after, until], in order."""
    rate = change_rate(seed, host=host, page=page)
    if rate == 0.0 or until <= WEB_BORN_AT:
        return []
    first = int((max(after, WEB_BORN_AT) - WEB_BORN_AT) // _window_s(rate))
    last = int((until - WEB_BORN_AT) // _window_s(rate))
    windows = (_window(seed, host=host, page=page, rate=rate, number=number) for number in range(first, last + 1))
    return [at for times in windows for at in times if after < at <= until]


def _window_s(rate: float) -> float:
    return _EVENTS_PER_WINDOW * DAY_S / rate


def _window(seed: int, *, host: int, page: int, rate: float, number: int) -> list[float]:
    chance = stream(seed, "change", host, page, number)
    times: list[float] = []
    at, length_s = 0.0, _window_s(rate)
    while True:
        at -= math.log(1.0 - chance.random()) * DAY_S / rate
        if at >= length_s:
            return times
        times.append(WEB_BORN_AT + number * length_s + at)
