"""The text of a new job file: what was asked for, and every other setting as a comment with its meaning."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from batchcrawl.job.addresses import is_loopback, parse_address
from batchcrawl.job.catalogue import Setting, sections, settings_of
from batchcrawl.job.spelling import in_file_form, toml_value
from batchcrawl.web.urls import host_key, host_name

_WIDTH = 110
_HEAD = """\
# A crawl by batchcrawl. Times have a unit ("30s", "6h", "7d"), sizes as well ("10MB", "2MiB").
# A line that begins with "# " and a key shows the default, or an example: take the "# " away to change it.
# What is in force, and which line says so:  batchcrawl job check {argument}
"""
_NO_CONTACT = 'Needed before anything but this machine is asked: put in your own and take the "# " away.'


def job_text(argument: str, *, urls: Sequence[str], contact: str | None) -> str:
    """Return the text of a job file that crawls the hosts of some URLs, which are serialised http or https ones.

    `argument` is what names the job in a command. Addresses of the URLs that are not public are allowed in it.
    """
    given: dict[str, Any] = {"seeds": list(urls), "scope.within": "seed-host"}
    if contact is not None:
        given["contact"] = contact
    addresses = _addresses_to_allow(urls)
    if addresses:
        given["network.allow_addresses"] = addresses
    lines = [_HEAD.format(argument=argument)]
    lines += _section_lines(None, given)
    for name, struct in sections().items():
        lines += [f"[{name}]", *_comment(struct.__doc__ or ""), ""]
        lines += _section_lines(name, given)
    return "\n".join(lines)


def hosts_of(urls: Sequence[str]) -> list[str]:
    """Return the host names of serialised URLs, each once, in order."""
    return list(dict.fromkeys(host_name(host_key(url)) for url in urls))


def _addresses_to_allow(urls: Sequence[str]) -> list[str]:
    ranges: dict[str, None] = {}
    for host in hosts_of(urls):
        address = parse_address(host)
        if is_loopback(host):
            ranges |= {"127.0.0.0/8": None, "::1/128": None}
        elif address is not None and not address.is_global:
            ranges[f"{address}/{address.max_prefixlen}"] = None
    return list(ranges)


def _section_lines(section: str | None, given: Mapping[str, Any]) -> list[str]:
    lines = []
    for setting in settings_of(section).values():
        lines += [*_comment(setting.meaning), *_assignment(setting, given), ""]
    return lines


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH)]


def _assignment(setting: Setting, given: Mapping[str, Any]) -> list[str]:
    if setting.name in given:
        return [f"{setting.key} = {_long_value(given[setting.name])}"]
    if setting.example is None:
        return [f"# {setting.key} = {toml_value(in_file_form(setting.default, unit=setting.unit))}"]
    needed = _comment(_NO_CONTACT) if setting.name == "contact" else []
    return [*needed, f"# {setting.key} = {toml_value(setting.example)}  # an example"]


def _long_value(value: Any) -> str:
    if isinstance(value, list) and len(value) > 1:
        return "[\n" + "".join(f"    {toml_value(item)},\n" for item in value) + "]"
    return toml_value(value)
