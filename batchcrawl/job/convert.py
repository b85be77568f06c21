"""From the values of a TOML file to typed settings, with one error of one line for the first thing wrong."""

import difflib
import math
from collections.abc import Iterable
from typing import Any

import msgspec

from batchcrawl.errors import JobFileError
from batchcrawl.job.catalogue import Setting, catalogue, sections, settings_of
from batchcrawl.job.settings import Settings
from batchcrawl.job.source import JobText, Key, printable
from batchcrawl.job.spelling import toml_value
from batchcrawl.job.units import parse_duration, parse_size


def read_settings(source: JobText) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a job file, and `file:line` of each that the file gives, by its name.

    Ranges and types are checked here, what values mean is not. Raises JobFileError.
    """
    given: dict[str, str] = {}
    top = _read_section(source, None, _without_sections(source), given)
    for name, struct in sections().items():
        if name in source.document:
            top[name] = struct(**_read_section(source, name, _table(source, name), given))
    return Settings(**top), given


def _without_sections(source: JobText) -> dict[str, Any]:
    return {key: value for key, value in source.document.items() if key not in sections()}


def _table(source: JobText, name: str) -> dict[str, Any]:
    table = source.document[name]
    if not isinstance(table, dict):
        raise source.error((name,), f"{_shown(table)} is no section; allowed: a line [{name}] with its keys below")
    return table


def _read_section(source: JobText, section: str | None, table: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    settings = settings_of(section)
    values = {}
    for key, value in table.items():
        path: Key = (key,) if section is None else (section, key)
        if key not in settings:
            raise _unknown(source, section, key, is_table=isinstance(value, dict))
        values[settings[key].attribute] = _convert(source, path, settings[key], value)
        given[settings[key].name] = source.place(path)
    return values


def _unknown(source: JobText, section: str | None, key: str, *, is_table: bool) -> JobFileError:
    if section is None and is_table:
        what, known = "unknown section", list(sections())
    else:
        what, known = "unknown key", list(settings_of(section))
    elsewhere = [setting.name for setting in catalogue() if setting.key == key]
    nearest = elsewhere[0] if elsewhere else _nearest(key, known)
    path = (key,) if section is None else (section, key)
    return source.error(path, f"{what}; nearest is '{nearest}'; allowed: {', '.join(known)}")


def _nearest(word: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.0)[0]


def _convert(source: JobText, path: Key, setting: Setting, value: Any) -> Any:
    number = _without_unit(setting, value)
    try:
        if number is not None and _is_finite(number):
            return msgspec.convert(number, setting.type)
    except (msgspec.ValidationError, OverflowError):
        pass
    raise source.error(path, f"{_shown(value)} is not allowed here; allowed: {setting.allowed}")


def _without_unit(setting: Setting, value: Any) -> Any:
    """Return the plain number of a time or size, None if it is none; other values as they are."""
    if setting.unit is None:
        return value
    if not isinstance(value, str):
        return None
    return parse_duration(value) if setting.unit == "duration" else parse_size(value)


def _is_finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _shown(value: Any) -> str:
    """Return a value of the wrong kind about as the file spells it."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 256:
        return "so large a number"
    return printable(toml_value(value) if isinstance(value, str | int | float) else str(value))
