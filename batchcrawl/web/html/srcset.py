"""The URLs of a srcset attribute (HTML standard, "parse a srcset attribute")."""

import re
from collections.abc import Iterator

_SPACE = r"\t\n\f\r "
_SKIPPED = re.compile(rf"[{_SPACE},]*+")
_URL = re.compile(rf"[^{_SPACE}]++")
# A comma within parentheses does not end the descriptors.
_DESCRIPTORS = re.compile(r"(?:[^(,]|\([^)]*+\)?)*+")


def srcset_urls(srcset: str) -> Iterator[str]:
    """Yield the URLs as written, whatever the descriptors behind them say."""
    at = 0
    while (url := _URL.match(srcset, _end(_SKIPPED, srcset, at))) is not None:
        at = url.end()
        text = url[0].rstrip(",")
        if text == url[0]:
            at = _end(_DESCRIPTORS, srcset, at)
        if text:
            yield text


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
