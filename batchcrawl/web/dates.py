"""Dates as sitemaps and feeds write them: W3C-DTF (a profile of ISO 8601) and that of e-mail (RFC 822, RFC 5322)."""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from functools import lru_cache
from typing import NamedTuple

DATE_CHARACTERS_MAX = 64
DAY_S = 86_400


class DateSpan(NamedTuple):
    """When something happened, as exactly as it is told, in seconds since 1970 UTC."""

    at: int
    """The earliest instant that is meant."""
    until: int
    """The latest; the same, where a second is told."""


@lru_cache(maxsize=4096)
def parse_date(text: str) -> DateSpan | None:
    """Return what a date means, or None where it is none. A time without a zone counts as UTC.

    All forms of W3C-DTF, with a blank for the T and a zone without its colon, and dates of e-mail. Years 1970 to 9999.
    """
    text = text.strip()
    if not text or len(text) > DATE_CHARACTERS_MAX:
        return None
    found = _W3C.fullmatch(text)
    span = _of_mail(text) if found is None else _of_w3c(found)
    return span if span is not None and span.at >= 0 else None


_W3C = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[Tt ]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]*)?)?\s*([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?"
)


def _of_w3c(found: re.Match[str]) -> DateSpan | None:
    year, month, day, hour, minute, second = (None if part is None else int(part) for part in found.groups()[:6])
    try:
        begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    at = int(begin.timestamp())
    if hour is None or minute is None:
        return DateSpan(at, at + _days(begin, month=month, day=day) * DAY_S - 1)
    if hour > 24 or minute > 59 or (second or 0) > 60:
        return None
    at += hour * 3600 + minute * 60 + (second or 0) - _offset_s(found[7])
    return DateSpan(at, at + (59 if second is None else 0))


def _days(begin: datetime, *, month: int | None, day: int | None) -> int:
    if day is not None:
        return 1
    return monthrange(begin.year, begin.month)[1] if month is not None else 337 + monthrange(begin.year, 2)[1]


def _offset_s(zone: str | None) -> int:
    if zone is None or zone in "Zz":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[3:].lstrip(":") or 0) * 60
    return -seconds if zone[0] == "-" else seconds


def _of_mail(text: str) -> DateSpan | None:
    try:
        parts = parsedate_tz(text)
        if parts is None:
            return None
        local = datetime(*parts[:6], tzinfo=UTC)
        at = int((local - timedelta(seconds=parts[9] or 0)).timestamp())
    except (ValueError, IndexError, TypeError, OverflowError):  # what the standard library raises for odd dates
        return None
    return DateSpan(at, at)
