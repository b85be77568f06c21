"""What a page asks of crawlers: the directives of meta robots and of the X-Robots-Tag header field.

There is no standard; the words are those that the large search engines document. Directives add up: those for all
crawlers and those for this one, of the page and of the header.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from batchcrawl.web.dates import parse_date

DIRECTIVES_MAX = 64
"""Of one page or one answer."""
_DIRECTIVE_CHARACTERS_MAX = 100
_UNAVAILABLE = "unavailable_after"
_WITH_VALUE = frozenset({_UNAVAILABLE, "max-snippet", "max-image-preview", "max-video-preview"})
# A date may hold a comma behind its day of the week.
_DIRECTIVE = re.compile(rf"((?:\s*+{_UNAVAILABLE}\s*+:\s*+[a-z]{{3,9}}\s*+,)?[^,]*+),?", re.IGNORECASE)
_AGENT = re.compile(r"([\w.*-]+)\s*+:\s*+(.*)", re.DOTALL)


def directives_of_meta(content: str) -> list[str]:
    """Return the directives of a content attribute, in lower case, in their order."""
    return list(_split(content))


def directives_of_headers(values: Iterable[str], *, product_token: str) -> list[str]:
    """Return the directives of all X-Robots-Tag fields of an answer that are for this crawler, in lower case.

    A name and a colon before a directive say for which crawler it and those behind it are, to the end of the field or
    the next name.
    """
    ours = {None, "*", "robots", product_token.lower()}
    found: list[str] = []
    for value in values:
        agent: str | None = None
        for directive in _split(value):
            named = _AGENT.fullmatch(directive)
            if named is None or named[1] in _WITH_VALUE:
                text = directive
            else:
                agent, text = named[1], named[2]
            if text and agent in ours and len(found) < DIRECTIVES_MAX:
                found.append(text)
    return found


def says_nofollow(directives: Collection[str]) -> bool:
    """Tell whether a page asks that none of its links be followed."""
    return "nofollow" in directives or "none" in directives


def unavailable_at(directives: Iterable[str]) -> int | None:
    """Return the earliest instant of an `unavailable_after`, in seconds since 1970 UTC, or None.

    Of a day alone, its end.
    """
    dates = (parse_date(text.partition(":")[2]) for text in directives if text.startswith(_UNAVAILABLE))
    return min((date.until for date in dates if date is not None), default=None)


def _split(text: str) -> Iterator[str]:
    parts = (found[1].strip().lower() for found in _DIRECTIVE.finditer(text) if found[1])
    kept = (part[:_DIRECTIVE_CHARACTERS_MAX] for part in parts if part)
    return (part for _, part in zip(range(DIRECTIVES_MAX), kept, strict=False))
