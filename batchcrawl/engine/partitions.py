"""A step's function runs for each partition in a process of its own; what it needs and gives are values.

The parent sends requests to stop down a pipe and gets progress, result or error back. A child whose parent
has died sees the end of its pipe and leaves at once: whatever it did not commit, the next run does again.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from typing import Generic, TypeVar

from batchcrawl.engine.control import Control, Progress
from batchcrawl.errors import CrawlError, InternalError

Task = TypeVar("Task")
Result = TypeVar("Result")

POLL_S = 0.1
_STOP = "stop"
_CONTEXT = ForkContext() if sys.platform == "linux" else SpawnContext()
"""A fork costs 5 ms where a new interpreter costs 300; it is safe since the parent has no other threads."""


@dataclass(frozen=True)
class _Failure:
    error: CrawlError | OSError


@dataclass(frozen=True)
class _Success(Generic[Result]):
    result: Result


class _Child(Generic[Task, Result]):
    """A running partition, as the parent sees it."""

    def __init__(self, function: Callable[[Task, Control], Result], task: Task) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_child_main, args=(function, task, theirs, self.pipe))
        self.process.start()
        theirs.close()
        self.progress = Progress()
        self.outcome: _Success[Result] | _Failure | None = None

    def send_stop(self) -> None:
        if self.outcome is None:
            with suppress(OSError):  # it has just ended; its last word is still in the pipe
                self.pipe.send(_STOP)

    def abandon(self) -> None:
        """Let it see the end of its pipe, at which it leaves."""
        self.pipe.close()

    def hear(self) -> None:
        """Take one message; the end of the pipe without a result is a failure."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            how = _how_it_ended(self.process.exitcode)
            self.outcome = _Failure(CrawlError(f"a worker process {how}"))
            return
        if isinstance(message, Progress):
            self.progress = message
        else:
            self.outcome = message
            self.process.join()


def run_partitions(
    function: Callable[[Task, Control], Result],
    tasks: Sequence[Task],
    *,
    parallel: int,
    control: Control,
) -> list[Result]:
    """Run `function(task, control)` for each task in its own process, at most `parallel` at once.

    Returns the results in the order of the tasks. When one fails, the others are asked to stop, and the
    first error is raised once all have ended: a CrawlError or OSError as it was, any other as InternalError.
    Requests to stop that reach `control` are passed on.
    """
    waiting = list(enumerate(tasks))
    running: dict[int, _Child[Task, Result]] = {}
    ended: dict[int, _Child[Task, Result]] = {}
    told = _Told(control)
    try:
        while running or (waiting and not told.failed):
            while waiting and len(running) < parallel and not told.failed:
                number, task = waiting.pop(0)
                running[number] = _Child(function, task)
                told.catch_up(running[number])
            told.pass_on(list(running.values()))
            _listen(running, ended, told)
            control.report(sum((c.progress for c in (*ended.values(), *running.values())), Progress()))
    finally:
        for child in running.values():  # only where the loop was left by an error of the parent's own
            child.abandon()
    return _results(ended)


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}; run the same command again"
    return f"died (exit code {code}); please report it"


class _Told:
    """How often the children have been asked to stop."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._times = 0
        self.failed = False

    def _wanted(self) -> int:
        return 2 if self._control.dropping else 1 if self._control.stopping or self.failed else 0

    def catch_up(self, child: "_Child[Task, Result]") -> None:
        for _ in range(self._times):
            child.send_stop()

    def pass_on(self, children: "Sequence[_Child[Task, Result]]") -> None:
        while self._times < self._wanted():
            self._times += 1
            for child in children:
                child.send_stop()


def _listen(running: dict[int, _Child[Task, Result]], ended: dict[int, _Child[Task, Result]], told: _Told) -> None:
    heard = set(wait([child.pipe for child in running.values()], timeout=POLL_S))
    for number, child in list(running.items()):
        if child.pipe in heard:
            child.hear()
        if child.outcome is not None:
            ended[number] = running.pop(number)
            told.failed = told.failed or isinstance(child.outcome, _Failure)


def _results(ended: dict[int, _Child[Task, Result]]) -> list[Result]:
    """Return the results in the order of the tasks, or raise the error that came first: others may follow from it."""
    results: dict[int, Result] = {}
    for number, child in ended.items():
        if isinstance(child.outcome, _Failure):
            raise child.outcome.error
        if child.outcome is not None:
            results[number] = child.outcome.result
    return [result for _, result in sorted(results.items())]


def _child_main(function: Callable[[Task, Control], Result], task: Task, pipe: Connection, parents: Connection) -> None:
    parents.close()  # inherited by fork; as long as it is open here the end of the pipe is never seen
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sending = threading.Lock()

    def send(message: object) -> None:
        with sending:
            pipe.send(message)

    gc.freeze()  # what the parent left is not looked at again
    control = Control(send)
    threading.Thread(target=_obey, args=(pipe, control), daemon=True).start()
    try:
        send(_Success(function(task, control)))
    except CrawlError as error:
        send(_Failure(error))
    except OSError as error:
        send(_Failure(_plain(error)))
    except Exception as error:  # noqa: BLE001  # it is raised by the parent, which has somebody to tell it to
        send(_Failure(InternalError.of(error)))


def _plain(error: OSError) -> OSError | InternalError:
    """Return an error of the system as its number, words and file, since those of libraries may not be sent."""
    if error.errno is None:
        return InternalError.of(error)
    return OSError(error.errno, error.strerror or str(error), error.filename)


def _obey(pipe: Connection, control: Control) -> None:
    """Turn the parent's words into requests to stop; leave at once when there is no parent any more."""
    while True:
        try:
            pipe.recv()
        except (EOFError, OSError):
            os._exit(1)
        control.stop()
