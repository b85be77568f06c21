"""What the fetch step knows of a host while it runs; a step that was cut learns it again from its logs.

A host has one request at a time, so its lines stand in the fetch log in the order in which it answered. Its
state is a function of its sheet, its robots.txt and those lines; only robots.txt has a line at once in the
host log, the rest is written there when the step ends.
"""

from collections.abc import Iterable, Mapping

from batchcrawl.model.entries import FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.host import HostRecord, RobotsCopy
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.politeness import REACTIONS, DelayRules, HostPoliteness
from batchcrawl.web.robots import RobotsRules


class HostState:
    """What is known of a host now. Used by one thread at a time, since a host takes one item at a time."""

    def __init__(self, sheet: HostSheet, rules: DelayRules) -> None:
        self.name = sheet.host
        self.domain = sheet.domain
        self.address = sheet.address
        self.located = False
        """Its address has been asked for."""
        self.robots = sheet.robots
        self.allowed = RobotsRules(sheet.robots.text if sheet.robots is not None else None)
        self.politeness = HostPoliteness.start(
            rules,
            crawl_delay_s=sheet.crawl_delay_s,
            response_s=sheet.response_s,
            failures=sheet.failures,
            deferred_until=sheet.deferred_until,
        )
        self.free_at = 0.0
        """The earliest instant of the next contact."""
        self.changed = False

    def needs_robots(self, now: float) -> bool:
        """Tell whether robots.txt is to be asked for; one that could not be had allows nothing (RFC 9309, 2.3.1.4)."""
        return self.robots is None or self.robots.expires_at <= now or self.robots.is_unreachable(now)

    def refuse_delay(self, now: float) -> None:
        """Put the host off if its robots.txt, which is still fresh, asks for a longer delay than the job allows."""
        if self.politeness.asks_too_much and not self.politeness.put_off:
            self.politeness = self.politeness.with_crawl_delay(self.politeness.crawl_delay_s, now=now)
            self.changed = True

    def learn_robots(self, copy: RobotsCopy, token: str) -> None:
        """Take over what has just been got for robots.txt."""
        self.robots, self.allowed = copy, RobotsRules(copy.text)
        if copy.is_unreachable(copy.fetched_at):
            self.politeness = self.politeness.after(FetchOutcome.DEFERRED, status=503, now=copy.fetched_at)
        else:
            delay_s = self.allowed.crawl_delay(token)
            self.politeness = self.politeness.with_crawl_delay(delay_s, now=copy.fetched_at)
        self.free_at = self.politeness.next_contact(copy.fetched_at)

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
        self.address = line.address or self.address
        self.free_at = self.politeness.next_contact(ended_at)
        self.changed = True

    def wait_s(self, now: float) -> float:
        """Return how long it is to be left alone; a host that is put off gives its URLs back at once."""
        return 0.0 if self.politeness.put_off else max(0.0, self.free_at - now)

    def line(self, at: float) -> HostLogLine:
        """Return what is to be remembered."""
        polite = self.politeness
        return HostLogLine(
            host=self.name,
            at=at,
            robots=self.robots,
            delay_s=polite.delay_s,
            crawl_delay_s=polite.crawl_delay_s,
            response_s=polite.response_s,
            failures=polite.failures,
            deferred_until=polite.deferred_until,
            address=self.address,
        )


def replay(
    hosts: Mapping[str, HostState], known: Iterable[HostLogLine], lines: Iterable[FetchLogLine], token: str
) -> list[HostState]:
    """Let the hosts learn what a process that was cut had learned: their robots.txt, then their answers.

    `known` are the last lines of the hosts in the host log, `lines` the fetch log. Returns the hosts that have
    outcomes but whose robots.txt was lost: a power failure may take it and leave them.
    """
    unreachable: list[tuple[HostState, RobotsCopy]] = []
    lost: dict[str, HostState] = {}
    for last in known:
        host = hosts[last.host]
        host.address = last.address or host.address
        if last.robots is None or last.robots == host.robots:
            continue
        if not last.robots.is_unreachable(last.robots.fetched_at):
            host.learn_robots(last.robots, token)
        else:
            unreachable.append((host, last.robots))  # no page was asked for after it
    for line in lines:
        host = hosts[line.host]
        if line.outcome is not FetchOutcome.TIME_LIMIT and host.needs_robots(line.ended_at or 0.0):
            lost[host.name] = host
        requests = line.tries if line.outcome in REACTIONS else min(line.tries, 1)  # only the last one succeeded
        for _ in range(requests):
            host.learn_answer(line)
    for host, copy in unreachable:
        host.learn_robots(copy, token)
        lost.pop(host.name, None)
    return list(lost.values())


def learn_host(record: HostRecord, line: HostLogLine) -> None:
    """Take over into a host's record what the last line of the host log says of it."""
    record.robots = line.robots or record.robots
    record.delay_s, record.crawl_delay_s, record.response_s = line.delay_s, line.crawl_delay_s, line.response_s
    record.failures, record.deferred_until = line.failures, line.deferred_until
    record.address = line.address or record.address
    record.last_fetch_at = line.at
