"""What the fetch step knows of a host while it runs; a step that was cut learns it again from its logs.

A host has one request at a time, so its lines stand in the fetch log in the order in which it answered. Its
state is a function of its sheet, its lines in the host log, of which each robots.txt and each request that gave its URL
no outcome brings one at once, and those lines; what else was learned is written there when the step ends.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from batchcrawl.model.entries import FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.host import DomainRecord, HostRecord, RobotsCopy, RobotsHop
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.domain_state import DomainState
from batchcrawl.policy.outcomes import PUT_OFF, REFUSED, judge
from batchcrawl.policy.politeness import REACTIONS, DelayRules, HostPoliteness
from batchcrawl.web.robots.rules import RobotsRules


class HostState:
    """What is known of a host now. Used by one thread at a time, since a host takes one item at a time."""

    def __init__(self, sheet: HostSheet, rules: DelayRules, domain: DomainState, *, at: float) -> None:
        """`domain` is shared by the hosts of the domain; `at` is when the step began."""
        self.name = sheet.host
        self.registered_domain = sheet.domain
        self.domain = domain
        self.address = sheet.address
        self.located = False
        """Its address has been asked for."""
        self.robots = sheet.robots
        self.allowed = RobotsRules(sheet.robots.text if sheet.robots is not None else None)
        self.robots_hop: RobotsHop | None = None
        """Where a redirect of robots.txt that is under way has led."""
        self.politeness = HostPoliteness.start(rules, sheet, at=at)
        self.next_at = at
        """When its next URL became that."""
        self.free_at = 0.0
        """The earliest instant of the next contact."""
        self._free_from = 0.0
        """When that was settled: on a wall clock that is set back later, only the time between the two is waited."""
        self.is_put_off_with_domain = False
        self.changed = False
        self._has_just_got_robots = False
        self._refused_at: float | None = None
        self._paused_until = 0.0

    def needs_robots(self, now: float) -> bool:
        """Tell whether robots.txt is to be asked for; one that could not be had allows nothing (RFC 9309, 2.3.1.4).

        A copy is good until it expires, and for the request that follows it however long that had to wait: else a host
        that waits longer than its copy lives would be asked for robots.txt and for nothing else.
        """
        if self.robots is None or self.robots.is_unreachable(now):
            return True
        return self.robots.expires_at <= now and not self._has_just_got_robots

    def refuse_delay(self, now: float) -> None:
        """Put the host off if its robots.txt, which is still fresh, asks for a longer delay than the job allows."""
        if self.politeness.asks_too_much and not self.politeness.put_off:
            self.politeness = self.politeness.with_crawl_delay(self.politeness.crawl_delay_s, now=now)
            self.changed = True

    def follow_domain(self, now: float) -> bool:
        """Take over the pause of its domain; return whether there is one that it had not heard of.

        Each pause is heard of once, so that it ends even on a wall clock that is set back.
        """
        until = self.domain.until
        if self.politeness.put_off or until is None or until <= max(now, self._paused_until):
            return False
        self._paused_until = until
        self.free_at = max(self.free_at, until)
        if self.domain.is_put_off:
            self.politeness = self.politeness.put_off_with_domain()
            self.is_put_off_with_domain = True
        return True

    def rest(self, now: float) -> None:
        """Leave the host alone for its delay after a request that teaches nothing."""
        self.free_at, self._free_from = self.politeness.next_contact(now), now

    def learn_hop(self, hop: RobotsHop, now: float) -> None:
        """Take over where a redirect of robots.txt leads; the next request of the host goes there."""
        self.robots_hop = hop
        self.rest(now)

    def learn_robots(self, copy: RobotsCopy, token: str, answer: Answer | NoAnswer) -> None:
        """Take over what has just been got for robots.txt, and what the answer to the request says of the host.

        A host that fails is left alone as for a page where an older copy may still be used, and put off where none may.
        No answer makes up for failures: only pages do.
        """
        now, polite = answer.ended_at, self.politeness
        retry_after = answer.header("retry-after") if isinstance(answer, Answer) else None
        self._take_robots(copy)
        self._has_just_got_robots = True
        if copy.is_unreachable(now):
            polite = polite.after(FetchOutcome.DEFERRED, status=503, retry_after=retry_after, now=now)
        else:
            polite = polite.with_crawl_delay(self.allowed.crawl_delay(token), now=now)
            outcome = judge(answer).outcome if isinstance(answer, Answer) else answer.outcome
            # After thirty days without a file the host is as one that has none, whatever it answers.
            if outcome in REACTIONS and copy.unreachable_since is None:
                status = answer.status if isinstance(answer, Answer) else None
                polite = polite.after(outcome, status=status, retry_after=retry_after, now=now)
        is_failure, self.politeness = polite.failures > self.politeness.failures, polite
        self._refused_at = None
        if is_failure and isinstance(answer, Answer) and answer.status in PUT_OFF:
            self._refused_at, self.changed = answer.started_at, True
            self._tell_domain(answer.status, started_at=answer.started_at, ended_at=now)
        self.rest(now)

    def learn_answer(self, line: FetchLogLine) -> None:
        """Take over what one request for a page says of the host."""
        ended_at = line.ended_at or 0.0
        self.politeness = self.politeness.after(
            line.outcome,
            status=line.status,
            response_s=ended_at - line.started_at if line.status is not None and line.started_at is not None else None,
            retry_after=line.retry_after,
            now=ended_at,
        )
        self._tell_domain(line.status, started_at=line.started_at or ended_at, ended_at=ended_at)
        self.address = line.address or self.address
        self.free_at, self._free_from = self.politeness.next_contact(ended_at), ended_at
        self.changed = True
        self._has_just_got_robots = False

    def recall(self, line: HostLogLine) -> None:
        """Take over what was known of the host when a line of the host log was written.

        Of the answers to requests for pages the lines of the fetch log tell.
        """
        self.address, self.robots_hop, self._refused_at = line.address or self.address, line.robots_hop, line.refused_at
        self.changed = self.changed or line.refused_at is not None
        if line.robots is not None and line.robots != self.robots:
            self._take_robots(line.robots)
            self._has_just_got_robots = True
            self.politeness = HostPoliteness.start(self.politeness.rules, line, at=line.at)
            self.rest(line.at)
        elif line.robots_hop is not None:
            self.rest(line.at)

    def keep_pause(self, line: HostLogLine) -> None:
        """Keep the pause that a line of the host log tells of, which stands behind all answers of the fetch log.

        It is that of a request after which its URL was to be asked for again, and so has no outcome yet.
        """
        self.politeness = replace(self.politeness, failures=line.failures, deferred_until=line.deferred_until)
        self.changed = self.changed or line.failures > 0
        self.rest(line.at)

    def follow_on(self, line: HostLogLine) -> None:
        """Take over what a segment has last written of the host that was fetched after its sheet was made."""
        if line.robots is not None:
            self._take_robots(line.robots)
        self.address = line.address or self.address
        self.politeness = HostPoliteness.start(self.politeness.rules, line, at=self.next_at)
        if line.domain_refusals is not None:
            self.domain.refusals, self.domain.until = line.domain_refusals, line.domain_deferred_until
        self.rest(line.at)

    def forget_just_got(self) -> None:
        """Let robots.txt be good no longer than until it expires: the step was cut after it was got."""
        self._has_just_got_robots = False

    def wait_s(self, now: float) -> float:
        """Return how long it is to be left alone; a host that is put off gives its URLs back at once."""
        return 0.0 if self.politeness.put_off else max(0.0, self.free_at - max(now, self._free_from))

    @property
    def owed_s(self) -> float:
        """How long it is to be left alone from the end of its last request on, whatever the wall clock says by now."""
        return 0.0 if self.politeness.put_off else max(0.0, self.free_at - self._free_from)

    @property
    def why_put_off(self) -> str:
        """What a host that is put off has done."""
        if self.politeness.asks_too_much:
            return f"Crawl-delay {self.politeness.crawl_delay_s:g} s is above the job's politeness.delay_max"
        if self.robots is not None and self.robots.is_unreachable(self.robots.fetched_at):
            return f"robots.txt cannot be had: {self.robots.detail}"
        if self.is_put_off_with_domain:
            return f"hosts of {self.domain.name} answered 429 or 503 {self.domain.refusals} times in a row"
        failures = self.politeness.failures
        return f"the host refused or failed {'once' if failures == 1 else f'{failures} times in a row'}"

    def last_line(self, at: float) -> HostLogLine:
        """Return what is to be remembered when the step ends, of its domain too if that has learned something."""
        line, domain = self.line(at), self.domain
        if domain.changed:
            line.domain_refusals, line.domain_deferred_until = domain.refusals, domain.until
        return line

    def line(self, at: float) -> HostLogLine:
        """Return what is to be remembered of the host."""
        polite = self.politeness
        return HostLogLine(
            host=self.name,
            at=at,
            robots=self.robots,
            robots_hop=self.robots_hop,
            delay_s=polite.delay_s,
            crawl_delay_s=polite.crawl_delay_s,
            response_s=polite.response_s,
            failures=polite.failures,
            deferred_until=polite.deferred_until,
            refused_at=self._refused_at,
            address=self.address,
        )

    def _tell_domain(self, status: int | None, *, started_at: float, ended_at: float) -> None:
        host_until = self.politeness.deferred_until
        self.domain.learn(status, started_at=started_at, ended_at=ended_at, host_until=host_until)

    def _take_robots(self, copy: RobotsCopy) -> None:
        self.robots, self.allowed = copy, RobotsRules(copy.text)
        self.robots_hop = None


def host_states(sheets: Iterable[HostSheet], rules: DelayRules, *, at: float) -> dict[str, HostState]:
    """Return what is known of hosts, by host key, when the step begins at an instant; hosts of a domain share it."""
    domains: dict[str, DomainState] = {}
    states: dict[str, HostState] = {}
    for sheet in sheets:
        domain = DomainState.of(sheet, rules)
        states[sheet.host] = HostState(sheet, rules, domains.setdefault(domain.name, domain), at=at)
    return states


def follow_on(hosts: Mapping[str, HostState], lines: Iterable[HostLogLine]) -> None:
    """Let hosts learn from the host log of a segment that was fetched after their sheets were made."""
    for line in {line.host: line for line in lines if line.host in hosts}.values():
        hosts[line.host].follow_on(line)


def replay(
    hosts: Mapping[str, HostState], known: Iterable[HostLogLine], lines: Iterable[FetchLogLine]
) -> list[HostState]:
    """Let the hosts learn what a process that was cut had learned: their robots.txt and their answers, in their order.

    `known` is the host log, `lines` the fetch log. Returns the hosts that have outcomes but whose robots.txt was lost:
    a power failure may take it and leave them.
    """
    recalled = _Recalled(hosts, known)
    lost: dict[str, HostState] = {}
    answered_at: dict[str, float] = {}
    for line in lines:
        recalled.refuse_until(line.ended_at or 0.0)
        host, at = hosts[line.host], line.started_at or line.ended_at or 0.0
        put_off = recalled.until(line.host, at)
        if line.outcome is not FetchOutcome.TIME_LIMIT and not put_off and host.needs_robots(at):
            lost[host.name] = host
        requests = line.tries if line.outcome in REACTIONS else min(line.tries, 1)  # only the last one succeeded
        for _ in range(requests):
            host.learn_answer(line)
            answered_at[line.host] = line.ended_at or 0.0
    recalled.refuse_until(math.inf)
    for host in hosts.values():
        if recalled.until(host.name, math.inf):
            lost.pop(host.name, None)
        last = recalled.last.get(host.name)
        if last is not None and last.at > answered_at.get(host.name, 0.0):
            host.keep_pause(last)
        host.forget_just_got()
    return list(lost.values())


def learn_host(record: HostRecord, line: HostLogLine) -> None:
    """Take over into a host's record what the last line of the host log says of it."""
    record.robots = line.robots or record.robots
    record.delay_s, record.crawl_delay_s, record.response_s = line.delay_s, line.crawl_delay_s, line.response_s
    record.failures, record.deferred_until = line.failures, line.deferred_until
    record.address = line.address or record.address
    record.last_fetch_at = line.at


def learn_domain(record: DomainRecord, line: HostLogLine) -> None:
    """Take over into a domain's record what the last line of one of its hosts has learned of it."""
    record.refusals, record.deferred_until = line.domain_refusals or 0, line.domain_deferred_until


class _Recalled:
    """The lines of the host log, each to be taken over by its host when its time has come."""

    def __init__(self, hosts: Mapping[str, HostState], known: Iterable[HostLogLine]) -> None:
        self._hosts = hosts
        self._waiting: dict[str, deque[HostLogLine]] = {}
        self._unreachable: set[str] = set()
        self.last: dict[str, HostLogLine] = {}
        """The last line of each host."""
        refusals: dict[tuple[str, float], HostLogLine] = {}
        for line in known:
            self.last[line.host] = line
            if line.refused_at is not None:
                refusals.setdefault((line.host, line.refused_at), line)
            waiting = self._waiting.setdefault(line.host, deque())
            if waiting and (waiting[-1].robots, waiting[-1].robots_hop) == (line.robots, line.robots_hop):
                waiting[-1].address = line.address  # a pause, or the step's last word: no other robots.txt
            else:
                waiting.append(line)
        self._refusals = deque(sorted(refusals.values(), key=lambda line: line.at))

    def refuse_until(self, at: float) -> None:
        """Let the domains learn of each robots.txt that was refused up to an instant."""
        while self._refusals and self._refusals[0].at <= at:
            line = self._refusals.popleft()
            domain, started_at = self._hosts[line.host].domain, line.refused_at or line.at
            domain.learn(REFUSED, started_at=started_at, ended_at=line.at, host_until=line.deferred_until)

    def until(self, name: str, at: float) -> bool:
        """Let a host take over its lines up to an instant; return whether its robots.txt could not be had by then."""
        waiting = self._waiting.get(name)
        while waiting and self._is_time(waiting[0], at):
            line = waiting.popleft()
            self._hosts[name].recall(line)
            if _is_unreachable(line):
                self._unreachable.add(name)
            else:
                self._unreachable.discard(name)
        return name in self._unreachable

    def _is_time(self, line: HostLogLine, at: float) -> bool:
        # Of what the clock gives one instant, a robots.txt comes before the pages, and a failure of it behind them.
        return line.at < at if _is_unreachable(line) else line.at <= at


def _is_unreachable(line: HostLogLine) -> bool:
    return line.robots is not None and line.robots.is_unreachable(line.robots.fetched_at)
