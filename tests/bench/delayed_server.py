"""A server that answers each request after a while, for any host: `python -m tests.bench.delayed_server SECONDS`.

It writes its port to stdout, and ends with its stdin.
"""

import asyncio
import sys

_PAGE = b"<title>A page</title>" + b"<p>It has a few words.</p>" * 40
_FOUND = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(_PAGE), _PAGE)
_NO_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class _Delayed(asyncio.Protocol):
    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        answer = _NO_ROBOTS if data.startswith(b"GET /robots.txt ") else _FOUND
        asyncio.get_running_loop().call_later(self._delay_s, self._transport.write, answer)


async def _serve(delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Delayed(delay_s), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
