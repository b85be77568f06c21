"""What an export that is a row of bytes writes to: a file, or standard output."""

from typing import Protocol


class Output(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Add bytes."""
