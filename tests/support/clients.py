"""Clients for tests, which may connect to this machine's own addresses."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

from batchcrawl.model.clock import SystemClock
from batchcrawl.net.client import Client
from batchcrawl.net.incoming import OpenSpool
from batchcrawl.net.resolver import Resolved, Resolver
from batchcrawl.net.settings import ClientSettings

SETTINGS = ClientSettings(
    user_agent="batchcrawl-test",
    connect_timeout_s=10,
    read_timeout_s=10,
    deadline_s=10,
    allow_addresses=(ip_network("127.0.0.0/8"), ip_network("::1/128")),
)


def local_client(
    *, lookup: Callable[[str], Sequence[str]] | None = None, open_spool: OpenSpool | None = None, **changes: Any
) -> Client:
    """Return a client that differs from SETTINGS by the changes, and finds names by `lookup` if that is given."""
    clock = SystemClock()
    resolver = None if lookup is None else Resolver(clock, lookup=lambda host: Resolved(tuple(lookup(host))))
    return Client(replace(SETTINGS, **changes), clock, resolver=resolver, open_spool=open_spool)


def hasty_client(**changes: Any) -> Client:
    """Return a client for tests that wait for its time limits: 0.2 s of silence, 0.4 s in all."""
    return local_client(**({"connect_timeout_s": 0.3, "read_timeout_s": 0.2, "deadline_s": 0.4} | changes))
