"""Host names asked of the name servers themselves, by c-ares, which tells how long an answer is good."""

import re
import socket
from collections.abc import Sequence
from concurrent.futures import Future

import pycares

from batchcrawl.net.resolver import Resolved

TIMEOUT_S = 2.0
TRIES = 3
# c-ares would read some of these as addresses, others than a browser (URL standard, "ends in a number checker").
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9A-Fa-f]*)\.?\Z")


class NameServers:
    """A lookup that reads the system's hosts file, then asks its name servers or those given; thread-safe.

    A server that is silent for `timeout_s` is asked up to `tries` times, longer each time. Addresses of both families
    come in the order of RFC 6724, as from getaddrinfo(3). Other sources of the system (mDNS, LDAP) are not asked.
    """

    def __init__(self, servers: Sequence[str] = (), *, timeout_s: float = TIMEOUT_S, tries: int = TRIES) -> None:
        """`servers` are `address` or `address:port`, IPv6 in brackets; none: those of the system."""
        self._channel = pycares.Channel(servers=servers or None, timeout=timeout_s, tries=tries)

    def __call__(self, host: str) -> Resolved:
        """Return the addresses of a host and for how long they are good. Raises OSError for none."""
        if _ENDS_IN_NUMBER.search(host):
            raise OSError("an address must be written as such: no host name ends in a number")
        answer: Future[tuple[pycares.AddrInfoResult | None, int | None]] = Future()
        self._channel.getaddrinfo(
            host, None, type=socket.SOCK_STREAM, callback=lambda found, fault: answer.set_result((found, fault))
        )
        found, fault = answer.result()
        if found is None:
            raise OSError("no answer" if fault is None else pycares.errno.strerror(fault))
        # An alias may end before the address that it leads to.
        ttl_s = min([*(node.ttl for node in found.nodes), *(alias.ttl for alias in found.cnames)], default=0)
        return Resolved(tuple(dict.fromkeys(_text(node.addr[0]) for node in found.nodes)), float(ttl_s))


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address
