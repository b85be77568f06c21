"""Nutch's files of URL filters, read unchanged: regex-urlfilter.txt and suffix-urlfilter.txt.

A regex-urlfilter has one rule a line, `+` or `-` and a regular expression of Java; the first that is found in the URL
decides, and where none is, the URL is rejected. Lines from `> name` to `<` hold for that host or registered domain
alone. Lines that begin with a space or `#`, and empty ones, say nothing.

A suffix-urlfilter has one suffix a line and one mode: below `+` URLs with a suffix are rejected, below `-` all others
are. Behind the sign, `I` stands for matching in any case and `P` for looking at the path alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from batchcrawl.web.patterns import Dialect, PatternFault, Search, compile_search
from batchcrawl.web.urls import host_name


class FilterFault(Exception):
    """A line of a filter file that cannot be read."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Ruling:
    """What a filter file says of a URL."""

    accepted: bool | None
    """None when a pattern took too long."""
    line: int | None
    """The line that decides; None when none does."""
    text: str
    """That line, or why there is none."""


@dataclass(frozen=True)
class RegexLine:
    """One rule of a regex-urlfilter file."""

    line: int
    accept: bool
    pattern: str
    only: str | None
    """Host or registered domain that it holds for."""


@dataclass(frozen=True)
class RegexFilter:
    """A regex-urlfilter file."""

    shown: str
    rules: tuple[RegexLine, ...]


@dataclass(frozen=True)
class SuffixFilter:
    """A suffix-urlfilter file."""

    shown: str
    accept_others: bool
    ignore_case: bool
    path_only: bool
    suffixes: tuple[tuple[str, int], ...]
    """Each with its line."""


UrlFilter = RegexFilter | SuffixFilter
Judge = Callable[[str, str], Ruling]
"""Judges a URL with its host key."""


def parse_regex_filter(text: str, shown: str) -> RegexFilter:
    """Return the rules of a regex-urlfilter file. Raises FilterFault; patterns are tried out."""
    rules: list[RegexLine] = []
    only: str | None = None
    for number, line in _lines(text):
        sign, rest = line[:1], line[1:]
        if sign in ("", " ", "#"):
            continue
        if sign in "<>":
            only = rest.strip() if sign == ">" else None
        elif sign in "+-":
            _require_pattern(number, rest)
            rules.append(RegexLine(number, sign == "+", rest, only))
        else:
            raise FilterFault(number, f"begins with {sign!r}; allowed: + or - and a regular expression, >, < or #")
    return RegexFilter(shown, tuple(rules))


def parse_suffix_filter(text: str, shown: str) -> SuffixFilter:
    """Return the suffixes and the mode of a suffix-urlfilter file."""
    suffixes: dict[str, int] = {}
    accept_others = ignore_case = path_only = False
    for number, line in _lines(text):
        told = line.strip(_JAVA_BLANKS)
        if told[:1] in ("+", "-"):
            accept_others = told[0] == "+"
            ignore_case, path_only = ignore_case or "I" in told, path_only or "P" in told
        elif told and not told.startswith("#"):
            suffixes.setdefault(told, number)
    if ignore_case:
        suffixes = {suffix.lower(): number for suffix, number in reversed(suffixes.items())}
    return SuffixFilter(shown, accept_others, ignore_case, path_only, tuple(suffixes.items()))


def judge_by(rules: UrlFilter, registered: Callable[[str], str]) -> Judge:
    """Return what judges URLs by a file; `registered` gives the registered domain of a host name."""
    return _by_regex(rules, registered) if isinstance(rules, RegexFilter) else _by_suffix(rules)


def _by_regex(rules: RegexFilter, registered: Callable[[str], str]) -> Judge:
    lines: list[tuple[str | None, Search, bool, Ruling]] = []
    for rule in rules.rules:
        ruling = Ruling(rule.accept, rule.line, f"{'+' if rule.accept else '-'}{rule.pattern}")
        lines.append((rule.only, compile_search(rule.pattern, Dialect.JAVA), rule.accept, ruling))

    def judge(url: str, host: str) -> Ruling:
        name = host_name(host)
        for only, search, _, ruling in lines:
            if only is not None and only not in (name, registered(name)):
                continue
            found = search(url)
            if found is None:
                return Ruling(None, ruling.line, ruling.text)
            if found:
                return ruling
        return _NO_LINE

    return judge


_NO_LINE = Ruling(False, None, "no line is found in it")


def _by_suffix(rules: SuffixFilter) -> Judge:
    ends = tuple(suffix for suffix, _ in rules.suffixes)
    rulings = {suffix: Ruling(not rules.accept_others, line, suffix) for suffix, line in rules.suffixes}
    other = Ruling(rules.accept_others, None, "it has none of the suffixes")

    def judge(url: str, host: str) -> Ruling:
        told = url.lower() if rules.ignore_case else url
        if rules.path_only:
            told = _PATH_END.split(told[len(host) :], maxsplit=1)[0]
        if not told.endswith(ends):
            return other
        return next(rulings[suffix] for suffix in ends if told.endswith(suffix))

    return judge


_JAVA_BLANKS = "".join(map(chr, range(33)))
_PATH_END = re.compile(r"[?#]")


def _lines(text: str) -> list[tuple[int, str]]:
    # Java ends a line here, and nowhere else.
    return list(enumerate(re.split(r"\r\n|\r|\n", text), 1))


def _require_pattern(number: int, pattern: str) -> None:
    try:
        compile_search(pattern, Dialect.JAVA)
    except PatternFault as error:
        raise FilterFault(number, f"{pattern!r} is no regular expression: {error}") from None
