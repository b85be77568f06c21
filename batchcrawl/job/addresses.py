"""Host names and addresses as a job file writes them, and which of them are this machine."""

import ipaddress
import re

from batchcrawl.net.names import parse_place
from batchcrawl.net.proxy import PROXY_SCHEMES

_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z")
_PORT = re.compile(r"[0-9]{1,5}\Z")


def is_host_name(text: str) -> bool:
    """Tell whether text is a host name in lower case (an international one as xn--) or an IP address."""
    return _NAME.match(text) is not None or parse_address(text) is not None


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an IP address, an IPv6 one with or without brackets; None if it is none."""
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        address = ipaddress.ip_address(inner)
    except ValueError:
        return None
    return address if inner == text or address.version == 6 else None


def is_place(text: str) -> bool:
    """Tell whether text is an IP address with or without a port, as a table of names sends a host to."""
    try:
        parse_place(text)
    except ValueError:
        return False
    return True


def parse_port(text: str) -> int | None:
    """Return a port from 1 to 65535, or None."""
    return int(text) if _PORT.match(text) and 0 < int(text) < 65536 else None


def parse_proxy(text: str) -> tuple[str, int] | None:
    """Return host and port of a proxy given as `scheme://host:port`, or None. An IPv6 host comes without brackets."""
    scheme, _, place = text.partition("://")
    if scheme not in PROXY_SCHEMES:
        return None
    host, _, port = place.removesuffix("/").rpartition(":")
    number = parse_port(port)
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if number is None or not is_host_name(bare) or (":" in bare) != (bare != host):
        return None
    return bare, number


def is_loopback(host: str) -> bool:
    """Tell without DNS whether a name or address is this machine: 127.0.0.0/8, ::1, localhost (RFC 6761)."""
    address = parse_address(host)
    if address is not None:
        mapped = getattr(address, "ipv4_mapped", None)
        return (mapped or address).is_loopback
    name = host.removesuffix(".").lower()
    return name == "localhost" or name.endswith(".localhost")
