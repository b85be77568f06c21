"""What bounds the fetches of a client, and where they may go."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from batchcrawl.net.guard import Network
from batchcrawl.web.codings import ACCEPTED


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """What bounds a fetch and where it may go."""

    user_agent: str
    connect_timeout_s: float = 10.0
    """Until name, connection and TLS are ready."""
    read_timeout_s: float = 20.0
    """Longest silence of the server."""
    deadline_s: float = 60.0
    """For the whole fetch."""
    bytes_per_second_min: int = 0
    """An answer that comes slower is cut; 0: none is."""
    speed_window_s: float = 20.0
    """Over how long, again and again from the first byte on, the speed is measured."""
    header_bytes_max: int = 65536
    body_bytes_max: int = 10 * 1024 * 1024
    accept: str = "text/html,application/xhtml+xml,*/*;q=0.5"
    accept_encoding: str = ACCEPTED
    authorization: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Value of the Authorization field by the host key that it is sent to; never recorded."""
    cookies: bool = False
    """Send back the cookies that a host key sets, as long as the client lives."""
    proxy: str | None = field(default=None, repr=False)
    """URL of an http, https, socks5 or socks5h proxy, with its credentials, percent-encoded, where it wants any."""
    allow_addresses: tuple[Network, ...] = ()
    """Networks that may be connected to although they are not public."""
    names: Mapping[str, str] = field(default_factory=dict)
    """`host`, `*.suffix` or `*` to `address` or `address:port`, instead of the name servers."""
    system_resolver: bool = False
    """Ask the operating system for names, which may know more sources, rather than its name servers."""
    name_servers: tuple[str, ...] = ()
    """`address` or `address:port` of the name servers; none: those of the system."""
    unverified_hosts: frozenset[str] = frozenset()
    """Host names whose certificate is not verified."""
    ca_file: str | None = None
    """PEM file of the certificate authorities instead of the bundled ones."""
    client_certificate: str | None = None
    """PEM file of a certificate and its key, shown to every server that asks for one."""
    threads: int = 16
    """How many fetches run at once at most."""
    host_connections: int = 1
    """Connections kept open to one host."""
    hosts_kept: int = 0
    """Hosts to which connections are kept open; at least four a thread."""
