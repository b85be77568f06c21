"""The rules of a scope: what each asks of a URL, what it decides, and where it stands. Values; `scope` applies them."""

from dataclasses import dataclass, field
from enum import Enum

from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.traps import TrapLimits
from batchcrawl.policy.url_filters import UrlFilter


class Asks(Enum):
    """What a rule asks of a link."""

    LENGTH_ABOVE = "length above"
    """The URL has more bytes than `number`."""
    DEPTH_ABOVE = "depth above"
    """It is more than `number` links away from a seed."""
    DEPTH_WITHIN = "depth within"
    """It is at most so many links away."""
    HOPS_ABOVE = "hops above"
    """It is more than `number` links away from the crawl's own hosts."""
    HOPS_WITHIN = "hops within"
    """It is at most so many links away from them."""
    HOST = "host"
    """Its host has one of the names `values`."""
    DOMAIN = "domain"
    """Its host is one of the domains `values`, or below one."""
    PREFIX = "prefix"
    """It begins with one of `values`."""
    EXTENSION = "extension"
    """Its path ends in a dot and one of `values`, in any case."""
    FOUND = "found"
    """One of the regular expressions `values` is found in it."""
    NOT_FOUND = "not found"
    """None of them is."""
    ELSEWHERE = "elsewhere"
    """It is on none of the crawl's own hosts."""
    FILTER = "filter"
    """The filter file rejects it; where the file accepts, the rule decides nothing."""
    TRAP = "trap"
    """Its shape is that of the trap that `reason` names."""
    ANYTHING = "anything"
    """Nothing: it holds for every URL."""


OF_LINKS = frozenset({Asks.DEPTH_ABOVE, Asks.DEPTH_WITHIN, Asks.HOPS_ABOVE, Asks.HOPS_WITHIN})
"""What depends on the way that led to a URL, and not on the URL alone."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule."""

    asks: Asks
    reason: Rejection | None
    """Why a URL is rejected for which the rule holds; None when it is taken."""
    text: str
    """The rule as people read it."""
    place: str
    """`file:line`, or `default`."""
    values: tuple[str, ...] = ()
    number: int = 0
    url_filter: UrlFilter | None = None


@dataclass(frozen=True)
class ScopeRules:
    """All rules of a job in their order, limits and defaults among them; the last one holds for every URL."""

    rules: tuple[Rule, ...]
    hosts: frozenset[str] = frozenset()
    """Names of hosts that are the crawl's own beside the seeds'."""
    limits: TrapLimits = field(default_factory=TrapLimits)
    traps: tuple[Rule, ...] = ()
    """A rule for each limit: what the others take is looked at by these."""
