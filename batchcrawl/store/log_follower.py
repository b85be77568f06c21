"""Follows a log while another process appends to it."""

from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.store.reading import ADVICE, open_stored

READ_BYTES = 4 << 20
"""No more is read at once."""

L = TypeVar("L", bound=msgspec.Struct)


class LogFollower(Generic[L]):
    """Reads a log from where it was read last; what has no end of its line yet is left for the next time."""

    def __init__(self, path: Path, line_type: type[L]) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(line_type)
        self._read = 0

    @property
    def was_cut(self) -> bool:
        """The log is shorter than what was read of it: a resumed step has cut it, or it is another one."""
        return self._path.exists() and self._path.stat().st_size < self._read

    def next_lines(self) -> list[L]:
        """Return the next lines, none at the end. Raises CorruptData naming file and offset for a damaged one."""
        if not self._path.exists():
            return []
        with open_stored(self._path) as file:
            file.seek(self._read)
            text = file.read(READ_BYTES)
        whole = text[: text.rfind(b"\n") + 1]
        try:
            lines = self._decoder.decode_lines(whole)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise CorruptData(f"{self._path}: damaged behind byte {self._read}: {error}; {ADVICE}") from error
        self._read += len(whole)
        return lines
