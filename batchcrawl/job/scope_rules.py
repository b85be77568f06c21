"""What a job file says of its scope, as one row of rules: the limits, filter files, rules and defaults, in order."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from batchcrawl.errors import JobFileError
from batchcrawl.job.addresses import is_host_name
from batchcrawl.job.scope_settings import ScopeSettings
from batchcrawl.job.settings import Settings
from batchcrawl.job.source import JobText, printable
from batchcrawl.job.spelling import toml_value
from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.page_rules import OF_URL
from batchcrawl.policy.rules import Asks, Rule, ScopeRules
from batchcrawl.policy.traps import TrapLimits
from batchcrawl.policy.url_filters import FilterFault, UrlFilter, parse_regex_filter, parse_suffix_filter
from batchcrawl.web.patterns import Dialect, PatternFault, compile_search
from batchcrawl.web.urls import parse_url

FILTER_BYTES_MAX = 10_000_000
DEFAULT = "default"
ALLOWED = (
    "take or reject, then host NAME..., domain NAME..., prefix URL, regex PATTERN, extension NAME..., "
    "depth > N, depth <= N, hops > N, hops <= N, or any"
)


def scope_rules(settings: Settings, source: JobText, folder: Path) -> ScopeRules:
    """Return the rules of a job whose file lies in `folder`.

    Raises JobFileError for a rule or a filter file that cannot be read, naming file and line.
    """
    scope = settings.scope
    rules = [*_limits(scope, source), *_filters(scope, source, folder), *_own_rules(scope, source)]
    rules += [*_defaults(scope, source), _rule(Asks.ANYTHING, None, "nothing rejects it", DEFAULT)]
    traps = settings.traps
    limits = TrapLimits(
        path_depth_max=traps.path_depth_max,
        path_repeats_max=traps.path_repeats_max,
        parameters_max=traps.parameters_max,
        nesting_max=traps.nesting_max,
    )
    return ScopeRules(tuple(rules), frozenset(scope.hosts), limits, tuple(_traps(settings, source)))


def _rule(
    asks: Asks, reason: Rejection | None, text: str, place: str, *, values: tuple[str, ...] = (), number: int = 0
) -> Rule:
    return Rule(asks=asks, reason=reason, text=text, place=place, values=values, number=number)


def _place(source: JobText, section: str, key: str, item: int | None = None) -> str:
    """Return `file:line` of a setting that the job file gives, or `default`."""
    given = (section, key) in source.lines or key in source.document.get(section, {})
    return source.place((section, key), item) if given else DEFAULT


def _limits(scope: ScopeSettings, source: JobText) -> Iterator[Rule]:
    yield _rule(
        Asks.LENGTH_ABOVE,
        Rejection.TOO_LONG,
        f"url_bytes_max = {scope.url_bytes_max:,} bytes",
        _place(source, "scope", "url_bytes_max"),
        number=scope.url_bytes_max,
    )
    if scope.depth_max is not None:
        place = _place(source, "scope", "depth_max")
        text = f"depth_max = {scope.depth_max}"
        yield _rule(Asks.DEPTH_ABOVE, Rejection.TOO_DEEP, text, place, number=scope.depth_max)


def _defaults(scope: ScopeSettings, source: JobText) -> Iterator[Rule]:
    if scope.within != "any":
        text = f"within = {toml_value(scope.within)}"
        text += f", hosts = {printable(toml_value(scope.hosts))}" if scope.hosts else ""
        yield _rule(Asks.ELSEWHERE, Rejection.OFF_HOST, text, _place(source, "scope", "within"))
    for item, pattern in enumerate(scope.exclude):
        place = _place(source, "scope", "exclude", item)
        yield _rule(Asks.FOUND, Rejection.EXCLUDED, f"exclude {pattern}", place, values=(pattern,))
    if scope.include:
        text = f"include = {printable(toml_value(scope.include))}"
        place = _place(source, "scope", "include")
        yield _rule(Asks.NOT_FOUND, Rejection.NOT_INCLUDED, text, place, values=scope.include)


def _traps(settings: Settings, source: JobText) -> Iterator[Rule]:
    for reason, key in (
        (Rejection.TRAP_PATH_DEPTH, "path_depth_max"),
        (Rejection.TRAP_REPEATING_PATH, "path_repeats_max"),
        (Rejection.TRAP_PARAMETERS, "parameters_max"),
        (Rejection.TRAP_GROWING_PARAMETER, "nesting_max"),
    ):
        text = f"traps.{key} = {getattr(settings.traps, key)}"
        yield _rule(Asks.TRAP, reason, text, _place(source, "traps", key))


def _filters(scope: ScopeSettings, source: JobText, folder: Path) -> Iterator[Rule]:
    shown_folder = Path(source.shown).parent
    for key, names, parse in (
        ("regex_urlfilters", scope.regex_urlfilters, parse_regex_filter),
        ("suffix_urlfilters", scope.suffix_urlfilters, parse_suffix_filter),
    ):
        for item, name in enumerate(names):
            yield Rule(
                asks=Asks.FILTER,
                reason=Rejection.URL_FILTER,
                text=f"{key} {name}",
                place=_place(source, "scope", key, item),
                url_filter=_filter(source, (key, item), folder / name, parse, str(shown_folder / name)),
            )


def _filter(
    source: JobText, at: tuple[str, int], path: Path, parse: Callable[[str, str], UrlFilter], shown: str
) -> UrlFilter:
    key, item = at
    try:
        with path.open("rb") as file:
            data = file.read(FILTER_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise source.error(("scope", key), f"{printable(shown)}: {reason}", item) from None
    if len(data) > FILTER_BYTES_MAX:
        raise source.error(("scope", key), f"{printable(shown)}: more than {FILTER_BYTES_MAX:,} bytes", item)
    try:
        return parse(data.decode("utf-8-sig"), shown)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise JobFileError(f"{shown}:{line}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    except FilterFault as fault:
        raise JobFileError(f"{shown}:{fault.line}: {printable(fault.reason, 200)}") from None


_NUMBER = re.compile(r"(>|<=) *([0-9]{1,9})\Z")
_EXTENSION = re.compile(r"[^\s/?#]{1,50}")


def _own_rules(scope: ScopeSettings, source: JobText) -> Iterator[Rule]:
    for item, text in enumerate(scope.rules):
        rule = _own_rule(text.strip(), source.place(("scope", "rules"), item))
        if isinstance(rule, str):
            raise source.error(("scope", "rules"), f"{printable(toml_value(text))} {rule}", item)
        yield rule


def _own_rule(text: str, place: str) -> Rule | str:
    """Return the rule of a text, or what is wrong with it."""
    action, kind, rest = (*text.split(maxsplit=2), "", "", "")[:3]
    reason = None if action == "take" else Rejection.RULE
    if action not in ("take", "reject"):
        return f"is no rule; allowed: {ALLOWED}"
    if kind in ("depth", "hops"):
        number = _NUMBER.match(rest)
        if number is None:
            return f"needs '> N' or '<= N' behind {kind}"
        return _rule(_OF_NUMBERS[kind, number[1]], reason, text, place, number=int(number[2]))
    if kind not in OF_URL or bool(rest) is (kind == "any"):
        return f"is no rule; allowed: {ALLOWED}"
    values = condition_values(kind, rest)
    return values if isinstance(values, str) else _rule(OF_URL[kind], reason, text, place, values=values)


_OF_NUMBERS = {
    ("depth", ">"): Asks.DEPTH_ABOVE,
    ("depth", "<="): Asks.DEPTH_WITHIN,
    ("hops", ">"): Asks.HOPS_ABOVE,
    ("hops", "<="): Asks.HOPS_WITHIN,
}


def condition_values(kind: str, rest: str) -> tuple[str, ...] | str:
    """Return what a rule compares with that asks for a `kind` of text, or what is wrong with it."""
    if kind == "regex":
        try:
            compile_search(rest, Dialect.PYTHON)
        except PatternFault as error:
            return f"is no regular expression of Python ({printable(str(error))})"
        return (rest,)
    if kind == "prefix":
        return _prefix(rest)
    values = tuple(rest.split())
    for value in values:
        if kind in ("host", "domain") and not is_host_name(value):
            return f"names {printable(value)}, which is no host name in lower case without scheme and port"
        if kind == "extension" and not _EXTENSION.fullmatch(value):
            return f"names {printable(value)}, which is no extension such as pdf or tar.gz"
    return tuple(value.removeprefix(".").lower() for value in values) if kind == "extension" else values


def _prefix(text: str) -> tuple[str, ...] | str:
    url = parse_url(text) if text.startswith(("http://", "https://")) else None
    if url is None:
        return "has no http or https URL behind prefix"
    if url not in (text, f"{text}/"):
        return f"is never found: the URL is known as {printable(url, 200)}"
    return (url,)
