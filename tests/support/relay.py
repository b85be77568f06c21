"""A proxy for tests: HTTP or SOCKS 5, with or without TLS and login; it connects to one place whatever it is asked."""

import contextlib
import select
import socket
import ssl
from ipaddress import ip_address

from tests.support.listener import Listener


class Relay(Listener):
    """Serves on 127.0.0.1 and passes every connection on to a port of 127.0.0.1."""

    def __init__(
        self, kind: str, port: int, *, tls: ssl.SSLContext | None = None, login: tuple[bytes, bytes] | None = None
    ) -> None:
        super().__init__()
        self._kind = kind
        self._target = port
        self._tls = tls
        self._login = login
        self.asked: list[str] = []
        """`host:port` of each connection that was asked for, or the head of a request to be forwarded."""

    def _accepted(self, sock: socket.socket) -> None:
        self._start(self._serve, sock)

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(5)
        with contextlib.suppress(OSError):
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            with client, socket.create_connection(("127.0.0.1", self._target), timeout=5) as server:
                if (self._socks if self._kind == "socks5" else self._http)(client, server):
                    self._pass_on(client, server)

    def _http(self, client: socket.socket, server: socket.socket) -> bool:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1) or b"\r\n\r\n"
        if head.startswith(b"CONNECT "):
            self.asked.append(head.split()[1].decode())
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            self.asked.append(head.decode())
            server.sendall(head)
        return True

    def _socks(self, client: socket.socket, server: socket.socket) -> bool:
        """Shake hands by RFC 1928 and RFC 1929."""
        methods = _exactly(client, _exactly(client, 2)[1])
        if self._login is not None:
            if 2 not in methods:
                client.sendall(b"\x05\xff")
                return False
            client.sendall(b"\x05\x02")
            user = _exactly(client, _exactly(client, 2)[1])
            right = (user, _exactly(client, _exactly(client, 1)[0])) == self._login
            client.sendall(b"\x01\x00" if right else b"\x01\x01")
            if not right:
                return False
        else:
            client.sendall(b"\x05\x00")
        kind = _exactly(client, 4)[3]
        if kind == 3:
            host = _exactly(client, _exactly(client, 1)[0]).decode()
        else:
            host = str(ip_address(_exactly(client, 4 if kind == 1 else 16)))
        self.asked.append(f"{host}:{int.from_bytes(_exactly(client, 2), 'big')}")
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        return True

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        other: dict[socket.socket, socket.socket] = {client: server, server: client}
        while not self._stop.is_set():
            held = isinstance(client, ssl.SSLSocket) and client.pending() > 0
            ready = [client] if held else select.select(list(other), [], [], 0.05)[0]
            for sock in ready:
                data = sock.recv(65536)
                if not data:
                    return
                other[sock].sendall(data)


def _exactly(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise ConnectionError("the client went away")
        data += part
    return data
