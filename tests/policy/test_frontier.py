"""The frontier: the worked trace, and what must hold on any input."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.frontier import Frontier, Taken

TRACE = Path(__file__).parents[1] / "data" / "frontier_trace.json"


def test_the_worked_example_comes_out_step_by_step() -> None:
    trace = json.loads(TRACE.read_text())
    frontier: Frontier[str] = Frontier(trace["selector_pattern"], back_queues=trace["back_queues"])
    for level, urls in trace["front_queues"].items():
        for url in urls:
            frontier.add(int(level), url.split("/")[0], url)
    assert _run(frontier, trace["fetch_seconds"], trace["delay_factor"]) == trace["steps"]


def _run(frontier: Frontier[str], fetch_seconds: dict[str, float], factor: float) -> list[dict[str, Any]]:
    now = 0.0
    steps: list[dict[str, Any]] = []
    while (due := frontier.next_due()) is not None:
        now = max(now, due)
        taken = frontier.take(now)
        assert taken is not None
        end = round(now + fetch_seconds[taken.host], 6)
        contact = round(end + factor * fetch_seconds[taken.host], 6)
        frontier.done(taken, next_contact=contact)
        step = {"step": len(steps) + 1, "start": now, "end": end, "queue": taken.queue}
        steps.append(step | {"url": taken.item, "next_contact": contact})
        now = end
    return steps


def test_nothing_is_due_in_an_empty_frontier() -> None:
    frontier: Frontier[str] = Frontier([0])
    assert frontier.take(0.0) is None
    assert frontier.next_due() is None


def test_a_leased_host_is_not_due_again_before_its_lease_ends() -> None:
    frontier = _of("a", "a")
    taken = _take(frontier, 0.0)
    assert frontier.take(1e9) is None
    assert frontier.next_due() is None
    frontier.done(taken, next_contact=5.0)
    assert frontier.next_due() == 5.0
    assert frontier.take(4.9) is None
    assert _take(frontier, 5.0).item == 1


def test_a_lease_ends_once() -> None:
    frontier = _of("a")
    taken = _take(frontier, 0.0)
    frontier.done(taken, next_contact=1.0)
    with pytest.raises(ValueError, match="not leased"):
        frontier.done(taken, next_contact=1.0)


def test_a_level_outside_of_the_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="level 7"):
        Frontier[str]([0, 1]).add(7, "a", "x")


def test_an_item_that_is_put_back_is_the_next_of_its_host() -> None:
    frontier = _of("a", "a")
    frontier.put_back(_take(frontier, 0.0), next_contact=2.0)
    assert (frontier.waiting, frontier.leased, frontier.active_hosts) == (2, 0, 1)
    assert frontier.take(1.0) is None
    assert _take(frontier, 2.0).item == 0


def test_a_host_that_is_put_off_waits_and_the_others_go_on() -> None:
    frontier = _of("a", "b")
    frontier.put_off("a", until=50.0)
    assert _take(frontier, 0.0).host == "b"
    assert frontier.next_due() == 50.0


def test_putting_off_never_brings_a_contact_forward() -> None:
    frontier = _of("a")
    frontier.put_off("a", until=50.0)
    frontier.put_off("a", until=10.0)
    assert frontier.next_due() == 50.0


def test_a_host_that_is_put_off_while_it_is_leased_waits_after_the_lease() -> None:
    frontier = _of("a", "a")
    taken = _take(frontier, 0.0)
    frontier.put_off("a", until=50.0)
    frontier.done(taken, next_contact=1.0)
    assert frontier.next_due() == 50.0


def test_a_dropped_host_gives_its_items_back_from_front_and_back_queues() -> None:
    frontier: Frontier[int] = Frontier([0], back_queues=1)
    for number, host in enumerate("abab"):
        frontier.add(0, host, number)
    _take(frontier, 0.0)
    assert frontier.drop_host("b") == [1, 3]
    assert frontier.drop_host("a") == [2]
    assert (frontier.waiting, frontier.leased, frontier.left, frontier.active_hosts) == (0, 1, 1, 1)


def test_a_dropped_host_can_come_back() -> None:
    frontier = _of("a", "a")
    frontier.drop_host("a")
    frontier.add(0, "a", 9)
    assert _take(frontier, 0.0).item == 9
    assert frontier.waiting == 0


def test_a_contacted_host_keeps_its_delay_while_it_has_no_items() -> None:
    frontier = _of("a")
    frontier.done(_take(frontier, 0.0), next_contact=30.0)
    frontier.add(0, "a", 1)
    assert frontier.next_due() == 30.0


def test_draining_returns_all_that_has_not_gone_out() -> None:
    frontier = _of("a", "b", "a")
    _take(frontier, 0.0)
    assert sorted(frontier.drain()) == [1, 2]
    assert frontier.next_due() is None


def test_each_level_gets_its_share_of_the_draws() -> None:
    frontier: Frontier[int] = Frontier([0, 0, 0, 1], back_queues=1)
    for number in range(400):
        frontier.add(number % 2, f"host{number}", number % 2)
    levels = []
    for _ in range(200):
        taken = _take(frontier, 0.0)
        levels.append(taken.item)
        frontier.done(taken, next_contact=0.0)
    assert levels.count(0) == 150


ITEMS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdefgh")), max_size=40)
QUEUES = st.one_of(st.none(), st.integers(1, 5))
ACTIONS = st.lists(st.tuples(st.sampled_from(["take", "done", "back", "off", "drop"]), st.integers(0, 7)), max_size=60)


@given(items=ITEMS, back_queues=QUEUES, actions=ACTIONS)
def test_every_item_comes_out_once_and_no_host_early_or_twice(
    items: list[tuple[int, str]], back_queues: int | None, actions: list[tuple[str, int]]
) -> None:
    frontier: Frontier[int] = Frontier([0, 0, 1, 2], back_queues=back_queues)
    for number, (level, host) in enumerate(items):
        frontier.add(level, host, number)
    run = _Run(frontier)
    for action, number in actions:
        run.act(action, number)
    run.finish()
    assert sorted(run.out) == list(range(len(items)))
    assert (frontier.left, frontier.active_hosts) == (0, 0)


@given(items=ITEMS, back_queues=QUEUES, actions=ACTIONS)
def test_the_same_actions_give_the_same_order(
    items: list[tuple[int, str]], back_queues: int | None, actions: list[tuple[str, int]]
) -> None:
    orders = []
    for _ in range(2):
        frontier: Frontier[int] = Frontier([2, 1, 0], back_queues=back_queues)
        for number, (level, host) in enumerate(items):
            frontier.add(level, host, number)
        run = _Run(frontier)
        for action, number in actions:
            run.act(action, number)
        run.finish()
        orders.append(run.out)
    assert orders[0] == orders[1]


@given(hosts=st.lists(st.sampled_from("abc"), max_size=30), back_queues=QUEUES)
def test_items_of_one_level_and_host_keep_their_order(hosts: list[str], back_queues: int | None) -> None:
    frontier: Frontier[int] = Frontier([0], back_queues=back_queues)
    for number, host in enumerate(hosts):
        frontier.add(0, host, number)
    run = _Run(frontier)
    run.finish()
    for host in "abc":
        assert [n for n in run.out if hosts[n] == host] == [n for n, h in enumerate(hosts) if h == host]


class _Run:
    """Drives a frontier on a virtual clock and checks every contact against its own books."""

    def __init__(self, frontier: Frontier[int]) -> None:
        self.frontier = frontier
        self.now = 0.0
        self.leases: list[Taken[int]] = []
        self.not_before: dict[str, float] = {}
        self.out: list[int] = []

    def act(self, action: str, number: int) -> None:
        if action == "take":
            self.take()
        elif action == "off":
            host = "abcdefgh"[number]
            self.frontier.put_off(host, until=self.now + number)
            self.not_before[host] = max(self.not_before.get(host, 0.0), self.now + number)
        elif action == "drop":
            self.out += self.frontier.drop_host("abcdefgh"[number])
        elif self.leases:
            self.end(self.leases.pop(number % len(self.leases)), number, back=action == "back")
        self.now += 0.5

    def take(self) -> None:
        due = self.frontier.next_due()
        taken = self.frontier.take(self.now)
        assert (taken is not None) == (due is not None and due <= self.now)
        if taken is None:
            return
        assert taken.host not in {lease.host for lease in self.leases}
        assert self.now >= self.not_before.get(taken.host, 0.0)
        self.leases.append(taken)

    def end(self, taken: Taken[int], delay: float, *, back: bool = False) -> None:
        contact = self.now + delay
        self.not_before[taken.host] = max(self.not_before.get(taken.host, 0.0), contact)
        if back:
            self.frontier.put_back(taken, next_contact=contact)
        else:
            self.out.append(taken.item)
            self.frontier.done(taken, next_contact=contact)

    def finish(self) -> None:
        while self.leases:
            self.end(self.leases.pop(), 1.0)
        while (due := self.frontier.next_due()) is not None:
            self.now = max(self.now, due)
            self.take()
            self.end(self.leases.pop(), 1.0)


def _of(*hosts: str) -> Frontier[int]:
    frontier: Frontier[int] = Frontier([0])
    for number, host in enumerate(hosts):
        frontier.add(0, host, number)
    return frontier


def _take(frontier: Frontier[int], now: float) -> Taken[int]:
    taken = frontier.take(now)
    assert taken is not None
    return taken
