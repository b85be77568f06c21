"""The signals that stop a step, and the control of each step that hears of them."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from batchcrawl.cli.progress import StepProgress
from batchcrawl.engine.control import Control


class Controls:
    """Gives each step its control, and passes on what the user says by signals."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet = quiet
        self._as_json = as_json
        self._stops = 0
        self._control: Control | None = None
        self._progress: StepProgress | None = None

    def of(self, command: str) -> Control:
        """Return the control of a step that begins now; the progress of the one before ends."""
        self.end()
        self._progress = StepProgress(command, quiet=self._quiet, as_json=self._as_json)
        self._control = Control(self._progress)
        for _ in range(self._stops):
            self._control.stop()
        return self._control

    def end(self) -> None:
        """Clear away the progress of the last step."""
        if self._progress is not None:
            self._progress.close()
            self._progress = None

    def stop(self) -> int:
        """Ask the running step, and all that follow, to stop; return how often that was asked."""
        self._stops += 1
        if self._control is not None:
            self._control.stop()
        return self._stops


@contextmanager
def stoppable(*, quiet: bool = False, as_json: bool = False) -> Iterator[Controls]:
    """Give steps their controls: SIGINT and SIGTERM ask to stop, a second one to drop what is in flight."""
    controls = Controls(quiet=quiet, as_json=as_json)

    def on_signal(number: int, frame: FrameType | None) -> None:
        if controls.stop() == 1:
            # Not click.echo: the signal may have come in the middle of a write to stderr.
            os.write(2, b"\nstopping after what is in flight; once more drops that, too\n")

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield controls
    finally:
        controls.end()
        for number, handler in before.items():
            signal.signal(number, handler)
