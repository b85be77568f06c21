"""The connections that are kept to one host: urllib3's pool, which makes them, with our way to ask on them."""

import queue
from collections import deque

from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from batchcrawl.net.connection import Connection, SecureConnection
from batchcrawl.net.response import RecordedResponse


class _Kept:
    """What a pool needs of a LifoQueue; nobody ever waits at it, so it takes no lock."""

    def __init__(self, maxsize: int) -> None:
        self._room = maxsize
        self._connections: deque[Connection | None] = deque()

    def get(self, block: bool = True, timeout: float | None = None) -> Connection | None:
        try:
            return self._connections.pop()
        except IndexError:
            raise queue.Empty from None

    def put(self, connection: Connection | None, block: bool = True) -> None:
        if len(self._connections) >= self._room:
            raise queue.Full
        self._connections.append(connection)

    def qsize(self) -> int:
        return len(self._connections)


class Pool(HTTPConnectionPool):
    """The connections to one host, or to a proxy that forwards."""

    ConnectionCls = Connection
    QueueCls = _Kept  # type: ignore[assignment]  # the part of it that is used

    def ask(self, head: bytes, *, tunnel: bool) -> tuple[Connection, RecordedResponse]:
        """Send the head of a request on a kept connection or a new one, and read the head of its answer.

        `tunnel`: by way of the proxy's CONNECT. The connection is to be given back by `release`.
        """
        connection = self._get_conn()
        assert isinstance(connection, Connection)
        try:
            if tunnel and connection.is_closed:
                self._prepare_proxy(connection)
            self._validate_conn(connection)  # connects, where TLS is wanted
            if connection.is_closed:
                connection.connect()
            return connection, connection.ask(head)
        except BaseException:
            connection.close()
            self._put_conn(None)
            raise

    def release(self, connection: Connection, response: RecordedResponse) -> None:
        """Take a connection back, to be kept if it can carry another request."""
        if not response.keeps_connection:
            connection.close()
        self._put_conn(connection)


class SecurePool(Pool, HTTPSConnectionPool):
    """The TLS connections to one host."""

    ConnectionCls = SecureConnection
