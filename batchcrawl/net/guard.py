"""Which addresses a fetch may connect to: public ones, and the networks that the job names."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")


class AddressGuard:
    """Refuses addresses by which a page could reach into the machine or its network."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = tuple(allowed)

    def allows(self, address: str) -> bool:
        """Say whether a fetch may connect to the address, written as numbers.

        An IPv6 address that carries an IPv4 address (mapped, 6to4, Teredo, NAT64) is judged by both.
        """
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return all(self._allows_one(part) for part in (parsed, *_carried(parsed)))

    def _allows_one(self, address: Address) -> bool:
        return _public(address) or any(address in network for network in self._allowed)


def _carried(address: Address) -> list[IPv4Address]:
    if isinstance(address, IPv4Address):
        return []
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        carried.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [part for part in carried if part is not None]


def _public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return True  # only the address that it carries counts
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
