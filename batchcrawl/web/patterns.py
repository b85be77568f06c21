"""Regular expressions of users, searched in URLs without the power to hang whoever searches.

RE2 does the work, in time linear in the URL. What it cannot express (look-around, back-references, possessive
repetition) is left to a backtracking engine that is given a bounded time for a URL, after which the answer is that
there is none. The two patterns that Nutch has shipped against looping paths, back-references both, are answered by
counting segments instead.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable
from enum import Enum
from math import prod

import re2
import regex

SECONDS_MAX = 0.01
"""Processor time that the backtracking engine has for one URL."""
REPEAT_MAX = 1000
"""As in RE2; the backtracking engine would take any number, and the memory for it."""
PATTERN_CHARACTERS_MAX = 10_000

Search = Callable[[str], bool | None]
"""Tells whether a pattern is found in a URL; None when it took too long."""


class Dialect(Enum):
    """Whose regular expressions they are."""

    PYTHON = "python"
    JAVA = "java"


class PatternFault(ValueError):
    """A text is no regular expression that can be used; the message says why."""


def compile_search(text: str, dialect: Dialect) -> Search:
    """Return the search for a pattern. Raises PatternFault."""
    if len(text) > PATTERN_CHARACTERS_MAX:
        raise PatternFault(f"longer than {PATTERN_CHARACTERS_MAX:,} characters")
    if text in _LOOPS:
        return _LOOPS[text]
    if dialect is Dialect.PYTHON:
        _require_python(text)
    if dialect is Dialect.JAVA and _JAVA_CLASS.search(text):
        return _backtracking(text, dialect)  # RE2 would take a class within a class for plain characters
    try:
        return _linear(text)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        if b"too large" in reason:
            raise PatternFault("too large") from None
    return _backtracking(text, dialect)


def _linear(text: str) -> Search:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    search = re2.compile(_spelled(text, _FOR_RE2).encode(), options).search

    def found(url: str) -> bool:
        return search(url.encode("utf-8", "surrogatepass")) is not None

    return found


def _backtracking(text: str, dialect: Dialect) -> Search:
    if prod(max(map(int, filter(None, pair)), default=1) for pair in _REPEAT.findall(text)) > REPEAT_MAX:
        raise PatternFault(f"repeats more than {REPEAT_MAX:,} times")
    flags = regex.VERSION1 if dialect is Dialect.JAVA else regex.VERSION0
    try:
        search = regex.compile(_spelled(text, _FOR_REGEX), flags).search
    except (regex.error, OverflowError, RecursionError) as error:
        raise PatternFault(str(error)) from None

    def found(url: str) -> bool | None:
        try:
            return search(url, timeout=SECONDS_MAX) is not None
        except TimeoutError:
            return None

    return found


def _require_python(text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a pattern that will mean something else in a later Python
            re.compile(text)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise PatternFault(str(error)) from None


_PIECE = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\{,(?=[0-9]+\})|.", re.DOTALL)
_FOR_RE2 = {r"\Z": r"\z", "{,": "{0,"}
_FOR_REGEX = {r"\z": r"\Z"}
_JAVA_CLASS = re.compile(r"(?<!\\)\[(?:[^\]\\]|\\.)*?(?:&&|(?<!\\)\[(?!:))")
_REPEAT = re.compile(r"\{([0-9]{0,9}),?([0-9]{0,9})\}")


def _spelled(text: str, spellings: dict[str, str]) -> str:
    """Return a pattern with some of its escapes as another engine spells them."""
    return "".join(spellings.get(piece, piece) for piece in _PIECE.findall(text))


def _loops_by_any_gap(url: str) -> bool:
    repeated = (segment for segment, times in Counter(url.split("/")).items() if times > 2 and segment)
    return any(url.count(f"/{segment}/") > 2 for segment in repeated) or url.count("///") > 2


def _loops_by_one_segment(url: str) -> bool:
    parts = url.split("/")
    return any(
        parts[i] and parts[i] == parts[i + 2] == parts[i + 4] and parts[i + 1] and parts[i + 3]
        for i in range(1, len(parts) - 5)
    )


_LOOPS: dict[str, Search] = {
    r".*(/.+?)/.*?\1/.*?\1/": _loops_by_any_gap,
    r".*(/[^/]+)/[^/]+\1/[^/]+\1/": _loops_by_one_segment,
}
