"""Waits of tests that run in processes of a step: they end by what happens, not by a time."""

import threading

from batchcrawl.engine.control import Control, Progress

PATIENCE_S = 30


def wait_for_stop(control: Control, *, times: int = 1) -> None:
    """Return once the step was asked to stop so often; say before that it waits."""
    asked = threading.Semaphore(0)
    control.on_stop(asked.release)
    for _ in range(control.stopping + control.dropping):
        asked.release()
    control.report(Progress(done=1))
    for _ in range(times):
        assert asked.acquire(timeout=PATIENCE_S)
