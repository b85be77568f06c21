"""The job's proxy: which kinds there are, and the handshake with a SOCKS proxy (RFC 1928, RFC 1929)."""

import socket
from typing import Any
from urllib.parse import unquote, urlsplit

from python_socks import ProxyError, ProxyType
from python_socks.sync import Proxy

from batchcrawl.errors import UsageError
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.failure import FetchError

_HTTP = ("http", "https")
_SOCKS = ("socks5", "socks5h")
PROXY_SCHEMES = (*_HTTP, *_SOCKS)


class SocksProxy:
    """A SOCKS proxy, version 5.

    With `socks5` names are resolved here, so that the address guard judges where the proxy is sent. With `socks5h` the
    proxy resolves them, and as with an HTTP proxy only a URL that holds an address can be judged.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        self.port = parts.port or 1080
        self.resolves_names = parts.scheme == "socks5h"
        self._username = unquote(parts.username or "")
        self._password = unquote(parts.password or "")

    def open_through(self, sock: socket.socket, host: str, port: int) -> None:
        """Have the proxy at the other end of a socket connect to a host. Raises FetchError or OSError.

        The socket's timeout holds for each of the proxy's three short replies: it is the job's own.
        """
        handshake = Proxy(
            ProxyType.SOCKS5,
            self.host,
            self.port,
            username=self._username,
            password=self._password,
            rdns=True,
            forward=_Connected(sock),
        )
        try:
            handshake.connect(host, port)
        except ProxyError as error:
            raise FetchError(FetchOutcome.CONNECT_FAILED, f"the proxy: {error}") from error


def check_proxy(url: str | None) -> SocksProxy | None:
    """Return the SOCKS proxy of a URL, None where it is an HTTP one or none. Raises UsageError for other kinds."""
    scheme = "" if url is None else url.partition("://")[0]
    if url is None or scheme in _HTTP:
        return None
    if scheme in _SOCKS:
        return SocksProxy(url)
    raise UsageError(f"a proxy must be one of {', '.join(PROXY_SCHEMES)}, not {scheme!r}")


class _Connected(Proxy):
    """Stands where the handshake wants a proxy before the proxy, since the dialer has connected already."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def connect(self, dest_host: str, dest_port: int, timeout: float | None = None, **kwargs: Any) -> socket.socket:
        return self._sock
