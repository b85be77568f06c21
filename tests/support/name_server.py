"""A name server on loopback that tells addresses with their TTL, and is silent on demand (RFC 1035, section 4)."""

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address

A, AAAA = 1, 28
_NO_SUCH_NAME = 3
Zone = Mapping[str, list[tuple[str, int]] | None]
"""By name the addresses with their TTL in seconds; None for a name on which the server is silent."""


class _Server(socketserver.UDPServer):
    def __init__(self, zone: Zone) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.zone = zone
        self.asked: list[str] = []

    @property
    def place(self) -> str:
        """Its address and port."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        question: bytes
        question, sender = self.request
        name, end = _name(question)
        (kind,) = struct.unpack_from(">H", question, end)
        self.server.asked.append(name)
        addresses = self.server.zone.get(name, [])
        if addresses is None:
            return
        records = [_record(address, ttl) for address, ttl in addresses if _kind(address) == kind]
        fault = 0 if name in self.server.zone else _NO_SUCH_NAME
        head = question[:2] + struct.pack(">HHHHH", 0x8180 | fault, 1, len(records), 0, 0)
        sender.sendto(head + question[12 : end + 4] + b"".join(records), self.client_address)


@contextmanager
def name_server(zone: Zone) -> Iterator[_Server]:
    """Serve the zone; every other name is not known."""
    with _Server(zone) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _name(question: bytes) -> tuple[str, int]:
    labels, at = [], 12
    while size := question[at]:
        labels.append(question[at + 1 : at + 1 + size].decode("ascii").lower())
        at += 1 + size
    return ".".join(labels), at + 1


def _kind(address: str) -> int:
    return AAAA if ip_address(address).version == 6 else A


def _record(address: str, ttl_s: int) -> bytes:
    """Return the record of the name that was asked for, to which it points back."""
    packed = ip_address(address).packed
    return struct.pack(">HHHIH", 0xC00C, _kind(address), 1, ttl_s, len(packed)) + packed


def closed_port() -> int:
    """Return a UDP port on loopback where nobody listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
