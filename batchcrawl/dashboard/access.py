"""Who may ask: by the Host field, against DNS rebinding, and by a token."""

import base64
import binascii
import hmac
from collections.abc import Collection
from dataclasses import dataclass, field
from ipaddress import ip_address

TOKEN_CHARACTERS_MIN = 16


@dataclass(frozen=True, kw_only=True)
class Access:
    """What a request must show."""

    token: str | None = field(default=None, repr=False)
    """None where everybody may ask who can connect."""
    names: Collection[str] = ()
    """Host names by which the server may be called, lower case, beside localhost and any address."""

    def knows_host(self, host: str | None) -> bool:
        """Tell whether a Host field is an address or a name of the server.

        A page of somebody else whose name was made to lead here (DNS rebinding) sends its own name.
        """
        name = _without_port((host or "").strip().lower())
        if name in {"localhost", *self.names}:
            return True
        return is_address(name.removeprefix("[").removesuffix("]"))

    def lets_in(self, authorization: str | None) -> bool:
        """Tell whether an Authorization field has the token: as Bearer, or as the password of Basic (RFC 7617)."""
        if self.token is None:
            return True
        return hmac.compare_digest(_secret_of(authorization or ""), self.token.encode())


def is_address(text: str) -> bool:
    """Tell whether a text is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_loopback(name: str) -> bool:
    """Tell whether only this machine can connect to a host name or address."""
    return name == "localhost" or (is_address(name) and ip_address(name).is_loopback)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and (port.isdecimal() or not port) and not (":" in name and not name.endswith("]")) else host


def _secret_of(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("utf-8", "replace")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
