"""A listening socket on loopback with a thread for each connection, until its block ends."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Listener:
    """Accepts connections and hands each to `_accepted`, in the accepting thread; `_start` runs work in another."""

    def __init__(self, *, address: str = "127.0.0.1", backlog: int = 128) -> None:
        self._stop = threading.Event()
        self._listener = socket.create_server((address, 0), backlog=backlog)
        self._threads: list[threading.Thread] = []
        self.port = int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]  # any callable
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._accepted(sock)

    def _accepted(self, sock: socket.socket) -> None:
        raise NotImplementedError
