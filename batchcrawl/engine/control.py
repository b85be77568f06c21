"""What a running step hears and says: requests to stop come in, progress goes out."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields

from batchcrawl.errors import Interrupted


@dataclass(frozen=True)
class Progress:
    """How far a step is; the progress of several partitions is summed."""

    done: int = 0
    total: int = 0
    body_bytes: int = 0
    active_hosts: int = 0
    """Hosts with a request under way."""
    waiting_hosts: int = 0
    """Hosts with URLs left, waiting for their delay."""

    def __add__(self, other: "Progress") -> "Progress":
        return Progress(*[getattr(self, f.name) + getattr(other, f.name) for f in fields(self)])


class Control:
    """Handed to a step's function of one partition."""

    def __init__(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        on_part: Callable[[object], None] | None = None,
    ) -> None:
        self._on_progress = on_progress
        self._on_part = on_part
        self._asked = False
        self._stop = threading.Event()
        self._drop = threading.Event()
        self._listeners: list[Callable[[], None]] = []

    @property
    def stopping(self) -> bool:
        """The step is to finish what is in flight and end."""
        return self._stop.is_set()

    @property
    def dropping(self) -> bool:
        """Somebody asked the step to drop what is in flight."""
        return self._drop.is_set()

    def raise_if_stopping(self) -> None:
        """Raise Interrupted when somebody asked the step to stop; what is not committed yet is given up."""
        if self.stopping:
            raise Interrupted("interrupted; the same command continues")

    def stop(self) -> None:
        """Ask the step to end; asked again, it drops what is in flight."""
        if self._asked:
            self._drop.set()
        self._asked = True
        self.wind_down()

    def wind_down(self) -> None:
        """End as a first request would have it, of the step's own accord: who asks after that asks for the first time.

        So a partition that ends by itself is not made to drop what is in flight when another one's end stops all.
        """
        self._stop.set()
        for listener in self._listeners:
            listener()

    def on_stop(self, listener: Callable[[], None]) -> None:
        """Call `listener` at each request to stop, from another thread."""
        self._listeners.append(listener)

    def report(self, progress: Progress) -> None:
        """Tell how far the partition is; called at most a few times a second."""
        if self._on_progress is not None:
            self._on_progress(progress)

    def hand_over(self, part: object) -> None:
        """Give away a part of the result at once, so that it outlives the process."""
        if self._on_part is not None:
            self._on_part(part)
