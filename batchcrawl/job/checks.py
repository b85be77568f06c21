"""What the values of a job file must mean, alone and together."""

from batchcrawl.job.agent import agent_fault
from batchcrawl.job.catalogue import Setting, catalogue, value_of
from batchcrawl.job.settings import Settings
from batchcrawl.job.shapes import ENTRY_CHECKS, TEXT_CHECKS
from batchcrawl.job.source import JobText, printable
from batchcrawl.job.spelling import toml_value
from batchcrawl.job.units import format_duration


def check_settings(settings: Settings, source: JobText) -> None:
    """Raise JobFileError for the first value that has the right type and no right meaning."""
    for setting in catalogue():
        _check_texts(settings, source, setting)
        _check_entries(settings, source, setting)
    _check_order(settings, source)
    if settings.network.proxy_credentials is not None and settings.network.proxy is None:
        raise source.error(("network", "proxy_credentials"), "there is no proxy; set network.proxy, or leave this out")
    fault = agent_fault(settings)
    if fault is not None:
        raise source.error(("user_agent",), fault)


def _check_texts(settings: Settings, source: JobText, setting: Setting) -> None:
    check = TEXT_CHECKS.get(setting.name)
    value = value_of(settings, setting)
    if check is None or value is None:
        return
    for item, text in enumerate((value,) if isinstance(value, str) else value):
        allowed = check(text)
        if allowed is not None:
            message = f"{printable(toml_value(text))} is not allowed here; allowed: {allowed}"
            raise source.error(setting.path, message, item)


def _check_entries(settings: Settings, source: JobText, setting: Setting) -> None:
    check = ENTRY_CHECKS.get(setting.name)
    if check is None:
        return
    for name, text in value_of(settings, setting).items():
        allowed = check(name, text)
        if allowed is not None:
            raise source.error(
                (*setting.path, name), f"{printable(toml_value(text))} is not allowed here; allowed: {allowed}"
            )


_ORDERED = (
    ("politeness.delay_min", "politeness.delay_max"),
    ("politeness.backoff_min", "politeness.backoff_max"),
    ("recrawl.interval_min", "recrawl.interval"),
    ("recrawl.interval", "recrawl.interval_max"),
    ("sitemaps.interval_min", "sitemaps.interval"),
    ("sitemaps.interval", "sitemaps.interval_max"),
)
"""Times of which the first may not be longer than the second."""


def _check_order(settings: Settings, source: JobText) -> None:
    by_name = {setting.name: setting for setting in catalogue()}
    for low_name, high_name in _ORDERED:
        low, high = by_name[low_name], by_name[high_name]
        low_s, high_s = value_of(settings, low), value_of(settings, high)
        if low_s <= high_s:
            continue
        if low.path in source.lines:
            message = f'"{format_duration(low_s)}" is longer than {high.key}, "{format_duration(high_s)}"; change one'
            raise source.error(low.path, message)
        message = f'"{format_duration(high_s)}" is shorter than {low.key}, "{format_duration(low_s)}"; change one'
        raise source.error(high.path, message)
