"""A body as it comes: held in memory while it is small, then written to a file."""

import io
from collections.abc import Callable

from batchcrawl.model.body import Body, SpooledBody

HELD_BYTES_MAX = 128 * 1024
"""Of a body that has a file, no more is held in memory; a smaller body gets none."""

OpenSpool = Callable[[], SpooledBody]
"""Makes a file for a body. May raise CrawlError, which goes through to whoever asked for the URL."""


class IncomingBody:
    """Takes a body piece by piece. Without `open_spool` all of it is held in memory."""

    def __init__(self, open_spool: OpenSpool | None) -> None:
        self._open_spool = open_spool
        self._file: SpooledBody | None = None
        # A list of parts would take many times the bytes of a body that comes in small chunks.
        self._held = io.BytesIO()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come yet."""
        return self._file is None and not self._held.tell()

    def write(self, data: bytes) -> None:
        """Add what has come."""
        self._held.write(data)
        if self._open_spool is None or self._held.tell() <= HELD_BYTES_MAX:
            return
        if self._file is None:
            self._file = self._open_spool()
        self._file.write(self._held.getvalue())
        self._held = io.BytesIO()

    def take(self) -> Body:
        """Return the body; its file is the caller's to close."""
        if self._file is None:
            return self._held.getvalue()
        self._file.write(self._held.getvalue())
        return self._file

    def abandon(self) -> None:
        """Let go of the file, if there is one."""
        if self._file is not None:
            self._file.close()
