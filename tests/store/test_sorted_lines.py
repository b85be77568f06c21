from pathlib import Path

import pytest

from batchcrawl.store.disk import Disk
from batchcrawl.store.sorted_lines import SortedLines


@pytest.mark.parametrize("run_bytes", [1, 300, 1 << 20])
def test_lines_come_in_order_and_once_however_few_are_held(tmp_path: Path, run_bytes: int) -> None:
    given = [f"{n * 7 % 101:03} {'x' * (n % 50)}".encode() for n in range(250)]
    with SortedLines(Disk(), tmp_path, run_bytes=run_bytes) as lines:
        for line in given:
            lines.add(line)
        assert list(lines) == sorted(set(given))
    assert list(tmp_path.iterdir()) == []
