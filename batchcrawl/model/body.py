"""The body of an answer: bytes, or, where they are too many to be held in memory, a file of them."""

from collections.abc import Iterable, Iterator
from typing import Protocol


class SpooledBody(Protocol):
    """A body in a file that is gone once it is closed. Only one thread at a time may write or read it."""

    def __len__(self) -> int:
        """Return its bytes."""

    def write(self, data: bytes) -> None:
        """Add bytes behind its end. Raises DiskFull or CrawlError."""

    def pieces(self) -> Iterator[bytes]:
        """Yield it from its beginning, a little at a time."""

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""


Body = bytes | SpooledBody


def pieces_of(body: Body) -> Iterable[bytes]:
    """Return a body in pieces, none of them too large for the memory."""
    return (body,) if isinstance(body, bytes) else body.pieces()
