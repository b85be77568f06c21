"""Times and sizes as people write them: a number and its unit, such as `30s` or `10MB`."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

KB, MB, GB = 1000, 1000**2, 1000**3
MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86400.0, 365 * 86400.0

DURATION_FORM = 'a time with a unit, such as "30s", "6h" or "7d"'
SIZE_FORM = 'a size with a unit, such as "10MB" or "2MiB"'


def parse_duration(text: str) -> float | None:
    """Return the seconds of a time such as `250ms`, `30s`, `10m`, `6h`, `7d` or `2w`; None if it is none."""
    amount = _amount(text, units=_DURATIONS)
    return None if amount is None else float(amount)


def parse_size(text: str) -> int | None:
    """Return the bytes of a size such as `512B`, `10MB` (10^6) or `2MiB` (2^20); None if it is none.

    Units may stand in any case; a part of a byte is no size.
    """
    amount = _amount(text.lower(), units=_SIZES)
    return int(amount) if amount is not None and amount == int(amount) else None


def format_duration(seconds: float) -> str:
    """Return the shortest whole spelling of a time, which `parse_duration` reads back as the same number."""
    exact = Decimal(repr(float(seconds)))
    return _spelled(exact, units=_DURATIONS, smallest="s", spell=str)


def about(seconds: float) -> str:
    """Return a time as people say it: `45 s`, `12 min`, `3.5 h`, `12 days`."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    if seconds < 90 * MINUTE:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h" if seconds < 2 * DAY else f"{seconds / DAY:.0f} days"


def instant(at: float) -> str:
    """Return an instant, in seconds since 1970, in the form of RFC 3339: `2026-11-30T10:15:00Z`."""
    return datetime.fromtimestamp(int(at), UTC).replace(tzinfo=None).isoformat() + "Z"


def format_size(size_bytes: int) -> str:
    """Return the shortest whole spelling of a size, which `parse_size` reads back as the same number."""
    return _spelled(Decimal(size_bytes), units=_SIZES, smallest="b", spell=_SIZE_SPELLINGS.__getitem__)


_DURATIONS = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
    "w": Decimal(7 * 86400),
}
_SIZES = {
    "b": Decimal(1),
    "kb": Decimal(1000),
    "kib": Decimal(2**10),
    "mb": Decimal(1000**2),
    "mib": Decimal(2**20),
    "gb": Decimal(1000**3),
    "gib": Decimal(2**30),
    "tb": Decimal(1000**4),
    "tib": Decimal(2**40),
}
_SIZE_SPELLINGS = {unit: unit.upper().replace("I", "i") for unit in _SIZES}
_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([A-Za-z]{1,3})")


def _amount(text: str, *, units: dict[str, Decimal]) -> Decimal | None:
    match = _AMOUNT.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    return Decimal(match[1]) * units[match[2]]


def _spelled(amount: Decimal, *, units: dict[str, Decimal], smallest: str, spell: Callable[[str], str]) -> str:
    if amount:
        for unit, factor in sorted(units.items(), key=lambda item: -item[1]):
            number = amount / factor
            if unit != "w" and number == int(number):
                return f"{int(number)}{spell(unit)}"
    return f"{amount:f}{spell(smallest)}" if amount else f"0{spell(smallest)}"
