"""Which URLs belong to the crawl: rules in a fixed order, the first that decides wins; then the traps.

What is said of a URL alone is a `Verdict`, to be kept for every link to it. Where rules ask for depth or hops, it
holds them as well, and `Verdict.at` decides for the link at hand.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.rules import OF_LINKS, Asks, Rule, ScopeRules
from batchcrawl.policy.traps import trap_of
from batchcrawl.policy.url_filters import Judge, judge_by
from batchcrawl.web.patterns import Dialect, Search, compile_search
from batchcrawl.web.urls import host_name

HOSTS_REMEMBERED = 100_000
TIMEOUTS_MAX = 100
"""URLs of a domain that made patterns take too long so often are not searched by them any more."""


@dataclass(frozen=True)
class Decision:
    """What became of a URL, and which rule said so."""

    rejection: Rejection | None
    """None when it is taken."""
    rule: str
    place: str
    """`file:line`, or `default`."""


@dataclass(frozen=True)
class Verdict:
    """What the rules say of a URL on whatever way a link leads to it."""

    decision: Decision
    """Holds unless one of `pending` decides before it."""
    pending: tuple[tuple[Rule, Decision], ...] = ()
    """Rules that ask for depth or hops, in their order."""

    def at(self, *, depth: int, hops: int) -> Decision:
        """Return the decision for a link of this depth and so many hops off the crawl's own hosts."""
        for rule, decision in self.pending:
            if _link_asks(rule, depth=depth, hops=hops):
                return decision
        return self.decision


@dataclass(frozen=True)
class Hosts:
    """What the scope asks of hosts; each is asked once a host."""

    has_seed: Callable[[str], bool]
    """Tells of a host key whether it is a seed's, or within what the seeds stand for."""
    registered: Callable[[str], str]
    """Gives the registered domain of a host name."""


Step = Callable[[str, str], Verdict | None]
"""One rule, made ready: judges a URL with its host key, or leaves it to the next."""


class Scope:
    """Decides for one URL after another."""

    def __init__(self, rules: ScopeRules, hosts: Hosts) -> None:
        self._own_names = rules.hosts
        self._has_seed = hosts.has_seed
        self._registered = hosts.registered
        self._limits = rules.limits
        self._own: dict[str, bool] = {}
        self._timeouts: Counter[str] = Counter()
        self._steps = [(rule if rule.asks in OF_LINKS else None, self._step(rule)) for rule in rules.rules]
        self._trapped = {rule.reason: Verdict(Decision(rule.reason, rule.text, rule.place)) for rule in rules.traps}

    def judge(self, url: str, host: str) -> Verdict:
        """Return the verdict on a canonical URL on the host key `host`."""
        pending: list[tuple[Rule, Decision]] = []
        for of_link, step in self._steps:
            verdict = step(url, host)
            if of_link is not None and verdict is not None:
                pending.append((of_link, verdict.decision))
            elif verdict is not None:
                return self._without_traps(url, verdict, pending)
        raise ValueError("the last rule of a scope holds for every URL")

    def decide(self, url: str, *, host: str, depth: int, hops: int) -> Decision:
        """Return the decision for a link to a canonical URL on the host key `host`."""
        return self.judge(url, host).at(depth=depth, hops=hops)

    def owns(self, host: str) -> bool:
        """Tell whether a host key is one of the crawl's own: a seed's, or named in the job. Hops are counted off it."""
        known = self._own.get(host)
        if known is None:
            known = host_name(host) in self._own_names or self._has_seed(host)
            if len(self._own) < HOSTS_REMEMBERED:
                self._own[host] = known
        return known

    def _without_traps(self, url: str, verdict: Verdict, pending: list[tuple[Rule, Decision]]) -> Verdict:
        taken = verdict.decision.rejection is None
        if taken or any(decision.rejection is None for _, decision in pending):
            trapped = self._trapped.get(trap_of(url, self._limits))
            if trapped is not None:
                pending = [(rule, d if d.rejection is not None else trapped.decision) for rule, d in pending]
                verdict = trapped if taken else verdict
        return Verdict(verdict.decision, tuple(pending)) if pending else verdict

    def _step(self, rule: Rule) -> Step:
        verdict = Verdict(Decision(rule.reason, rule.text, rule.place))
        if rule.asks is Asks.FILTER:
            return self._filter_step(rule)
        if rule.asks in (Asks.FOUND, Asks.NOT_FOUND):
            return self._pattern_step(rule, verdict)
        holds = _of_url(rule, self.owns)
        return lambda url, host: verdict if holds(url, host) else None

    def _pattern_step(self, rule: Rule, verdict: Verdict) -> Step:
        searches: list[Search] = [compile_search(text, Dialect.PYTHON) for text in rule.values]
        wanted = rule.asks is Asks.FOUND
        late = Verdict(Decision(Rejection.RULE_TIMEOUT, rule.text, rule.place))

        def step(url: str, host: str) -> Verdict | None:
            found = self._search(searches, url, host)
            if found is None:
                return late
            return verdict if found is wanted else None

        return step

    def _search(self, searches: list[Search], url: str, host: str) -> bool | None:
        if self._is_slow(host):
            return None
        for search in searches:
            found = search(url)
            if found is None:
                self._timeouts[self._registered(host_name(host))] += 1
                return None
            if found:
                return True
        return False

    def _filter_step(self, rule: Rule) -> Step:
        assert rule.url_filter is not None
        shown, judge = rule.url_filter.shown, judge_by(rule.url_filter, self._registered)

        def step(url: str, host: str) -> Verdict | None:
            return self._ruled(judge, shown, url, host)

        return step

    def _ruled(self, judge: Judge, shown: str, url: str, host: str) -> Verdict | None:
        if self._is_slow(host):
            return Verdict(Decision(Rejection.RULE_TIMEOUT, "patterns took too long for this domain", shown))
        ruling = judge(url, host)
        if ruling.accepted:
            return None
        place = shown if ruling.line is None else f"{shown}:{ruling.line}"
        if ruling.accepted is None:
            self._timeouts[self._registered(host_name(host))] += 1
            return Verdict(Decision(Rejection.RULE_TIMEOUT, ruling.text, place))
        return Verdict(Decision(Rejection.URL_FILTER, ruling.text, place))

    def _is_slow(self, host: str) -> bool:
        return bool(self._timeouts) and self._timeouts[self._registered(host_name(host))] >= TIMEOUTS_MAX


def _link_asks(rule: Rule, *, depth: int, hops: int) -> bool:
    number = hops if rule.asks in (Asks.HOPS_ABOVE, Asks.HOPS_WITHIN) else depth
    return number > rule.number if rule.asks in (Asks.DEPTH_ABOVE, Asks.HOPS_ABOVE) else number <= rule.number


def url_test(asks: Asks, values: tuple[str, ...]) -> Callable[[str, str], bool]:
    """Return what tells of a URL and its host key whether a condition holds that is of the URL alone, not a pattern."""
    names, below = frozenset(values), tuple(f".{name}" for name in values)
    tests: dict[Asks, Callable[[str, str], bool]] = {
        Asks.HOST: lambda _, host: host_name(host) in names,
        Asks.DOMAIN: lambda _, host: (name := host_name(host)) in names or name.endswith(below),
        Asks.PREFIX: lambda url, _: url.startswith(values),
        Asks.EXTENSION: lambda url, _: url.partition("#")[0].partition("?")[0].lower().endswith(below),
        Asks.ANYTHING: lambda _, __: True,
    }
    return tests[asks]


def _of_url(rule: Rule, owns: Callable[[str], bool]) -> Callable[[str, str], bool]:
    """Return what tells of a URL and its host key whether a rule holds that has no patterns."""
    if rule.asks is Asks.LENGTH_ABOVE:
        return lambda url, _: len(url) > rule.number
    if rule.asks is Asks.ELSEWHERE:
        return lambda _, host: not owns(host)
    return url_test(Asks.ANYTHING if rule.asks in OF_LINKS else rule.asks, rule.values)
