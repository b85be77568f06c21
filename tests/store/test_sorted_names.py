from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.store.disk import Disk
from batchcrawl.store.sorted_names import SortedNames, add_names
from tests.support.forgetful import ForgetfulDisk, PowerCut

names = st.text("abz.-09", min_size=1, max_size=6)


@given(st.sets(names), st.sets(names))
def test_a_name_is_found_if_it_was_added(
    tmp_path_factory: pytest.TempPathFactory, added: set[str], others: set[str]
) -> None:
    path = tmp_path_factory.mktemp("names") / "names"
    assert add_names(Disk(), path, added) == len(added)
    known = SortedNames(path)
    assert list(known) == sorted(added)
    assert {name for name in added | others if name in known} == added


@given(st.lists(st.sets(names), max_size=4))
def test_names_added_at_different_times_are_one_sorted_file(
    tmp_path_factory: pytest.TempPathFactory, groups: list[set[str]]
) -> None:
    path = tmp_path_factory.mktemp("names") / "names"
    known: set[str] = set()
    for group in groups:
        assert add_names(Disk(), path, group) == len(group - known)
        known |= group
    assert list(SortedNames(path)) == sorted(known)


def test_a_missing_file_holds_no_name(tmp_path: Path) -> None:
    known = SortedNames(tmp_path / "none")
    assert "a" not in known
    assert list(known) == []


def test_an_empty_file_holds_no_name(tmp_path: Path) -> None:
    (tmp_path / "names").touch()
    assert "a" not in SortedNames(tmp_path / "names")


@pytest.mark.parametrize("name", ["", "exampl", "example.or", "example.org\n", "example.orgx", "\xe9", "zz", "a"])
def test_what_only_resembles_a_name_is_not_found(tmp_path: Path, name: str) -> None:
    add_names(Disk(), tmp_path / "names", ["example.com", "example.org", "host.example"])
    assert name not in SortedNames(tmp_path / "names")


def test_names_known_already_cost_no_write(tmp_path: Path) -> None:
    add_names(Disk(), tmp_path / "names", ["a", "b"])
    disk = ForgetfulDisk(tmp_path)
    assert add_names(disk, tmp_path / "names", ["b", "a", "a"]) == 0
    assert disk.transcript == []


def test_an_open_list_is_not_changed_by_names_added_later(tmp_path: Path) -> None:
    add_names(Disk(), tmp_path / "names", ["b"])
    before = SortedNames(tmp_path / "names")
    add_names(Disk(), tmp_path / "names", ["a", "c"])
    assert [name for name in ("a", "b", "c") if name in before] == ["b"]


def test_a_power_cut_leaves_the_old_names_or_the_new(tmp_path: Path) -> None:
    for number in range(1, 20):
        root = tmp_path / str(number)
        root.mkdir()
        add_names(Disk(), root / "names", ["b"])
        disk = ForgetfulDisk(root, fail_at=number)
        try:
            add_names(disk, root / "names", ["a"])
        except PowerCut:
            disk.crash()
            assert list(SortedNames(root / "names")) in (["b"], ["a", "b"])
        else:
            disk.crash()
            assert list(SortedNames(root / "names")) == ["a", "b"]
            return
    raise AssertionError("it never ends")
