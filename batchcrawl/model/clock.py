"""The two clocks of a step: wall time for records, monotonic time for politeness and limits."""

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Gives time to whoever needs it; only cli makes a real one."""

    def now(self) -> float:
        """Return the wall clock in seconds since 1970 UTC."""

    def monotonic(self) -> float:
        """Return seconds on a clock that never jumps."""


@dataclass(frozen=True)
class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Return the wall clock in seconds since 1970 UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds on the machine's monotonic clock."""
        return time.monotonic()


@dataclass(frozen=True)
class FixedClock:
    """A wall clock that stands still, so that two runs give equal records; monotonic time goes on."""

    at: float

    def now(self) -> float:
        """Return the one instant, in seconds since 1970 UTC."""
        return self.at

    def monotonic(self) -> float:
        """Return seconds on the machine's monotonic clock."""
        return time.monotonic()
