"""A process of its own for a task; what it needs and gives are values.

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
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from typing import Generic, TypeVar

from batchcrawl.engine.control import Control, Progress
from batchcrawl.errors import CrawlError, InternalError

Key = TypeVar("Key")
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
class Failure:
    """What a child ends with that has failed."""

    error: CrawlError | OSError


@dataclass(frozen=True)
class Success(Generic[Result]):
    """What a child ends with that has done its task."""

    result: Result


@dataclass(frozen=True)
class _Part:
    value: object


class Child(Generic[Task, Result]):
    """A running task, as the parent sees it."""

    def __init__(
        self,
        function: Callable[[Task, Control], Result],
        task: Task,
        keeper: Keeper[Task],
        *,
        beside: Iterable["Child[Task, Result]"],
        forks: bool = False,
    ) -> None:
        """`beside` are the other children there are. One that `forks` hears of requests when it looks for them."""
        self.task = task
        self._keeper = keeper
        self.pipe, theirs = CONTEXT.Pipe()
        tied, self._tie = CONTEXT.Pipe(duplex=False)
        ours = (self.pipe, self._tie, *(pipe for child in beside for pipe in (child.pipe, child._tie)))
        self.process = CONTEXT.Process(target=_child_main, args=(function, task, theirs, tied, ours, forks))
        self.process.start()
        theirs.close()
        tied.close()
        self.progress = Progress()
        self.outcome: Success[Result] | Failure | None = None
        self.died = False

    def send_stop(self) -> None:
        """Ask it to stop."""
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
            self.outcome = Failure(CrawlError(f"a worker process {_how_it_ended(self.process.exitcode)}"))
            return
        if isinstance(message, Progress):
            self.progress = message
        elif isinstance(message, _Part):
            self._keeper.take(self.task, message.value)
        else:
            self.outcome = message
            self.process.join()


class Children(Generic[Key, Task, Result]):
    """The children that run a function side by side, each on a task of its own, by a key."""

    def __init__(
        self, function: Callable[[Task, Control], Result], keeper: Keeper[Task], *, forks: bool = False
    ) -> None:
        """`forks` is as for `Child`."""
        self._function = function
        self._keeper = keeper
        self._forks = forks
        self._stops_sent = 0
        self.running: dict[Key, Child[Task, Result]] = {}

    def start(self, key: Key, task: Task) -> None:
        """Begin a task, or begin it again; it is told how often the others have been asked to stop."""
        beside = self.running.values()
        child = self.running[key] = Child(self._function, task, self._keeper, beside=beside, forks=self._forks)
        for _ in range(self._stops_sent):
            child.send_stop()

    def ask_to_stop(self, times: int) -> None:
        """Ask all to stop, these and those that follow, until they were asked so often in all."""
        while self._stops_sent < times:
            self._stops_sent += 1
            for child in self.running.values():
                child.send_stop()

    def listen(self) -> list[tuple[Key, Child[Task, Result]]]:
        """Wait a moment for messages, take them, and return the children that have ended, which run no more."""
        heard = set(wait([child.pipe for child in self.running.values()], timeout=POLL_S))
        for child in self.running.values():
            if child.pipe in heard:
                child.hear()
        ended = [(key, child) for key, child in self.running.items() if child.outcome is not None]
        for key, child in ended:
            child.leave()
            del self.running[key]
        return ended

    def leave(self) -> None:
        """Have those that still run leave; only where their parent was left by an error of its own."""
        for child in self.running.values():
            child.leave()


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
    forks: bool,
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
    if forks:
        control: Control = _Asking(pipe, send)
    else:
        control = Control(send, lambda part: send(_Part(part)))
        threading.Thread(target=_obey, args=(pipe, control), daemon=True).start()
    try:
        send(Success(function(task, control)))
    except CrawlError as error:
        send(Failure(error))
    except OSError as error:
        send(Failure(_plain(error)))
    except Exception as error:  # noqa: BLE001  # it is raised by the parent, which has somebody to tell it to
        send(Failure(InternalError.of(error)))


class _Asking(Control):
    """The control of a process that makes others and so has no second thread: it reads its pipe when it is asked."""

    def __init__(self, pipe: Connection, send: Callable[[Progress], None]) -> None:
        super().__init__(send)
        self._pipe = pipe

    @property
    def stopping(self) -> bool:
        self._read()
        return super().stopping

    @property
    def dropping(self) -> bool:
        self._read()
        return super().dropping

    def _read(self) -> None:
        while self._pipe.poll():
            _take(self._pipe)
            self.stop()


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
        _take(pipe)
        control.stop()


def _take(pipe: Connection) -> None:
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)
