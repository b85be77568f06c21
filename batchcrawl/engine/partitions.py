"""A step's function runs for each partition in a process of its own; what it needs and gives are values.

The parent sends requests to stop down a pipe and gets progress, parts, result or error back. A child whose parent has
died leaves at once: whatever it did not commit, the next run does again. It sees the end of its pipe; and where C code
keeps it from looking, the kernel kills it at the end of a second pipe, through which nothing is ever sent.
"""

import fcntl
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
CONTEXT = ForkContext() if sys.platform == "linux" else SpawnContext()
"""A fork costs 5 ms where a new interpreter costs 300; it is safe since the parent has no other threads."""
_STOP = "stop"


class Keeper(Generic[Task]):
    """What the parent does for its tasks besides. This one takes no parts, and a child that dies is an error."""

    def take(self, task: Task, part: object) -> None:
        """Take what a child has handed over."""
        raise TypeError(f"nobody wants {part!r}")

    def replaces(self, task: Task, exit_code: int | None) -> bool:
        """Tell whether a new child is to replace one that died; its code is minus the number of what killed it."""
        return False


@dataclass(frozen=True)
class _Failure:
    error: CrawlError | OSError


@dataclass(frozen=True)
class _Success(Generic[Result]):
    result: Result


@dataclass(frozen=True)
class _Part:
    value: object


class _Child(Generic[Task, Result]):
    """A running partition, as the parent sees it."""

    def __init__(self, function: Callable[[Task, Control], Result], task: Task, keeper: Keeper[Task]) -> None:
        self.task = task
        self._keeper = keeper
        self.pipe, theirs = CONTEXT.Pipe()
        tied, self._tie = CONTEXT.Pipe(duplex=False)
        ours = (self.pipe, self._tie)
        self.process = CONTEXT.Process(target=_child_main, args=(function, task, theirs, tied, ours))
        self.process.start()
        theirs.close()
        tied.close()
        self.progress = Progress()
        self.outcome: _Success[Result] | _Failure | None = None
        self.died = False

    def send_stop(self) -> None:
        if self.outcome is None:
            with suppress(OSError):  # it has just ended; its last word is still in the pipe
                self.pipe.send(_STOP)

    def leave(self) -> None:
        """Close the pipes, at whose end it leaves unless it has."""
        self.pipe.close()
        self._tie.close()

    def hear(self) -> None:
        """Take one message; the end of the pipe without a result is a failure."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            self.died = True
            self.outcome = _Failure(CrawlError(f"a worker process {_how_it_ended(self.process.exitcode)}"))
            return
        if isinstance(message, Progress):
            self.progress = message
        elif isinstance(message, _Part):
            self._keeper.take(self.task, message.value)
        else:
            self.outcome = message
            self.process.join()


def run_partitions(
    function: Callable[[Task, Control], Result],
    tasks: Sequence[Task],
    *,
    parallel: int,
    control: Control,
    keeper: Keeper[Task] | None = None,
) -> list[Result]:
    """Run `function(task, control)` for each task in its own process, at most `parallel` at once.

    Returns the results in the order of the tasks. When one fails, the others are asked to stop, and the
    first error is raised once all have ended: a CrawlError or OSError as it was, any other as InternalError.
    Requests to stop that reach `control` are passed on. `keeper` gets the parts that are handed over to a control.
    """
    run = _Run(function, control, keeper or Keeper())
    waiting = list(enumerate(tasks))
    try:
        while run.running or (waiting and not run.failed):
            while waiting and len(run.running) < parallel and not run.failed:
                run.start(*waiting.pop(0))
            run.pass_on_stops()
            run.listen()
            control.report(run.progress())
    finally:
        for child in run.running.values():  # only where the loop was left by an error of the parent's own
            child.leave()
    return run.results()


class _Run(Generic[Task, Result]):
    """The children of a step, by the number of their task."""

    def __init__(self, function: Callable[[Task, Control], Result], control: Control, keeper: Keeper[Task]) -> None:
        self._function = function
        self._control = control
        self._keeper = keeper
        self._stops_sent = 0
        self._ended: dict[int, _Child[Task, Result]] = {}
        self.running: dict[int, _Child[Task, Result]] = {}
        self.failed = False

    def start(self, number: int, task: Task) -> None:
        """Begin a task, or begin it again; it is told how often the others have been asked to stop."""
        child = self.running[number] = _Child(self._function, task, self._keeper)
        for _ in range(self._stops_sent):
            child.send_stop()

    def pass_on_stops(self) -> None:
        """Ask the children to stop as often as somebody asked the step, or once when one of them failed."""
        control = self._control
        wanted = 2 if control.dropping else 1 if control.stopping or self.failed else 0
        while self._stops_sent < wanted:
            self._stops_sent += 1
            for child in self.running.values():
                child.send_stop()

    def listen(self) -> None:
        """Wait a moment for messages, and take them."""
        heard = set(wait([child.pipe for child in self.running.values()], timeout=POLL_S))
        for number, child in list(self.running.items()):
            if child.pipe in heard:
                child.hear()
            if child.outcome is not None:
                child.leave()
                self._end(number, self.running.pop(number))

    def _end(self, number: int, child: _Child[Task, Result]) -> None:
        if child.died and self._keeper.replaces(child.task, child.process.exitcode):
            self.start(number, child.task)
            return
        self._ended[number] = child
        self.failed = self.failed or isinstance(child.outcome, _Failure)

    def progress(self) -> Progress:
        """Return the progress of all children together."""
        return sum((c.progress for c in (*self._ended.values(), *self.running.values())), Progress())

    def results(self) -> list[Result]:
        """Return the results in the order of the tasks, or raise the first error: others may follow from it."""
        results: dict[int, Result] = {}
        for number, child in self._ended.items():
            if isinstance(child.outcome, _Failure):
                raise child.outcome.error
            if child.outcome is not None:
                results[number] = child.outcome.result
        return [result for _, result in sorted(results.items())]


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}; run the same command again"
    return f"died (exit code {code}); please report it"


def _child_main(
    function: Callable[[Task, Control], Result],
    task: Task,
    pipe: Connection,
    tied: Connection,
    parents: tuple[Connection, ...],
) -> None:
    for connection in parents:  # inherited by fork; as long as one is open here the end of its pipe is never seen
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _die_with(tied)
    sending = threading.Lock()

    def send(message: object) -> None:
        with sending:
            pipe.send(message)

    gc.freeze()  # what the parent left is not looked at again
    control = Control(send, lambda part: send(_Part(part)))
    threading.Thread(target=_obey, args=(pipe, control), daemon=True).start()
    try:
        send(_Success(function(task, control)))
    except CrawlError as error:
        send(_Failure(error))
    except OSError as error:
        send(_Failure(_plain(error)))
    except Exception as error:  # noqa: BLE001  # it is raised by the parent, which has somebody to tell it to
        send(_Failure(InternalError.of(error)))


def _die_with(tied: Connection) -> None:
    """Have the kernel kill this process when nobody has the other end of a pipe any more (fcntl(2), F_SETOWN)."""
    if sys.platform == "linux":
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(tied.fileno(), fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(tied.fileno(), fcntl.F_SETFL, fcntl.fcntl(tied.fileno(), fcntl.F_GETFL) | os.O_ASYNC)


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
