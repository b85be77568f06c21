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
    """The least ratio of ours to the other; where there is none either way, the row only informs."""
    wanted_most: float | None = None
    """The largest ratio of ours to the other, of what is spent."""

    @property
    def ratio(self) -> float | None:
        """Return ours by the other, if there is another."""
        return None if not self.other else self.ours / self.other

    @property
    def reached(self) -> bool | None:
        """Return whether the ratio is what is wanted, if anything is."""
        if self.ratio is None or (self.wanted is None and self.wanted_most is None):
            return None
        enough = self.wanted is None or self.ratio >= self.wanted
        return enough and (self.wanted_most is None or self.ratio <= self.wanted_most)

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts in the order of the headings."""
        other = "" if self.other is None else f"{_number(self.other)} {self.other_name}".rstrip()
        return (
            self.what,
            f"{_number(self.ours)} {self.unit}",
            other,
            "" if self.ratio is None else f"{self.ratio:.2f}",
            self._wanted(),
            {None: "", True: "yes", False: "no"}[self.reached],
        )

    def _wanted(self) -> str:
        both = ((">=", self.wanted), ("<=", self.wanted_most))
        return " ".join(f"{sign} {ratio:g}" for sign, ratio in both if ratio is not None)


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
