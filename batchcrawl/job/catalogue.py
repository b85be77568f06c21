"""Every setting that there is, with what a job file may say for it; read off the structs of `settings`."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from batchcrawl.job.setting_types import Section
from batchcrawl.job.settings import Settings
from batchcrawl.job.units import DURATION_FORM, SIZE_FORM, format_duration, format_size


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting."""

    section: str | None
    """Name of its section; None at the top of the file."""
    key: str
    """Its key in the section."""
    attribute: str
    """Its attribute in the section's struct."""
    type: Any
    """What `msgspec.convert` makes of its value, after a unit is taken off."""
    default: object
    meaning: str
    example: Any
    """A value as a job file says it; None where the default is one."""
    unit: str | None
    """`duration` or `size` where the value is text with a unit."""
    allowed: str
    """What a job file may say, as the end of the sentence "allowed: ..."."""

    @property
    def name(self) -> str:
        """Return the setting's whole name, as `politeness.delay_min`."""
        return ".".join(self.path)

    @property
    def path(self) -> tuple[str, ...]:
        """Return the parts of its name."""
        return (self.key,) if self.section is None else (self.section, self.key)


@cache
def sections() -> dict[str, type[Section]]:
    """Return the struct of each section by its name, in the order of a job file."""
    return {
        info.name: info.type
        for info in msgspec.structs.fields(Settings)
        if isinstance(info.type, type) and issubclass(info.type, Section)
    }


@cache
def catalogue() -> tuple[Setting, ...]:
    """Return all settings in the order of a job file."""
    found = [_setting(None, info) for info in msgspec.structs.fields(Settings) if info.name not in sections()]
    for name, struct in sections().items():
        found += [_setting(name, info) for info in msgspec.structs.fields(struct)]
    return tuple(found)


@cache
def settings_of(section: str | None) -> dict[str, Setting]:
    """Return the settings of a section, or of the top of the file, by key."""
    return {setting.key: setting for setting in catalogue() if setting.section == section}


def value_of(settings: Settings, setting: Setting) -> Any:
    """Return what the settings say for one setting, as the number or text that the code uses."""
    holder = settings if setting.section is None else getattr(settings, setting.section)
    return getattr(holder, setting.attribute)


def _setting(section: str | None, info: msgspec.structs.FieldInfo) -> Setting:
    schema = inspect.type_info(info.type)
    core, unit = _unwrapped(schema)
    described = (schema.extra_json_schema if isinstance(schema, inspect.Metadata) else None) or {}
    return Setting(
        section=section,
        key=info.encode_name,
        attribute=info.name,
        type=info.type,
        default={} if info.default_factory is dict else info.default,
        meaning=described["description"],
        example=next(iter(described.get("examples", ())), None),
        unit=unit,
        allowed=_words(core, unit),
    )


def _unwrapped(schema: inspect.Type, unit: str | None = None) -> tuple[inspect.Type, str | None]:
    """Return what a type is when it is not None, and the unit that its mark names."""
    if isinstance(schema, inspect.Metadata):
        return _unwrapped(schema.type, (schema.extra or {}).get("unit", unit))
    if isinstance(schema, inspect.UnionType):
        return _unwrapped(next(part for part in schema.types if not isinstance(part, inspect.NoneType)), unit)
    return schema, unit


def _words(core: inspect.Type, unit: str | None) -> str:
    match core:
        case inspect.IntType() | inspect.FloatType():
            words = _number(core, unit)
        case inspect.BoolType():
            words = "true or false"
        case inspect.LiteralType():
            words = " or ".join(f'"{value}"' for value in core.values)
        case inspect.StrType():
            words = f"text in quotes{_length(core)}"
        case inspect.VarTupleType():
            words = f"a list{_length(core)}, each {_words(*_unwrapped(core.item_type))}"
        case inspect.DictType():
            words = 'a table of text, as { "a" = "b" }'
        case _:
            raise TypeError(f"no words for {core}")
    return words


def _number(core: inspect.IntType | inspect.FloatType, unit: str | None) -> str:
    low, above = (core.gt, "above") if core.ge is None else (core.ge, "from")
    if low is None or core.le is None:
        raise TypeError(f"{core} has no bounds")
    if unit == "duration":
        return f"{DURATION_FORM}, {above} {format_duration(low)} to {format_duration(core.le)}"
    if unit == "size":
        return f"{SIZE_FORM}, {above} {format_size(int(low))} to {format_size(int(core.le))}"
    form = "a whole number" if isinstance(core, inspect.IntType) else "a number"
    return f"{form} {above} {_plain(low)} to {_plain(core.le)}"


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _length(core: inspect.StrType | inspect.VarTupleType) -> str:
    if core.max_length is None:
        return ""
    items = "characters" if isinstance(core, inspect.StrType) else "items"
    return f" of {core.min_length or 0} to {core.max_length} {items}"
