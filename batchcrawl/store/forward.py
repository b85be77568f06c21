"""Keys of a LevelDB that are asked for in ascending order: one way through them, in steps or in leaps."""

from typing import Protocol

_STEPS_MAX = 4


class Cursor(Protocol):
    """Gives the keys of a range, and can be set to one of them, as LevelDB's iterator is."""

    def __next__(self) -> bytes: ...

    def seek(self, target: bytes, /) -> None:
        """Let the next key be the first from `target` on."""


class Forward:
    """Goes on to the next key where that is near, as among many, and seeks where it is far.

    A step costs a quarter of a seek. How many are tried follows from how far it was before: so a few keys that are
    asked for in a large database cost a seek each, and many in a small one what it takes to read it.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._at: bytes | None = b""
        """The first key from the one on that was asked for last; None at the end."""
        self._steps = 1

    def first_from(self, key: bytes) -> bytes | None:
        """Return the first key of the range from `key` on, or None; `key` is none that is before the last one."""
        at = self._at
        if at is None or (at >= key and at):
            return at
        for _ in range(self._steps):
            at = next(self._cursor, None)
            if at is None or at >= key:
                self._at, self._steps = at, min(2 * self._steps, _STEPS_MAX)
                return at
        self._cursor.seek(key)
        self._at, self._steps = next(self._cursor, None), max(self._steps // 2, 1)
        return self._at
