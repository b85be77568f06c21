from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.policy.mix import Mix
from batchcrawl.policy.selection import (
    ENOUGH,
    REACH,
    REACH_MIN,
    Offers,
    add_offers,
    available,
    first_reach,
    host_limit,
    next_reach,
    ration,
    shared_by_hosts,
)

Hosts = list[dict[int, int]]
"""What each host of a partition offers: URLs by level."""

hosts = st.lists(st.dictionaries(st.integers(0, 31), st.integers(1, 30), min_size=1, max_size=3), max_size=8)
partitions = st.lists(hosts, min_size=1, max_size=4)
turns = st.integers(0, 2**33)


def offers_of(partition: Hosts) -> Offers:
    offers: Offers = {}
    for host in partition:
        add_offers(offers, {level: Counter({urls: 1}) for level, urls in host.items()})
    return offers


def granted(all_hosts: list[Hosts], *, urls_max: int, turn: int = 0) -> list[Hosts]:
    """Return what each host gives, as generate asks for it: host by host, level by level."""
    offers = [offers_of(partition) for partition in all_hosts]
    quotas = Mix().quotas(available(offers), places=urls_max, turn=turn)
    rations = ration(offers, quotas=quotas, turn=turn)
    return [
        [{level: mine.grant(level, urls) for level, urls in host.items()} for host in partition]
        for mine, partition in zip(rations, all_hosts, strict=True)
    ]


def total(all_hosts: list[Hosts]) -> int:
    return sum(urls for partition in all_hosts for host in partition for urls in host.values())


@given(partitions, st.integers(1, 500), turns)
def test_a_segment_is_as_full_as_it_can_be(all_hosts: list[Hosts], urls_max: int, turn: int) -> None:
    assert total(granted(all_hosts, urls_max=urls_max, turn=turn)) == min(total(all_hosts), urls_max)


@given(partitions, st.integers(1, 500), turns)
def test_a_host_gives_what_it_has_unless_others_give_as_much(all_hosts: list[Hosts], urls_max: int, turn: int) -> None:
    given_urls = granted(all_hosts, urls_max=urls_max, turn=turn)
    for level in range(32):
        pairs = [
            (gives[level], has[level])
            for partition, given_by in zip(all_hosts, given_urls, strict=True)
            for has, gives in zip(partition, given_by, strict=True)
            if level in has
        ]
        most = max((gives for gives, _ in pairs), default=0)
        assert all(0 <= gives <= has for gives, has in pairs)
        assert all(gives >= most - 1 for gives, has in pairs if gives < has)


@given(partitions, st.integers(1, 500), turns)
def test_the_same_offers_give_the_same_segment(all_hosts: list[Hosts], urls_max: int, turn: int) -> None:
    assert granted(all_hosts, urls_max=urls_max, turn=turn) == granted(all_hosts, urls_max=urls_max, turn=turn)


@given(hosts, st.integers(1, 500), turns)
def test_how_hosts_are_partitioned_does_not_matter(one: Hosts, urls_max: int, turn: int) -> None:
    together = granted([one], urls_max=urls_max, turn=turn)[0]
    apart = granted([one[:2], one[2:]], urls_max=urls_max, turn=turn)
    assert apart[0] + apart[1] == together


def test_over_the_segments_no_host_is_first_by_its_place() -> None:
    crowd = [[{5: 9} for _ in range(10)] for _ in range(2)]
    times: Counter[int] = Counter()
    for turn in range(100):
        flat = [host[5] for partition in granted(crowd, urls_max=4, turn=turn) for host in partition]
        times.update(number for number, urls in enumerate(flat) if urls)
    assert len(times) == 20
    assert max(times.values()) - min(times.values()) <= 5


def test_segments_an_even_number_of_seconds_apart_reach_every_host_too() -> None:
    crowd = [[{5: 9} for _ in range(10)]]
    reached: set[int] = set()
    for segment in range(40):
        flat = granted(crowd, urls_max=1, turn=1_796_000_000 + 1800 * segment)[0]
        reached |= {number for number, host in enumerate(flat) if host[5]}
    assert len(reached) == 10


def test_a_level_that_nobody_offers_is_granted_nothing() -> None:
    assert ration([offers_of([{5: 1}])], quotas={5: 1})[0].grant(7, 3) == 0


def test_nothing_offered_is_nothing_taken() -> None:
    assert [mine.caps for mine in ration([{}, {}], quotas={})] == [{}, {}]


@pytest.mark.parametrize(
    ("duration_s", "delay_s", "urls_max", "limit"),
    [
        (1800, 1, None, 1800),
        (1800, 7, None, 257),
        (1800, 5000, None, 1),
        (1800, 1, 10, 10),
        (1800, 600, 10, 3),
        (1800, 0, 10, 10),
        (1800, 0, None, None),
    ],
)
def test_a_host_is_asked_for_what_fits_into_the_time(
    duration_s: float, delay_s: float, urls_max: int | None, limit: int | None
) -> None:
    assert host_limit(duration_s=duration_s, delay_s=delay_s, urls_max=urls_max) == limit


offers_of_hosts = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@given(offers_of_hosts, st.integers(1, 100), st.none() | st.integers(1, 15), st.integers(0, 2**32))
def test_a_domain_gives_as_much_as_its_limits_allow(
    offered: list[int], urls_max: int, hosts_max: int | None, turn: int
) -> None:
    granted = shared_by_hosts(offered, urls_max=urls_max, hosts_max=hosts_max, turn=turn)
    giving = [host for host, number in enumerate(granted) if number]
    assert all(0 <= number <= offer for number, offer in zip(granted, offered, strict=True))
    assert len(giving) <= (hosts_max or len(offered))
    assert sum(granted) <= urls_max
    held_back = [host for host in giving if granted[host] < offered[host]]
    assert max(granted) - min((granted[host] for host in held_back), default=max(granted)) <= 1
    if hosts_max is None:
        assert sum(granted) == min(urls_max, sum(offered))


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**31))
def test_over_the_segments_every_host_of_a_domain_gives(hosts: int, hosts_max: int, turn: int) -> None:
    giving = set()
    for later in range(turn, turn + 40):
        granted = shared_by_hosts([5] * hosts, urls_max=1, hosts_max=hosts_max, turn=later)
        giving |= {host for host, number in enumerate(granted) if number}
    assert giving == set(range(hosts))


def test_without_limits_every_host_gives_all() -> None:
    assert shared_by_hosts([3, 1, 2], urls_max=None, hosts_max=None, turn=7) == [3, 1, 2]


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=200), st.integers(1, 20_000))
def test_a_segment_is_chosen_from_enough_and_costs_no_more_than_it_holds(sizes: list[int], urls_max: int) -> None:
    reach: int | None = first_reach(urls_max=urls_max, hosts=len(sizes))
    looked_at = last = 0
    while reach is not None:
        seen = [min(size, reach) for size in sizes]
        looked_at, last = looked_at + sum(seen), sum(seen)
        reach = next_reach(reach, offered=last, longest=max(seen), urls_max=urls_max)
    assert last >= min(urls_max, sum(sizes))
    assert looked_at <= 2 * REACH * (ENOUGH + REACH) * urls_max + 2 * REACH_MIN * len(sizes)
