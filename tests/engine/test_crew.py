import threading
from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest

from batchcrawl.engine.control import Control
from batchcrawl.engine.crew import After, Crew
from batchcrawl.policy.frontier import Frontier, Taken

PATIENCE_S = 30
Visit = Callable[[Taken[str]], After]


class LeapingClock:
    """Every look at it finds ten seconds gone, so that whatever waits less is due at the next look."""

    def __init__(self) -> None:
        self._looks = count()

    def now(self) -> float:
        return self.monotonic()

    def monotonic(self) -> float:
        return 10.0 * next(self._looks)


class StandingClock:
    """Time never passes, so that whatever waits is never due."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0


def frontier(**items: int) -> Frontier[str]:
    """Return a frontier with so many items a host: a1, a2, b1."""
    made: Frontier[str] = Frontier([1])
    for host, number in items.items():
        for n in range(1, number + 1):
            made.add(1, host, f"{host}{n}")
    return made


class Ran:
    """A crew that has run: what it visited and dropped, and what is left in the frontier."""

    def __init__(
        self,
        of: Frontier[str],
        visit: Visit,
        *,
        threads: int = 1,
        clock: LeapingClock | StandingClock | None = None,
        control: Control | None = None,
        time_limit_s: float | None = None,
        on_tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.visited: list[str] = []
        self.dropped: list[str] = []

        def noted(taken: Taken[str]) -> After:
            self.visited.append(taken.item)
            return visit(taken)

        self.crew = Crew(of, noted, self.dropped.extend, threads=threads, clock=clock or LeapingClock())
        self.crew.run(control or Control(), time_limit_s=time_limit_s, on_tick=on_tick)


def at_once(_: Taken[str]) -> After:
    return After(wait_s=0.0)


@pytest.mark.parametrize("threads", [1, 4, 30])
def test_every_item_is_visited_once(threads: int) -> None:
    sizes = {"a": 20, "b": 10, "c": 1, "d": 1}
    items = frontier(**sizes)
    ran = Ran(items, lambda _: After(wait_s=5.0), threads=threads)
    assert sorted(ran.visited) == sorted(f"{host}{n}" for host, size in sizes.items() for n in range(1, size + 1))
    assert items.left == 0


def test_a_host_has_one_visitor_at_a_time() -> None:
    guard, inside, most = threading.Lock(), Counter[str](), Counter[str]()

    def visit(taken: Taken[str]) -> After:
        with guard:
            inside[taken.host] += 1
            most[taken.host] = max(most[taken.host], inside[taken.host])
        with guard:
            inside[taken.host] -= 1
        return After(wait_s=1.0)

    Ran(frontier(a=50, b=50), visit, threads=8)
    assert most == {"a": 1, "b": 1}


def test_two_hosts_are_visited_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=PATIENCE_S)

    def visit(_: Taken[str]) -> After:
        meeting.wait()
        return After(wait_s=0.0)

    assert len(Ran(frontier(a=1, b=1), visit, threads=2).visited) == 2


def test_an_item_that_was_not_used_is_the_next_of_its_host() -> None:
    tries: Counter[str] = Counter()

    def visit(taken: Taken[str]) -> After:
        tries[taken.item] += 1
        return After(wait_s=1.0, again=tries[taken.item] < 3)

    ran = Ran(frontier(a=2), visit)
    assert ran.visited == ["a1", "a1", "a1", "a2", "a2", "a2"]


def test_the_items_of_a_host_that_is_put_off_are_dropped() -> None:
    ran = Ran(frontier(a=4, b=2), lambda taken: After(wait_s=1.0, drop_host=taken.item == "a2"))
    assert ran.dropped == ["a3", "a4"]
    assert sorted(ran.visited) == ["a1", "a2", "b1", "b2"]


def test_a_host_with_nothing_left_drops_nothing() -> None:
    assert Ran(frontier(a=1), lambda _: After(wait_s=0.0, drop_host=True)).dropped == []


def test_a_request_to_stop_leaves_the_rest_in_the_frontier() -> None:
    items, control = frontier(a=5), Control()

    def visit(taken: Taken[str]) -> After:
        if taken.item == "a3":
            control.stop()
        return After(wait_s=0.0)

    ran = Ran(items, visit, control=control)
    assert ran.visited == ["a1", "a2", "a3"]
    assert items.drain() == ["a4", "a5"]


def test_a_request_made_before_the_start_visits_nothing() -> None:
    control = Control()
    control.stop()
    assert Ran(frontier(a=5), at_once, control=control, threads=3).visited == []


def test_a_request_to_stop_wakes_those_who_wait_for_a_host() -> None:
    items, control = frontier(a=2), Control()
    ran = Ran(
        items, lambda _: After(wait_s=1e6), control=control, clock=StandingClock(), threads=3, on_tick=control.stop
    )
    assert ran.visited == ["a1"]
    assert items.left == 1


def test_at_the_time_limit_the_visits_under_way_are_finished_and_no_more_begun() -> None:
    items, ticked = frontier(a=3), threading.Event()

    def visit(_: Taken[str]) -> After:
        assert ticked.wait(PATIENCE_S)
        return After(wait_s=0.0)

    ran = Ran(items, visit, time_limit_s=10.0, on_tick=ticked.set)
    assert ran.visited == ["a1"]
    assert items.left == 2


def test_a_request_to_drop_does_not_wait_for_the_visits_under_way() -> None:
    control, release = Control(), threading.Event()

    def stuck(_: Taken[str]) -> After:
        release.wait(PATIENCE_S)
        return After(wait_s=0.0)

    def drop() -> None:
        control.stop()
        control.stop()

    ran = Ran(frontier(a=3), stuck, control=control, on_tick=drop)
    assert ran.visited == ["a1"]
    assert not release.is_set()
    release.set()


def test_the_error_of_a_visit_ends_the_crew_and_is_raised() -> None:
    items = frontier(a=9, b=9)

    def visit(taken: Taken[str]) -> After:
        if taken.item == "a2":
            raise ZeroDivisionError("a bug")
        return After(wait_s=0.0)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        Ran(items, visit)
    assert items.left > 0


def test_an_error_in_one_thread_ends_those_that_wait() -> None:
    def visit(taken: Taken[str]) -> After:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Ran(frontier(a=5), visit, threads=5, clock=StandingClock())


def test_an_error_while_dropping_is_raised_as_well() -> None:
    def refuse(_: list[str]) -> None:
        raise OSError("full")

    crew = Crew(frontier(a=2), lambda _: After(wait_s=0.0, drop_host=True), refuse, threads=1, clock=LeapingClock())
    with pytest.raises(OSError, match="full"):
        crew.run(Control(), time_limit_s=None, on_tick=lambda: None)


def test_hosts_are_counted_as_visited_or_waiting() -> None:
    items, counted = frontier(a=2, b=1, c=1), list[tuple[int, int]]()
    ticked = threading.Event()

    def visit(_: Taken[str]) -> After:
        assert ticked.wait(PATIENCE_S)
        return After(wait_s=0.0)

    crew = Crew(items, visit, lambda _: None, threads=1, clock=LeapingClock())

    def on_tick() -> None:
        if not ticked.is_set():
            counted.append(crew.active_and_waiting())
            ticked.set()

    crew.run(Control(), time_limit_s=None, on_tick=on_tick)
    assert counted == [(1, 2)]
    assert crew.active_and_waiting() == (0, 0)


def test_with_nothing_to_do_it_ends_at_once() -> None:
    assert Ran(frontier(), at_once, threads=0).visited == []
    assert Ran(frontier(), at_once, threads=3).visited == []
