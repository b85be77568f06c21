"""Parts of a web that go on without end: a path for every number, and from each number ways to others.

A place in a trap is two numbers, `page` and `step`. Every place has a text of its own, as no crawler could tell by it
that it has been there, but for session paths: those show the pages of their host once more.
"""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from batchcrawl.fakeweb.rolls import pick, roll, stream

FACETS = ("brand", "color", "material", "price", "rating", "size", "sort", "view")
_CHOICES = 10
_SESSIONS = 1 << 44
_FIRST_MONTH = 12 * 2026
_GROWTH_MAX = 60
"""Most times that a link grows by one step of itself: by then its URL is longer than any crawler takes."""


class Spot(NamedTuple):
    """A place in a trap."""

    page: int
    step: int


def trap_path(trap: str, spot: Spot) -> str:
    """Return path and query of a place in the trap of that name, as a canonical URL has them."""
    page, step = spot
    if trap == "calendar":
        day = f"{step:02}/" if step else ""
        return f"/calendar/{page // 12:04}/{page % 12 + 1:02}/{day}"
    if trap == "session_paths":
        return f"/s-{step:011x}/read/{page}.html"
    if trap == "repeating_paths":
        return f"/shop/{'again/' * step}"
    if trap == "growing_parameters":
        path = "/login"
        for _ in range(step + 1):
            path = f"/login?return={quote(path, safe='')}"
        return path
    chosen = [f"{name}={value}" for name, value in zip(FACETS, _choices(step), strict=True) if value]
    return f"/list?{'&'.join(chosen)}" if chosen else "/list"


def trap_spot(trap: str, path: str) -> Spot | None:
    """Return the place in a trap that stands at a path and query, or None."""
    spot = _FINDERS[trap](path)
    return spot if spot is not None and trap_path(trap, spot) == path else None


def trap_ways(trap: str, spot: Spot, *, seed: int, host: int) -> list[Spot]:
    """Return where a place in a trap leads, the trap's own places alone; session paths lead where their pages do."""
    page, step = spot
    if trap == "calendar":
        days = [Spot(page, day) for day in range(1, 29)] if not step else []
        return [Spot(page - 1, 0), Spot(page + 1, 0), *days]
    if trap in ("repeating_paths", "growing_parameters"):
        return [Spot(page, step + 1)] if step < _GROWTH_MAX else []
    if trap == "facets":
        chance = stream(seed, "facets", host, step)
        steps = [
            step + (pick(chance, _CHOICES) - _digit(step, place)) * _CHOICES**place for place in range(len(FACETS))
        ]
        return [Spot(page, other) for other in steps]
    return []


def trap_entrance(trap: str) -> Spot:
    """Return where the front page of a host leads into a trap."""
    return Spot(_FIRST_MONTH, 0) if trap == "calendar" else Spot(0, 0)


def new_session(seed: int, *, host: int, step: int, position: int) -> int:
    """Return the number of the session that a link begins: another on every page of every session."""
    return roll(seed, "session", host, step, position) % _SESSIONS


def _digit(step: int, place: int) -> int:
    return int(step // _CHOICES**place % _CHOICES)


def _choices(step: int) -> list[int]:
    return [_digit(step, place) for place in range(len(FACETS))]


def _find_calendar(path: str) -> Spot | None:
    match = re.fullmatch(r"/calendar/([0-9]{4})/([0-9]{2})/(?:([0-9]{2})/)?", path)
    if match is None or not 1 <= int(match[2]) <= 12 or int(match[3] or 0) > 28:
        return None
    return Spot(12 * int(match[1]) + int(match[2]) - 1, int(match[3] or 0))


def _find_session(path: str) -> Spot | None:
    match = re.fullmatch(r"/s-([0-9a-f]{11})/read/([0-9]{1,18})\.html", path)
    return None if match is None else Spot(int(match[2]), int(match[1], 16))


def _find_repeating(path: str) -> Spot | None:
    match = re.fullmatch(r"/shop/((?:again/)*)", path)
    return None if match is None else Spot(0, len(match[1]) // len("again/"))


def _find_growing(path: str) -> Spot | None:
    step = -1
    while path.startswith("/login?return=") and step <= _GROWTH_MAX:
        path, step = unquote(path.partition("=")[2]), step + 1
    return Spot(0, step) if step >= 0 else None


def _find_facets(path: str) -> Spot | None:
    match = re.fullmatch(r"/list(?:\?([a-z0-9=&]+))?", path)
    if match is None:
        return None
    step = 0
    for pair in (match[1] or "").split("&") if match[1] else ():
        name, _, value = pair.partition("=")
        if name not in FACETS or not re.fullmatch("[1-9]", value):
            return None
        step += int(value) * _CHOICES ** FACETS.index(name)
    return Spot(0, step)


_FINDERS = {
    "calendar": _find_calendar,
    "session_paths": _find_session,
    "repeating_paths": _find_repeating,
    "growing_parameters": _find_growing,
    "facets": _find_facets,
}
