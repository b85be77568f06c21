"""Values as a job file spells them."""

import json
from collections.abc import Mapping
from typing import Any

from batchcrawl.job.units import format_duration, format_size


def in_file_form(value: Any, *, unit: str | None) -> Any:
    """Return a setting's value as a job file gives it: times and sizes as text with their unit, tuples as lists."""
    if value is not None and unit is not None:
        return format_duration(value) if unit == "duration" else format_size(value)
    return list(value) if isinstance(value, tuple) else value


def toml_value(value: Any) -> str:
    """Return the TOML of a text, number, truth value, or a list or table of such, in one line."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{toml_value(key)} = {toml_value(entry)}" for key, entry in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but TOML escapes DEL as well.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
