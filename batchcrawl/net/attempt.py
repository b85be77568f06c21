"""One fetch under way: its limits, and what the connection notes down of it."""

import threading
from dataclasses import dataclass

from batchcrawl.model.clock import Clock
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError


@dataclass(slots=True, kw_only=True)
class Attempt:
    """Limits of a fetch and its record. `deadline` is on the monotonic clock, `_at` on the wall clock."""

    clock: Clock
    deadline: float
    connect_timeout_s: float
    read_timeout_s: float
    header_bytes_max: int
    body_bytes_max: int
    bytes_per_second_min: int = 0
    """Slowest answer, measured from its first byte on; 0: any."""
    speed_window_s: float = 20.0
    """Over how long that is measured."""
    fresh_only: bool = False
    """Use no connection that was used before."""
    connected: bool = False
    """A new connection was asked for."""
    address: str | None = None
    request_head: bytes = b""

    def time_left(self) -> float:
        """Return the seconds to the deadline. Raises FetchError with TIMEOUT when there are none."""
        left = self.deadline - self.clock.monotonic()
        if left <= 0:
            raise FetchError(FetchOutcome.TIMEOUT, "the time for the whole fetch is over")
        return left


class CurrentAttempt(threading.local):
    """The attempt of this thread: the pool between client and connection has no place to pass it through."""

    attempt: Attempt
