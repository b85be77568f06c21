"""Limits of hosts and domains in a file, which is searched and not read."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchcrawl.errors import UsageError
from batchcrawl.store import limits_file
from batchcrawl.store.limits_file import Limit, LimitsFile, check_limits

names = st.from_regex(r"[a-c]{1,3}(\.[a-c]{1,2})?", fullmatch=True)


@pytest.mark.parametrize("large", [False, True])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limits=st.dictionaries(names, st.tuples(st.integers(0, 10**9 - 1), st.none() | st.integers(0, 9))), asked=names)
def test_a_name_has_the_limit_of_its_line(
    limits: dict[str, tuple[int, int | None]], asked: str, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits_file, "SORTED_BYTES_MAX", 0 if large else 1 << 20)
    lines = [f"{name}\t{urls}" + ("" if hosts is None else f"\t{hosts}") for name, (urls, hosts) in limits.items()]
    path = tmp_path / "limits"
    path.write_text("".join(f"{line}\n" for line in (sorted([*lines, "# said"]) if large else ["# said", *lines])))
    check_limits(path)
    assert LimitsFile(path).of(asked) == (Limit(*limits[asked]) if asked in limits else None)


@pytest.mark.parametrize(
    "line", ["a.test", "a.test 5", "a.test\tmany", "a.test\t-1", "a.test\t1\t2\t3", "\t5", "a\t1234567890"]
)
def test_a_wrong_line_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "limits").write_text(f"# said\n\n{line}\n")
    with pytest.raises(UsageError, match=r"limits:3: must be a name, a tab, a number"):
        check_limits(tmp_path / "limits")


def test_a_large_file_must_be_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_file, "SORTED_BYTES_MAX", 10)
    (tmp_path / "limits").write_text("b.test\t5\na.test\t5\n")
    with pytest.raises(UsageError, match=r"limits:2: a file as large as this must be sorted"):
        check_limits(tmp_path / "limits")


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="limits: No such file"):
        check_limits(tmp_path / "limits")


def test_the_last_line_needs_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_file, "SORTED_BYTES_MAX", 0)
    (tmp_path / "limits").write_text("a.test\t1\r\nb.test\t2")
    assert [LimitsFile(tmp_path / "limits").of(name) for name in ("a.test", "b.test", "c.test")] == [
        Limit(1),
        Limit(2),
        None,
    ]
