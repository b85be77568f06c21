import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from batchcrawl.errors import DiskFull
from batchcrawl.store.space import below_floor, require_free

Usage = namedtuple("Usage", ["total", "used", "free"])
GB = 10**9


def usage(monkeypatch: pytest.MonkeyPatch, *, total: int, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(total, total - free, free))


def test_what_fits_is_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage(monkeypatch, total=10 * GB, free=1000)
    require_free(tmp_path, 1000, what="to try")


def test_what_does_not_fit_names_path_free_and_needed_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage(monkeypatch, total=10 * GB, free=1000)
    with pytest.raises(DiskFull, match=rf"no space left to try {tmp_path} \(1,000 bytes free, 1,001 needed\)"):
        require_free(tmp_path, 1001, what="to try")


@pytest.mark.parametrize(
    ("total", "free", "low"),
    [
        (1000 * GB, GB, False),
        (1000 * GB, GB - 1, True),
        (4 * GB, GB // 5, False),
        (4 * GB, GB // 5 - 1, True),
    ],
)
def test_the_floor_of_a_small_disk_is_a_twentieth_of_it(
    total: int, free: int, low: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage(monkeypatch, total=total, free=free)
    assert (below_floor(tmp_path, GB) is not None) == low


def test_without_a_floor_all_may_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage(monkeypatch, total=4 * GB, free=0)
    assert below_floor(tmp_path, 0) is None
