"""Which addresses a fetch may connect to: public ones, and the networks that the job names."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (IPv4Network("192.0.0.0/24"), IPv6Network("fec0::/10"), IPv6Network("3fff::/20"))
"""Others that are for special use (RFC 6890, RFC 3879, RFC 9637), but global by some versions of Python."""


class AddressGuard:
    """Refuses addresses by which a page could reach into the machine or its network."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = tuple(allowed)

    def allows(self, address: str) -> bool:
        """Say whether a fetch may connect to the address, written as numbers.

        An IPv6 address that stands for an IPv4 address (mapped, NAT64) is judged by that; one that leads to
        an IPv4 address (6to4, Teredo) is judged by both.
        """
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return all(self._allows_one(part) for part in _judged(parsed))

    def _allows_one(self, address: Address) -> bool:
        return _public(address) or any(address in network for network in self._allowed)


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address, an IPv6 one without brackets."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _judged(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    carried = (address.sixtofour, *(address.teredo or ()))
    return [address, *(part for part in carried if part is not None)]


def _public(address: Address) -> bool:
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
