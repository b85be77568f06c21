"""Conditions as people write them: `depth <= 2 and (status = gone or last_fetch_at < -90d)`.

condition:   all ("or" all)*
all:         one ("and" one)*
one:         "not" one | "(" condition ")" | flag | field comparison value
comparison:  = == != < <= > >= ~
value:       a word, a number, a date, a time before or after now (-90d, +12h), or anything "in quotes"
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import NoReturn

from batchcrawl.errors import UsageError
from batchcrawl.job.source import printable
from batchcrawl.job.units import parse_duration
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.conditions import FIELDS, Compare, Comparison, Condition, Every, FieldKind, Not, Some

CHARACTERS_MAX = 10_000
NESTED_MAX = 50
WORDS: dict[str, Sequence[str]] = {
    "status": [status.name.lower() for status in PageStatus],
    "outcome": [outcome.value for outcome in FetchOutcome],
    "kind": [kind.value for kind in UrlKind],
}
"""By field, the words that it may have."""


def parse_condition(text: str, *, now: float) -> Condition:
    """Return the condition that a text says; `now` is what its times are counted from, in seconds since 1970.

    Raises UsageError for what is none, with the place in it.
    """
    reader = _Reader(text, now)
    if len(text) > CHARACTERS_MAX:
        reader.fail(f"longer than {CHARACTERS_MAX:,} characters", 0)
    condition = reader.condition(nested=0)
    reader.end()
    return condition


@dataclass(frozen=True)
class _Token:
    at: int
    text: str
    quoted: bool = False


_TOKEN = re.compile(r'\s*(?:(==|!=|<=|>=|[=<>~()])|"([^"]*)"|([^\s()=!<>~"]+)|(\S))')
_COMPARISONS = {"=": Comparison.EQUAL, **{comparison.value: comparison for comparison in Comparison}}
_EQUALITY = frozenset({Comparison.EQUAL, Comparison.UNEQUAL})
_ALLOWED = {
    FieldKind.NUMBER: frozenset(Comparison) - {Comparison.CONTAINS},
    FieldKind.INSTANT: frozenset(Comparison) - {Comparison.CONTAINS},
    FieldKind.WORD: _EQUALITY,
    FieldKind.TEXT: _EQUALITY | {Comparison.CONTAINS},
}
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")


class _Reader:
    """Reads the tokens of a text from left to right."""

    def __init__(self, text: str, now: float) -> None:
        self._text = text
        self._now = now
        self._tokens = [
            _Token(found.start(found.lastindex or 0), found[found.lastindex or 0], found.lastindex == 2)
            for found in _TOKEN.finditer(text)
        ]
        self._next = 0

    def condition(self, *, nested: int) -> Condition:
        """Read what stands up to the end or a closing bracket."""
        if nested > NESTED_MAX:
            self.fail(f"nested more than {NESTED_MAX} deep", self._here())
        parts = [self._every(nested)]
        while self._takes("or"):
            parts.append(self._every(nested))
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def end(self) -> None:
        """Raise UsageError unless all is read."""
        if self._next < len(self._tokens):
            self.fail(f"'{printable(self._tokens[self._next].text)}' is one too many", self._here())

    def fail(self, why: str, at: int) -> NoReturn:
        """Raise UsageError for something at a place."""
        raise UsageError(f"'{printable(self._text[:200])}' is no condition: {why} (at character {at + 1})")

    def _every(self, nested: int) -> Condition:
        parts = [self._one(nested)]
        while self._takes("and"):
            parts.append(self._one(nested))
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _one(self, nested: int) -> Condition:
        if nested > NESTED_MAX:
            self.fail(f"nested more than {NESTED_MAX} deep", self._here())
        if self._takes("not"):
            return Not(self._one(nested + 1))
        if self._takes("("):
            inner = self.condition(nested=nested + 1)
            if not self._takes(")"):
                self.fail("a closing bracket is missing", self._here())
            return inner
        return self._compare()

    def _compare(self) -> Compare:
        name = self._token("a field")
        found = FIELDS.get(name.text)
        if found is None:
            near = get_close_matches(name.text, FIELDS, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(FIELDS)}"
            self.fail(f"no field '{printable(name.text)}'{hint}", name.at)
        if found[0] is FieldKind.FLAG:
            return Compare(name.text, Comparison.EQUAL, True)
        sign = self._token("a comparison")
        comparison, allowed = _COMPARISONS.get(sign.text), _ALLOWED[found[0]]
        if name.text == "domain":
            allowed = _EQUALITY
        if comparison not in allowed or sign.quoted:
            signs = " ".join(one.value for one in Comparison if one in allowed)
            self.fail(f"behind {name.text} comes one of {signs}", sign.at)
        return Compare(name.text, comparison, self._value(name.text, found[0], self._token("a value")))

    def _value(self, field: str, kind: FieldKind, token: _Token) -> float | str:
        text = token.text
        if kind is FieldKind.NUMBER:
            if not _NUMBER.fullmatch(text):
                self.fail(f"{field} is a number, not '{printable(text)}'", token.at)
            return float(text)
        if kind is FieldKind.INSTANT:
            instant = _instant(text, self._now)
            if instant is None:
                forms = "a date as 2026-12-24, or a time from now as -90d"
                self.fail(f"{field} is {forms}, not '{printable(text)}'", token.at)
            return instant
        if kind is FieldKind.WORD and text not in WORDS[field]:
            self.fail(f"{field} is one of {', '.join(WORDS[field])}, not '{printable(text)}'", token.at)
        return text.lower() if field in ("host", "domain") else text

    def _token(self, wanted: str) -> _Token:
        if self._next == len(self._tokens):
            self.fail(f"{wanted} is missing", len(self._text))
        self._next += 1
        return self._tokens[self._next - 1]

    def _takes(self, text: str) -> bool:
        ahead = self._tokens[self._next] if self._next < len(self._tokens) else None
        taken = ahead is not None and ahead.text == text and not ahead.quoted
        self._next += taken
        return taken

    def _here(self) -> int:
        return self._tokens[self._next].at if self._next < len(self._tokens) else len(self._text)


def _instant(text: str, now: float) -> float | None:
    if text[:1] in ("-", "+"):
        wait_s = parse_duration(text[1:])
        return None if wait_s is None else now + (wait_s if text[0] == "+" else -wait_s)
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return None
