"""One HTTP exchange, as the network layer hands it to the fetch step and the WARC writer stores it."""

import msgspec

from batchcrawl.model.body import Body, pieces_of
from batchcrawl.model.digest import digest_of
from batchcrawl.model.outcome import FetchOutcome


class Answer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An answer that came, with the exact bytes that were sent for it.

    Instants are seconds since 1970 UTC. `body` is the payload as sent: content codings kept, the
    chunked transfer coding undone. `response_head` is the status line and the header fields up to and
    with the empty line, with Transfer-Encoding renamed to X-Crawler-Transfer-Encoding where the
    coding was undone, so that head and body together are a message that any reader can parse.
    A body that was too large for the memory lies in a file: whoever has the answer closes it.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    """Header fields in the order sent, names as sent, values decoded as latin-1."""
    request_head: bytes
    response_head: bytes
    body: Body
    address: str | None
    """The IP address connected to; None behind a proxy."""
    started_at: float
    first_byte_at: float
    ended_at: float
    truncated: str | None = None
    """`length` or `time` where the body was cut, as in WARC-Truncated."""
    unwanted: bool = False
    """The headers were refused (by type or length) and the body was left unread."""

    @property
    def payload_digest(self) -> str:
        """The digest of the body, reckoned once; `cached_property` would do so under one lock for all answers."""
        digest: str | None = self.__dict__.get("digest")
        if digest is None:
            digest = self.__dict__["digest"] = digest_of(pieces_of(self.body))
        return digest

    def whole_body(self) -> bytes:
        """Return the body in one piece, for those that need it so."""
        return self.body if isinstance(self.body, bytes) else b"".join(self.body.pieces())

    def close(self) -> None:
        """Let go of the file of a body that has one; it cannot be read afterwards."""
        if not isinstance(self.body, bytes):
            self.body.close()

    def header(self, name: str) -> str | None:
        """Return the first value of a header field, or None. The name must be lower-case."""
        first: dict[str, str] | None = self.__dict__.get("first")
        if first is None:
            first = self.__dict__["first"] = {field.lower(): value for field, value in reversed(self.headers)}
        return first.get(name)


class NoAnswer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """No usable answer came."""

    url: str
    outcome: FetchOutcome
    detail: str
    """What exactly failed, in one line of printable characters."""
    started_at: float
    ended_at: float
    address: str | None = None
