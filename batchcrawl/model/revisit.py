"""A revisit: an exchange that brought what is stored already, and refers to the exchange that has the body."""

from dataclasses import dataclass
from enum import Enum


class RevisitProfile(Enum):
    """Why a body was not stored again (WARC/1.1, section 6.7); the value stands in the fetch log and ends the URI."""

    IDENTICAL_PAYLOAD = "identical-payload-digest"
    """The body that came is the stored one, byte for byte."""
    NOT_MODIFIED = "server-not-modified"
    """The server says that the stored one is still right."""

    @property
    def uri(self) -> str:
        """Return what WARC-Profile says."""
        return f"http://netpreserve.org/warc/1.1/revisit/{self.value}"


@dataclass(frozen=True, kw_only=True)
class Revisit:
    """What a revisit record says of the exchange that has the body."""

    profile: RevisitProfile
    refers_to_uri: str
    """URL of that exchange."""
    refers_to_at: float
    """Its start, in seconds since 1970 UTC."""
    payload_digest: str
    """Digest of that body."""
