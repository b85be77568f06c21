"""Registered domains by the Public Suffix List (publicsuffix.org)."""

import re
from functools import lru_cache
from pathlib import Path

import publicsuffixlist

_CACHED_HOSTS_MAX = 100_000
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}\Z")
_VERSION = re.compile(r"^// VERSION: *(\S+)", re.MULTILINE)


def bundled_list() -> str:
    """Return the text of the public suffix list that is installed with publicsuffixlist."""
    return Path(publicsuffixlist.PSLFILE).read_text(encoding="utf-8")


def list_version(list_text: str) -> str | None:
    """Return the version that a public suffix list states in its head, such as `2026-10-22_08-36-41_UTC`."""
    found = _VERSION.search(list_text)
    return found[1] if found else None


class Domains:
    """Answers which registered domain a host name belongs to.

    `list_text` is a public suffix list with its section markers. A crawl keeps the list it was born with, since
    fingerprints lean on it.
    """

    def __init__(self, list_text: str) -> None:
        self._icann = _suffixes(list_text, only_icann=True)
        self._list_text = list_text
        self._cache: dict[str, str] = {}
        self._private_cache: dict[str, str] = {}
        self._owners: frozenset[str] | None = None

    def registered(self, host_name: str) -> str:
        """Return the registered domain by the ICANN section alone: `a.github.io` belongs to `github.io`.

        IP addresses, single labels, public suffixes and what is no host name are their own domain.
        """
        found = self._cache.get(host_name)
        if found is None:
            found = _remember(self._cache, host_name, _registered(self._icann, host_name))
        return found

    def budget(self, host_name: str) -> str | None:
        """Return the registered domain by both sections where it is another than by the first alone, else None.

        Whoever has a name there answers for it alone.
        """
        found = self.registered_private(host_name)
        return None if found == self.registered(host_name) else found

    def registered_private(self, host_name: str) -> str:
        """Return the registered domain by both sections: `x.a.github.io` belongs to `a.github.io`."""
        registered = self.registered(host_name)
        if self._owners is None:
            self._owners = _private_owners(self._list_text)
        if registered not in self._owners:
            return registered  # as nearly all: found without reading the list as a whole
        found = self._private_cache.get(host_name)
        if found is None:
            suffixes = _suffixes(self._list_text, only_icann=False)
            found = _remember(self._private_cache, host_name, _registered(suffixes, host_name))
        return found


@lru_cache(maxsize=4)
def _suffixes(list_text: str, *, only_icann: bool) -> publicsuffixlist.PublicSuffixList:
    # Reading the list takes as long as parsing a hundred pages, and every step of a crawl asks for it.
    return publicsuffixlist.PublicSuffixList(list_text, only_icann=only_icann)


@lru_cache(maxsize=4)
def _private_owners(list_text: str) -> frozenset[str]:
    """Return what the rules of the private section end with, all registered domains that have such rules among it."""
    owners = set()
    for line in list_text.partition("===BEGIN PRIVATE DOMAINS===")[2].splitlines():
        rule = "" if line.startswith("//") else line.strip()
        while rule:
            owners.add(_ascii(rule))
            rule = rule.partition(".")[2]
    return frozenset(owners)


def _ascii(name: str) -> str:
    try:
        return name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _registered(suffixes: publicsuffixlist.PublicSuffixList, host_name: str) -> str:
    name = host_name.removesuffix(".")
    if ":" in name or _IPV4.match(name):
        return host_name
    return suffixes.privatesuffix(name) or host_name


def _remember(cache: dict[str, str], host_name: str, domain: str) -> str:
    if len(cache) >= _CACHED_HOSTS_MAX:
        cache.clear()
    cache[host_name] = domain
    return domain
