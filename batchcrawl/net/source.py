"""The bytes of an answer as they come from the socket, within the limits of its attempt."""

import re
import socket

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt
from batchcrawl.net.failure import FetchError

_READ_BYTES = 65536
_HEAD_END = re.compile(rb"\n\r?\n")


class Source:
    """Reads a socket; waits no longer than the deadline, and for no bytes that only drip in.

    Made anew for each answer, so that nothing that a server sent behind one answer is taken for the next.
    """

    __slots__ = ("_at", "_attempt", "_data", "_sock", "_window_bytes", "_window_from")

    def __init__(self, sock: socket.socket, attempt: Attempt) -> None:
        self._sock = sock
        self._attempt = attempt
        self._data = b""
        self._at = 0
        self._window_from: float | None = None
        self._window_bytes = 0

    @property
    def pending(self) -> bool:
        """Tell whether bytes have come that nobody took."""
        return self._at < len(self._data)

    def head(self, limit: int) -> bytes | None:
        """Return the lines up to and with the first empty one behind a line, if they have come and are within a limit.

        Waits for the first bytes only. None takes nothing: what is there is to be read line by line.
        """
        if self._at == len(self._data):
            self._data, self._at = self._receive(_READ_BYTES), 0
        found = _HEAD_END.search(self._data, self._at, self._at + limit)
        if found is None:
            return None
        start, self._at = self._at, found.end()
        return self._data[start : self._at]

    def line(self, limit: int) -> bytes:
        """Return what comes up to and with a newline, but at most `limit` bytes, and less only at the end of all."""
        pieces: list[bytes] = []
        while True:
            start, stop = self._at, min(self._at + limit, len(self._data))
            newline = self._data.find(b"\n", start, stop)
            self._at = stop if newline < 0 else newline + 1
            pieces.append(self._data[start : self._at])
            limit -= self._at - start
            if newline >= 0 or limit <= 0:
                break
            self._data, self._at = self._receive(_READ_BYTES), 0
            if not self._data:
                break
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def some(self, limit: int) -> bytes:
        """Return what is there, or else comes next, at most `limit` bytes of it; nothing only at the end of all."""
        if self._at == len(self._data):
            return self._receive(min(limit, _READ_BYTES))
        start = self._at
        self._at = min(start + limit, len(self._data))
        return self._data[start : self._at]

    def _receive(self, size: int) -> bytes:
        attempt = self._attempt
        left = attempt.time_left()
        if left < attempt.read_timeout_s:
            self._sock.settimeout(left)
        if attempt.bytes_per_second_min:
            self._judge_speed()
        try:
            data = self._sock.recv(size)
        except TimeoutError:
            attempt.time_left()
            detail = f"the server was silent for {attempt.read_timeout_s:g} s"
            raise FetchError(FetchOutcome.TIMEOUT, detail) from None
        self._window_bytes += len(data)
        return data

    def _judge_speed(self) -> None:
        attempt, now = self._attempt, self._attempt.clock.monotonic()
        if self._window_from is None:
            # The time up to the first byte is the server's to think; read timeout and deadline bound it.
            self._window_from = now if self._window_bytes else None
            self._window_bytes = 0
            return
        spent_s = now - self._window_from
        if spent_s < attempt.speed_window_s:
            return
        if self._window_bytes < attempt.bytes_per_second_min * spent_s:
            detail = (
                f"{self._window_bytes} bytes in {spent_s:.1f} s, slower than {attempt.bytes_per_second_min} a second"
            )
            raise FetchError(FetchOutcome.TIMEOUT, detail)
        self._window_from, self._window_bytes = now, 0
