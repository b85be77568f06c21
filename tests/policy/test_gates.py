"""Gates of the frontier: what several hosts share lets one through at a time, then none for its gap."""

from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.frontier import Frontier, Taken


def test_hosts_of_one_gate_go_through_one_gap_after_the_other() -> None:
    frontier = _of("a", "b", "c", gaps={"d": 2.0})
    assert [(_take_next(frontier)) for _ in range(3)] == [(0.0, "a"), (2.0, "b"), (4.0, "c")]


def test_a_host_without_a_gate_does_not_wait_at_those_of_others() -> None:
    frontier = _of("a", "b", gaps={"d": 10.0})
    frontier.add(0, "free", 9)
    assert [_take_next(frontier) for _ in range(3)] == [(0.0, "a"), (0.0, "free"), (10.0, "b")]


def test_the_longest_of_several_gates_decides() -> None:
    frontier = _of("a", "b", gaps={"domain": 2.0, "address": 5.0})
    assert [_take_next(frontier) for _ in range(2)] == [(0.0, "a"), (5.0, "b")]


def test_a_dropped_host_gives_its_turn_to_the_next_in_line() -> None:
    frontier = _of("a", "b", "c", gaps={"d": 2.0})
    _take_next(frontier)
    assert frontier.next_due() == 2.0
    frontier.drop_host("b")
    assert _take_next(frontier) == (2.0, "c")


def test_a_host_put_off_in_line_lets_the_next_go_first() -> None:
    frontier = _of("a", "b", "c", gaps={"d": 2.0})
    _take_next(frontier)
    assert frontier.next_due() == 2.0
    frontier.put_off("b", until=100.0)
    assert _take_next(frontier) == (2.0, "c")
    assert _take_next(frontier) == (100.0, "b")


HOSTS = st.dictionaries(
    st.integers(0, 12).map(str),
    st.tuples(st.integers(1, 4), st.dictionaries(st.sampled_from("xyz"), st.sampled_from([0.0, 0.5, 3.0]), max_size=2)),
    min_size=1,
)


@given(HOSTS, st.integers(1, 4), st.lists(st.sampled_from([0.0, 0.25, 1.0, 7.0]), min_size=1), st.data())
def test_no_start_is_before_its_host_and_gates_allow_and_every_item_comes_out(
    hosts: dict[str, tuple[int, dict[str, float]]], threads: int, delays: list[float], data: st.DataObject
) -> None:
    gaps = {name: gap for _, gates in hosts.values() for name, gap in gates.items()}
    frontier: Frontier[int] = Frontier([0])
    for host, (items, gates) in hosts.items():
        for item in range(items):
            frontier.add(0, host, item)
        frontier.set_gates(host, {name: gaps[name] for name in gates})
    now, out = 0.0, []
    allowed: dict[str, float] = {}
    leased: list[Taken[int]] = []
    while frontier.left:
        taken = frontier.take(now) if len(leased) < threads else None
        if taken is not None:
            keys = [f"host {taken.host}", *(f"gate {name}" for name in hosts[taken.host][1])]
            assert all(allowed.get(key, 0.0) <= now for key in keys)
            allowed |= {key: now + gaps[key[5:]] for key in keys if key.startswith("gate ")}
            leased.append(taken)
            out.append((taken.host, taken.item))
            continue
        if (len(leased) > 0 and data.draw(st.booleans())) or len(leased) == threads or frontier.next_due() is None:
            ended = leased.pop(data.draw(st.integers(0, len(leased) - 1)))
            contact = now + data.draw(st.sampled_from(delays))
            allowed[f"host {ended.host}"] = contact
            frontier.done(ended, next_contact=contact)
            continue
        due = frontier.next_due()
        assert due is not None
        assert due > now
        now = due
    assert sorted(out) == sorted((host, item) for host, (items, _) in hosts.items() for item in range(items))


def _of(*hosts: str, gaps: dict[str, float]) -> Frontier[int]:
    frontier: Frontier[int] = Frontier([0])
    for number, host in enumerate(hosts):
        frontier.add(0, host, number)
        frontier.set_gates(host, gaps)
    return frontier


def _take_next(frontier: Frontier[int]) -> tuple[float, str]:
    due = frontier.next_due()
    assert due is not None
    taken = frontier.take(due)
    assert taken is not None
    return due, taken.host
