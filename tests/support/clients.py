"""Clients for tests: short times, and this machine's own addresses allowed."""

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

from batchcrawl.model.clock import SystemClock
from batchcrawl.net.client import Client, ClientSettings

SETTINGS = ClientSettings(
    user_agent="batchcrawl-test",
    connect_timeout_s=0.5,
    read_timeout_s=0.2,
    deadline_s=0.4,
    allow_addresses=(ip_network("127.0.0.0/8"), ip_network("::1/128")),
)


def local_client(**changes: Any) -> Client:
    """Return a client that differs from SETTINGS by the changes."""
    return Client(replace(SETTINGS, **changes), SystemClock())
