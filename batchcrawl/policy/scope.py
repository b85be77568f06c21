"""Which URLs belong to the crawl: rules in a fixed order, the first that decides wins."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from batchcrawl.model.rejection import Rejection
from batchcrawl.web.urls import host_name

HOSTS_REMEMBERED = 100_000


@dataclass(frozen=True)
class ScopeRules:
    """The limits and rules of a job; patterns search the canonical URL."""

    any_host: bool
    """Hosts are not checked."""
    hosts: frozenset[str]
    """Host names (without scheme and port) that belong beside the seeds'."""
    include: tuple[re.Pattern[str], ...] = ()
    exclude: tuple[re.Pattern[str], ...] = ()
    depth_max: int | None = None
    url_bytes_max: int = 2048


class Scope:
    """Decides for one URL after another; whether a host has a seed is asked once a host."""

    def __init__(self, rules: ScopeRules, has_seed: Callable[[str], bool]) -> None:
        """`has_seed` tells of a host key whether a seed is on it."""
        self._rules = rules
        self._has_seed = has_seed
        self._hosts: dict[str, bool] = {}

    def check(self, url: str, *, host: str, depth: int) -> Rejection | None:
        """Return why a canonical URL on the host key `host` is not taken, or None when it is."""
        rules = self._rules
        if len(url) > rules.url_bytes_max:
            return Rejection.TOO_LONG
        if rules.depth_max is not None and depth > rules.depth_max:
            return Rejection.TOO_DEEP
        if not rules.any_host and not self._host_belongs(host):
            return Rejection.OFF_HOST
        if rules.exclude and _matches(rules.exclude, url):
            return Rejection.EXCLUDED
        if rules.include and not _matches(rules.include, url):
            return Rejection.NOT_INCLUDED
        return None

    def _host_belongs(self, host: str) -> bool:
        known = self._hosts.get(host)
        if known is None:
            known = host_name(host) in self._rules.hosts or self._has_seed(host)
            if len(self._hosts) < HOSTS_REMEMBERED:
                self._hosts[host] = known
        return known


def _matches(patterns: Sequence[re.Pattern[str]], url: str) -> bool:
    return any(pattern.search(url) for pattern in patterns)
