"""A condition on the record of a URL; pure. `job.condition_text` reads one from what a user wrote.

Of a field that is absent no comparison holds, not even `!=`. A condition may be asked about a host alone: then what
follows from the host is said, and None stands for what depends on the URL.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from batchcrawl.model.record import UrlRecord
from batchcrawl.web.urls import host_key, host_name

Value = float | str | bool | None


class FieldKind(Enum):
    """What values a field has, and so how it is compared."""

    NUMBER = "number"
    INSTANT = "instant"
    """Seconds since 1970."""
    WORD = "word"
    """One of a closed set."""
    TEXT = "text"
    FLAG = "flag"
    """Stands alone, without a comparison."""


class Comparison(Enum):
    """How a field is compared with a value."""

    EQUAL = "=="
    UNEQUAL = "!="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="
    CONTAINS = "~"


@dataclass(frozen=True)
class Compare:
    """A field compared with a value; of a flag, with True."""

    field: str
    comparison: Comparison
    value: float | str


@dataclass(frozen=True)
class Not:
    """The opposite."""

    condition: "Condition"


@dataclass(frozen=True)
class Every:
    """All of them hold."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True)
class Some:
    """At least one of them holds."""

    conditions: tuple["Condition", ...]


Condition = Compare | Not | Every | Some


def holds(condition: Condition, record: UrlRecord) -> bool:
    """Tell whether a condition holds for a record."""
    return bool(_truth(condition, lambda compare: _compared(compare, FIELDS[compare.field][1](record))))


def holds_on(condition: Condition, host: str) -> bool | None:
    """Tell whether a condition holds for every URL of a host key, or for none; None where that depends on the URL."""

    def of_host(compare: Compare) -> bool | None:
        return _compared(compare, host_name(host)) if compare.field in _OF_HOST else None

    return _truth(condition, of_host)


def fields_of(condition: Condition) -> set[str]:
    """Return the names of the fields that a condition asks for."""
    if isinstance(condition, Compare):
        return {condition.field}
    parts = (condition.condition,) if isinstance(condition, Not) else condition.conditions
    return set().union(*map(fields_of, parts))


def _truth(condition: Condition, ask: Callable[[Compare], bool | None]) -> bool | None:
    if isinstance(condition, Compare):
        return ask(condition)
    if isinstance(condition, Not):
        inner = _truth(condition.condition, ask)
        return None if inner is None else not inner
    decides = isinstance(condition, Some)
    truth: bool | None = not decides
    for part in condition.conditions:
        of_part = _truth(part, ask)
        if of_part is decides:
            return decides
        if of_part is None:
            truth = None
    return truth


def _compared(compare: Compare, value: Value) -> bool:
    if value is None:
        return False
    if compare.field == "domain":
        within = value == compare.value or str(value).endswith(f".{compare.value}")
        return within is (compare.comparison is Comparison.EQUAL)
    return _OPERATORS[compare.comparison](value, compare.value)


_OPERATORS: dict[Comparison, Callable[..., bool]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.BELOW: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.ABOVE: operator.gt,
    Comparison.AT_LEAST: operator.ge,
    Comparison.CONTAINS: operator.contains,
}


def _host(record: UrlRecord) -> str:
    return host_name(host_key(record.url))


def _score(record: UrlRecord) -> float | None:
    """Return a seed's score; one whose line says none has 1, and what is no seed has none."""
    return 1.0 if record.score is None and record.seed else record.score


_OF_HOST = frozenset({"host", "domain"})
FIELDS: dict[str, tuple[FieldKind, Callable[[UrlRecord], Value]]] = {
    "url": (FieldKind.TEXT, lambda r: r.url),
    "host": (FieldKind.TEXT, _host),
    "domain": (FieldKind.TEXT, _host),
    "status": (FieldKind.WORD, lambda r: r.status.name.lower()),
    "outcome": (FieldKind.WORD, lambda r: None if r.outcome is None else r.outcome.value),
    "kind": (FieldKind.WORD, lambda r: r.kind.value),
    "content_type": (FieldKind.TEXT, lambda r: r.content_type),
    "http_status": (FieldKind.NUMBER, lambda r: r.http_status),
    "depth": (FieldKind.NUMBER, lambda r: r.depth),
    "hops": (FieldKind.NUMBER, lambda r: r.hops),
    "level": (FieldKind.NUMBER, lambda r: r.level),
    "score": (FieldKind.NUMBER, _score),
    "retries": (FieldKind.NUMBER, lambda r: r.retries),
    "fetches": (FieldKind.NUMBER, lambda r: r.fetches),
    "changes": (FieldKind.NUMBER, lambda r: r.changes),
    "first_seen_at": (FieldKind.INSTANT, lambda r: r.first_seen_at),
    "last_fetch_at": (FieldKind.INSTANT, lambda r: r.last_fetch_at),
    "last_change_at": (FieldKind.INSTANT, lambda r: r.last_change_at),
    "next_fetch_at": (FieldKind.INSTANT, lambda r: r.next_fetch_at),
    "seed": (FieldKind.FLAG, lambda r: r.seed),
    "costly": (FieldKind.FLAG, lambda r: r.costly),
}
"""By name: what kind of field it is, and how a record has it; `domain` holds for the names below it, too."""
