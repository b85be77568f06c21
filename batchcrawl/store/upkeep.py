"""What a fetch does now and then besides: it syncs what it has written and looks whether there is space left."""

from batchcrawl.errors import DiskFull
from batchcrawl.model.clock import Clock
from batchcrawl.store.fetch_output import FetchOutput
from batchcrawl.store.space import below_floor


class Upkeep:
    """Called at any pace, it works at its own. Not thread-safe."""

    def __init__(self, clock: Clock, output: FetchOutput, *, every_s: float, floor_bytes: int) -> None:
        """`floor_bytes` is the free space below which `full` is set; see `store.space` for small disks."""
        self._clock = clock
        self._output = output
        self._every_s = every_s
        self._floor_bytes = floor_bytes
        self._last_at = clock.monotonic()
        self.full: DiskFull | None = None
        """What is to be raised once all that is in flight has ended; None as long as there is space."""

    def tick(self) -> bool:
        """Sync if it is time; return whether space was found to be short for the first time."""
        if self._clock.monotonic() - self._last_at < self._every_s:
            return False
        self._output.sync()
        self._last_at = self._clock.monotonic()
        known = self.full is not None
        self.full = self.full or below_floor(self._output.directory, self._floor_bytes)
        return self.full is not None and not known
