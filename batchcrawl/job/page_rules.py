"""What a job file says of some URLs alone: the texts of `recrawl.rules`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from batchcrawl.job.recrawl_settings import RecrawlSettings
from batchcrawl.job.scope_rules import condition_values
from batchcrawl.job.shapes import is_media_type
from batchcrawl.job.source import JobText, printable
from batchcrawl.job.spelling import toml_value
from batchcrawl.job.units import DURATION_FORM, YEAR, format_duration, parse_duration
from batchcrawl.policy.page_rules import OF_URL, STATUS, STATUSES, TYPE, PageRule

ALLOWED = (
    "interval TIME, interval_min TIME, interval_max TIME, weight NUMBER, one or more, then host NAME..., "
    "domain NAME..., prefix URL, regex PATTERN, extension NAME..., type MEDIA/TYPE..., status NAME..., or any"
)
WEIGHT_MIN, WEIGHT_MAX = 0.001, 1000.0
_TIMES = ("interval_min", "interval", "interval_max")
"""In the order of what they must be."""


def page_rules(recrawl: RecrawlSettings, source: JobText) -> tuple[PageRule, ...]:
    """Return the rules of a job. Raises JobFileError for one that cannot be read or contradicts itself."""
    return tuple(_rules(recrawl, source))


@dataclass
class _Read:
    """What was read of a rule's text."""

    times: dict[str, float] = field(default_factory=dict)
    weight: float | None = None


def _rules(recrawl: RecrawlSettings, source: JobText) -> Iterator[PageRule]:
    for item, text in enumerate(recrawl.rules):
        place = source.place(("recrawl", "rules"), item)
        rule = _rule(text.strip(), recrawl, number=item + 1, place=place)
        if isinstance(rule, str):
            raise source.error(("recrawl", "rules"), f"{printable(toml_value(text))} {rule}", item)
        yield rule


def _rule(text: str, recrawl: RecrawlSettings, *, number: int, place: str) -> PageRule | str:
    """Return the rule of a text, or what is wrong with it."""
    read, rest = _Read(), text
    while (word := rest.split(maxsplit=1)[0] if rest else "") in (*_TIMES, "weight"):
        _, value, rest = (*rest.split(maxsplit=2), "", "")[:3]
        fault = _take(read, word, value)
        if fault is not None:
            return fault
    if not read.times and read.weight is None:
        return f"is no rule; allowed: {ALLOWED}"
    values = _values(word, rest.removeprefix(word).strip())
    fault = values if isinstance(values, str) else _disorder(read.times, recrawl)
    if fault is not None or isinstance(values, str):
        return fault or ""
    return PageRule(
        number=number,
        text=text,
        place=place,
        asks=word,
        values=values,
        interval_s=read.times.get("interval"),
        interval_min_s=read.times.get("interval_min"),
        interval_max_s=read.times.get("interval_max"),
        weight=read.weight,
    )


def _take(read: _Read, word: str, value: str) -> str | None:
    """Take in what is said behind a word; return what is wrong with it, or None."""
    if word in read.times or (word == "weight" and read.weight is not None):
        return f"says {word} twice"
    if word == "weight":
        read.weight = _weight(value)
        return (
            None if read.weight is not None else f"needs a number from {WEIGHT_MIN:g} to {WEIGHT_MAX:g} behind weight"
        )
    seconds = parse_duration(value)
    if seconds is None or not 1 <= seconds <= 10 * YEAR:
        return f"needs {DURATION_FORM}, from 1s to 3650d, behind {word}"
    read.times[word] = seconds
    return None


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if WEIGHT_MIN <= weight <= WEIGHT_MAX else None


def _values(kind: str, rest: str) -> tuple[str, ...] | str:
    """Return what the condition of a rule compares with, or what is wrong with it."""
    if kind not in (*OF_URL, TYPE, STATUS) or bool(rest) is (kind == "any"):
        return f"is no rule; allowed: {ALLOWED}"
    if kind in OF_URL:
        return condition_values(kind, rest)
    values = tuple(rest.split())
    for value in values:
        if kind == TYPE and not is_media_type(value):
            return f"names {printable(value)}, which is no media type such as text/html, in lower case"
        is_http = len(value) == 3 and value.isascii() and value.isdigit()
        if kind == STATUS and value not in STATUSES and not is_http:
            return f"names {printable(value)}; a status is one of {', '.join(STATUSES)}, or an HTTP status such as 404"
    return values


def _disorder(times: dict[str, float], recrawl: RecrawlSettings) -> str | None:
    """Return which of a rule's times contradict one another, the bounds of the job beside them, or None."""
    bounds = {"interval_min": recrawl.interval_min_s, "interval_max": recrawl.interval_max_s}
    in_force = bounds | times
    in_order = [(name, in_force[name]) for name in _TIMES if name in in_force]
    for (low, low_s), (high, high_s) in pairwise(in_order):
        if low_s > high_s:
            longer = f"makes {low}, {format_duration(low_s)}, longer than {high}, {format_duration(high_s)}"
            return f"{longer}; change one, or add it to the rule"
    return None
