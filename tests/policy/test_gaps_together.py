"""All that hosts are owed at once, on a virtual clock: several partitions, each with its frontier and its threads.

Hosts lie in domains, a domain in one partition, and addresses are shared by hosts of all partitions.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.job.client import Gaps, delay_rules, gaps
from batchcrawl.job.load import Job, load_job
from batchcrawl.model.entries import FetchLogLine, HostSheet
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.domain_state import DomainState
from batchcrawl.policy.frontier import Frontier, Taken
from batchcrawl.policy.host_state import HostState, host_states
from batchcrawl.policy.politeness import DelayRules

ANSWERS = [
    (FetchOutcome.FETCHED, 200),
    (FetchOutcome.NOT_FOUND, 404),
    (FetchOutcome.SERVER_ERROR, 500),
    (FetchOutcome.TIMEOUT, None),
    (FetchOutcome.DEFERRED, 503),
]
WEIGHTS = [12, 3, 2, 1, 2]
LASTS_S = [0.0, 0.01, 0.2, 1.5]
MARGIN_S = 1e-6
"""For what floating-point numbers lose."""


@dataclass(frozen=True)
class Request:
    """One request on the virtual clock."""

    host: str
    domain: str
    address: str
    partition: int
    started_at: float
    ended_at: float
    may_start_at: float
    """When the host's delay and waits were over."""
    pause_ended_at: float
    """When the last pause of its domain was over."""


@dataclass
class Partition:
    """A partition's frontier and what it knows of its hosts."""

    number: int
    hosts: dict[str, HostState]
    frontier: Frontier[int] = field(default_factory=lambda: Frontier([0]))
    running: list[tuple[float, Taken[int], FetchLogLine]] = field(default_factory=list)
    given_back: int = 0


class Machine:
    """Partitions that fetch at once; each request lasts and ends as a random number says."""

    def __init__(self, job: Job, random: Random, *, partitions: int, threads: int) -> None:
        self.rules, self.gaps = delay_rules(job), gaps(job, partitions=partitions)
        self.requests: list[Request] = []
        self.pages = 0
        self._random = random
        self._threads = threads
        self._serial = count()
        self._now = 0.0
        self.partitions = [self._partition(number) for number in range(partitions)]

    def run(self) -> None:
        """Fetch until nothing is left."""
        while any(part.frontier.left for part in self.partitions):
            for part in self.partitions:
                while len(part.running) < self._threads and (taken := part.frontier.take(self._now)) is not None:
                    self._visit(part, taken)
            self._now = min(at for part in self.partitions for at in self._instants(part))
            for part in self.partitions:
                self._end_those_due(part)

    def _partition(self, number: int) -> Partition:
        sheets = []
        for domain in range(self._random.randint(1, 3)):
            for label in range(self._random.randint(1, 3)):
                name = f"http://h{label}.d{domain}p{number}.test"
                address = f"192.0.2.{self._random.randint(0, 2)}"
                crawl_delay_s = self._random.choice([None, None, 3.0])
                sheets.append(
                    HostSheet(
                        host=name,
                        domain=f"d{domain}p{number}.test",
                        urls=1,
                        address=address,
                        crawl_delay_s=crawl_delay_s,
                    )
                )
        part = Partition(number, host_states(sheets, self.rules, at=0.0))
        for name, host in part.hosts.items():
            for _ in range(self._random.randint(1, 6)):
                part.frontier.add(0, name, next(self._serial))
                self.pages += 1
            gates = {f"domain {host.registered_domain}": self.gaps.domain_s, f"at {host.address}": self.gaps.address_s}
            part.frontier.set_gates(name, gates)
        return part

    def _visit(self, part: Partition, taken: Taken[int]) -> None:
        host = part.hosts[taken.host]
        if host.follow_domain(self._now) and not host.politeness.put_off:
            part.frontier.put_back(taken, next_contact=self._now + host.wait_s(self._now))
            return
        if host.politeness.put_off:
            part.frontier.done(taken, next_contact=self._now)
            part.given_back += 1 + len(part.frontier.drop_host(taken.host))
            return
        [(outcome, status)] = self._random.choices(ANSWERS, WEIGHTS)
        ended_at = self._now + self._random.choice(LASTS_S)
        line = FetchLogLine(
            fp="", url="", host=taken.host, outcome=outcome, status=status, started_at=self._now, ended_at=ended_at
        )
        part.running.append((ended_at, taken, line))
        self.requests.append(
            Request(
                host=taken.host,
                domain=host.registered_domain,
                address=host.address or "",
                partition=part.number,
                started_at=self._now,
                ended_at=ended_at,
                may_start_at=host.free_at,
                pause_ended_at=host.domain.until or 0.0,
            )
        )

    def _instants(self, part: Partition) -> Iterator[float]:
        yield from (ended_at for ended_at, _, _ in part.running)
        due = part.frontier.next_due()
        if due is not None and len(part.running) < self._threads:
            yield max(due, self._now)

    def _end_those_due(self, part: Partition) -> None:
        due = [running for running in part.running if running[0] <= self._now]
        part.running = [running for running in part.running if running[0] > self._now]
        for _, taken, line in due:
            host = part.hosts[taken.host]
            host.learn_answer(line)
            part.frontier.done(taken, next_contact=self._now + host.wait_s(self._now))
            if host.politeness.put_off:
                part.given_back += len(part.frontier.drop_host(taken.host))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder: Path = tmp_path_factory.mktemp("gaps")
    (folder / "x.toml").write_text("seeds = []\n")
    return load_job("x.toml", cwd=folder)


def by(requests: list[Request], *names: str) -> list[list[Request]]:
    """Return the requests in the order of their starts, apart by the values of some fields."""
    apart: dict[tuple[object, ...], list[Request]] = defaultdict(list)
    for request in sorted(requests, key=lambda request: request.started_at):
        apart[tuple(getattr(request, name) for name in names)].append(request)
    return list(apart.values())


def starts_are_apart(requests: list[Request], gap_s: float, *, free: int = 0) -> bool:
    """Tell whether among requests in a row all but `free` of them are a gap behind the one before."""
    at = [request.started_at for request in requests]
    return all(
        at[last] - at[first] >= (last - first - free) * gap_s - MARGIN_S
        for first in range(len(at))
        for last in range(first, len(at))
    )


@settings(deadline=None)
@given(random=st.randoms(use_true_random=False), partitions=st.integers(1, 4), threads=st.integers(1, 6))
def test_no_request_starts_before_host_domain_and_address_allow_it(
    job: Job, random: Random, partitions: int, threads: int
) -> None:
    machine = Machine(job, random, partitions=partitions, threads=threads)
    machine.run()
    requests = machine.requests
    address_gap_s = job.settings.politeness.address_gap_s
    for of_host in by(requests, "host"):
        for earlier, later in pairwise(of_host):
            assert later.started_at >= earlier.ended_at + job.settings.politeness.delay_min_s - MARGIN_S
    assert all(request.started_at >= request.may_start_at - MARGIN_S for request in requests)
    assert all(request.started_at >= request.pause_ended_at - MARGIN_S for request in requests)
    assert all(starts_are_apart(of_domain, machine.gaps.domain_s) for of_domain in by(requests, "domain"))
    assert all(starts_are_apart(own, address_gap_s * partitions) for own in by(requests, "address", "partition"))
    assert all(starts_are_apart(own, address_gap_s, free=partitions - 1) for own in by(requests, "address"))
    assert len(requests) + sum(part.given_back for part in machine.partitions) == machine.pages


def test_the_gap_of_an_address_is_shared_among_the_partitions_and_that_of_a_domain_is_not(job: Job) -> None:
    assert gaps(job, partitions=4) == Gaps(domain_s=0.5, address_s=0.8)


REFUSALS = st.lists(st.tuples(st.sampled_from([429, 503]), st.floats(0, 1e6)), min_size=1, max_size=30)


@given(REFUSALS)
def test_each_refusal_after_a_pause_doubles_it_up_to_the_longest_and_success_begins_anew(
    refusals: list[tuple[int, float]],
) -> None:
    rules = DelayRules(delay_min_s=1.0, delay_max_s=60.0, response_factor=5.0)
    domain, now = DomainState("a.test", rules), 0.0
    for number, (status, later_s) in enumerate(refusals):
        now = (domain.until or now) + later_s
        domain.learn(status, started_at=now, ended_at=now)
        assert domain.until == now + min(rules.backoff_min_s * 2**number, rules.backoff_max_s)
    now = domain.until or now
    domain.learn(200, started_at=now, ended_at=now)
    domain.learn(429, started_at=now, ended_at=now)
    assert domain.until == now + rules.backoff_min_s
