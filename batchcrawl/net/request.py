"""What a URL asks for: of whom, where, and by which target."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError

_URL = re.compile(r"(https?)://(?:[^/?#@]*@)?((\[[0-9a-fA-F:.]+\]|[^/?#@:\[\]]+)(?::([0-9]{1,5}))?)([/?][^#]*)?")
_ENDS_TARGET = re.compile(r"[\x00-\x20\x7f]")
_ENDS_LINE = re.compile(r"[\r\n]")
_NAME = re.compile(r"[^:\s][^:\r\n]*")
_PORTS = {"http": 80, "https": 443}


class Request(NamedTuple):
    """The parts of a URL; its credentials and its fragment are left out."""

    scheme: str
    host: str
    """In lower case as serialised, an IPv6 address in brackets."""
    port: int
    authority: str
    """For the Host field: the port where it differs from the scheme's."""
    target: str

    @property
    def host_key(self) -> str:
        """Return scheme, host and port, the port where it differs from the scheme's."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def bare_host(self) -> str:
        """Return the host without the brackets of an IPv6 address."""
        return self.host.removeprefix("[").removesuffix("]")

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0] or "/"


def parse_request(url: str) -> Request:
    """Return what a serialised http or https URL asks for. Raises FetchError with PROTOCOL_ERROR for others."""
    found = _URL.match(url)
    if found is None or not url.isascii():
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"not a serialised http or https URL: {url}")
    scheme, authority, host, port, target = found.groups()
    number = int(port) if port else _PORTS[scheme]
    if number > 65535:
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no such port: {url}")
    return Request(scheme, host, number, authority, target or "/")


def request_head(target: str, fields: Mapping[str, str]) -> bytes:
    """Return the head of a GET, target and fields as they are (RFC 9112, sections 3 and 5).

    Raises FetchError with PROTOCOL_ERROR, or UnicodeEncodeError, for what would not arrive as it is.
    """
    if _ENDS_TARGET.search(target):
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"not a request target: {target}")
    lines = [f"GET {target} HTTP/1.1"]
    for name, value in fields.items():
        if not _NAME.fullmatch(name) or _ENDS_LINE.search(value):
            # The value may be a secret.
            raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"the field {name} cannot be sent")
        lines.append(f"{name}: {value}")
    lines += ("", "")
    return "\r\n".join(lines).encode("latin-1")
