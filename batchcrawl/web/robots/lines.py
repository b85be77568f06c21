"""The lines of a robots.txt (RFC 9309, section 2.2), with what Google's parser forgives: misspelt and prolonged keys,
a blank in place of the colon. Comments are dropped and lines cut where Google cuts them.
"""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

LINE_LENGTH_MAX = 8 * 2083 - 1
"""Google's limit: eight times the longest URL that browsers were known to take, with its end."""
_BLANKS = " \t\n\v\f\r"


class Key(Enum):
    """What a line speaks of; the spellings that begin such a key, in lower case."""

    USER_AGENT = ("user-agent", "useragent", "user agent")
    ALLOW = ("allow",)
    DISALLOW = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
    CRAWL_DELAY = ("crawl-delay", "crawldelay")
    SITEMAP = ("sitemap", "site-map")


class RobotsLine(NamedTuple):
    """A line that says something."""

    number: int
    """From 1."""
    key: Key
    value: str


def robots_lines(lines: Iterator[tuple[int, str]]) -> Iterator[RobotsLine]:
    """Yield the numbered lines that have a known key; the others say nothing."""
    for number, line in lines:
        found = _key_and_value(line[:LINE_LENGTH_MAX].partition("#")[0].strip(_BLANKS))
        if found is not None:
            yield RobotsLine(number, *found)


def _key_and_value(line: str) -> tuple[Key, str] | None:
    name, colon, value = line.partition(":")
    if not colon:
        words = line.split()
        if len(words) != 2:
            return None
        name, value = words
    name = name.strip(_BLANKS).lower()
    for key, spellings in _SPELLINGS:
        if name.startswith(spellings):
            return key, value.strip(_BLANKS)
    return None


_SPELLINGS = [(key, key.value) for key in Key]
