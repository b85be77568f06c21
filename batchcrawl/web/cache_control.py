"""How long an answer may be used again, by its Cache-Control (RFC 9111, sections 4.2 and 5.2.2)."""

import re
from collections.abc import Iterable

_DIRECTIVE = re.compile(r'([^\s,;="]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?')
_DIGITS_MAX = 12
_FIELD_CHARS_MAX = 1000
"""What stands behind is not read: nobody has so much to say."""


def fresh_s(cache_control: Iterable[str], age: str | None) -> float | None:
    """Return for how many more seconds an answer is fresh; None where its Cache-Control fields do not say.

    `age` is its Age field. 0 after no-store, no-cache and a max-age that is no number; of several max-age the least
    counts. What is meant for shared caches alone (s-maxage) says nothing.
    """
    spans: list[float] = []
    for field in cache_control:
        for found in _DIRECTIVE.finditer(field[:_FIELD_CHARS_MAX]):
            name, value = found[1].lower(), (found[2] or "").strip('"')
            if name in ("no-store", "no-cache"):
                return 0.0
            if name == "max-age":
                spans.append(_seconds(value))
    return max(0.0, min(spans) - _seconds(age or "")) if spans else None


def _seconds(text: str) -> float:
    text = text.strip()
    return float(text[:_DIGITS_MAX]) if text.isascii() and text.isdigit() else 0.0
