"""The job's own table of host names: where to connect to instead of asking the name servers."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address


@dataclass(frozen=True)
class Place:
    """An IP address, and a port where it differs from the URL's."""

    address: str
    port: int | None = None


class StaticNames:
    """Finds a host in a table of `host`, `*.suffix` and `*` to `address` or `address:port`.

    The host itself goes before the longest suffix, and that before `*`; `*.suffix` is not `suffix`.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._places = {name.lower().rstrip("."): parse_place(place) for name, place in table.items()}

    def find(self, host: str) -> Place | None:
        """Return where the table sends a host (no brackets around IPv6), or None."""
        if not self._places:
            return None
        place = self._places.get(host.rstrip("."))
        rest = host.rstrip(".")
        while place is None and "." in rest:
            rest = rest.partition(".")[2]
            place = self._places.get(f"*.{rest}")
        return place or self._places.get("*")


def parse_place(text: str) -> Place:
    """Return the place of `1.2.3.4`, `1.2.3.4:80`, `::1` or `[::1]:80`. Raises ValueError for others."""
    bare = text.removeprefix("[").removesuffix("]") if text.startswith("[") else text
    try:
        return Place(str(ip_address(bare)))
    except ValueError:
        address, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{text!r} is not an IP address with an optional port")
    return Place(str(ip_address(address.removeprefix("[").removesuffix("]"))), int(port))
