from collections.abc import Iterator
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.store.runs import merged

Item = tuple[str, int, int]
"""Key, number of the run, place in it."""
RUNS = st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), max_size=30), st.integers(1, 7)), max_size=5)


def key(item: Item) -> str:
    return item[0]


def blocks(items: list[Item], size: int) -> Iterator[list[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


@given(RUNS)
def test_all_items_come_in_the_order_of_key_and_run(runs: list[tuple[list[str], int]]) -> None:
    items = [[(k, run, place) for place, k in enumerate(sorted(keys))] for run, (keys, _) in enumerate(runs)]
    lists = merged([blocks(run, size) for run, (_, size) in zip(items, runs, strict=True)], key=key)
    assert [item for part in lists for item in part] == sorted(item for run in items for item in run)


@given(RUNS)
def test_no_key_is_in_two_lists(runs: list[tuple[list[str], int]]) -> None:
    items = [[(k, 0, 0) for k in sorted(keys)] for keys, _ in runs]
    lists = list(merged([blocks(run, size) for run, (_, size) in zip(items, runs, strict=True)], key=key))
    firsts = [k for part in lists for k, _ in groupby(map(key, part))]
    assert all(lists)
    assert len(firsts) == len(set(firsts))


def test_a_run_is_read_only_as_far_as_the_others_have_come() -> None:
    read: list[str] = []

    def noted(keys: str) -> Iterator[list[Item]]:
        for k in keys:
            read.append(k)
            yield [(k, 0, 0)]

    lists = merged([noted("abcdefghij"), blocks([("b", 1, 0), ("z", 1, 1)], 2)], key=key)
    next(lists)
    assert len(read) < 4
