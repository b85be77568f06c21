"""An address whose SYN nobody answers: a listener of this machine whose queue is full."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

FILLERS = 4


@contextmanager
def black_hole() -> Iterator[int]:
    """Give the port of 127.0.0.1 at which no connection is made until the block ends."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as fillers:
        for _ in range(FILLERS):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        port: int = listener.getsockname()[1]
        yield port
