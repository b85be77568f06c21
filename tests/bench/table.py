"""The figures of a run as a table."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_HEADINGS = ("what", "ours", "other", "ratio", "wanted", "reached")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure beside another that was measured in the same run, or beside a fixed one."""

    what: str
    ours: float
    unit: str
    other: float | None = None
    other_name: str = ""
    wanted: float | None = None
    """The least ratio of ours to the other; None: the row only informs."""

    @property
    def ratio(self) -> float | None:
        """Return ours by the other, if there is another."""
        return None if not self.other else self.ours / self.other

    @property
    def reached(self) -> bool | None:
        """Return whether the ratio is what is wanted, if anything is."""
        return None if self.wanted is None or self.ratio is None else self.ratio >= self.wanted

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts in the order of the headings."""
        other = "" if self.other is None else f"{_number(self.other)} {self.other_name}".rstrip()
        return (
            self.what,
            f"{_number(self.ours)} {self.unit}",
            other,
            "" if self.ratio is None else f"{self.ratio:.2f}",
            "" if self.wanted is None else f">= {self.wanted:g}",
            {None: "", True: "yes", False: "no"}[self.reached],
        )


def table(rows: Sequence[Row]) -> str:
    """Return rows as lines of aligned columns under headings."""
    cells = [_HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def machine() -> str:
    """Return one line on what the figures were measured with."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_cpu_model()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, {python}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
