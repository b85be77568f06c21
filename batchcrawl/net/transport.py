"""The connection pools: requests' adapter with our connections and TLS contexts that are made once."""

import ssl
from collections.abc import Callable
from functools import cache
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import PoolManager
from urllib3.util.ssl_ import create_urllib3_context

from batchcrawl.errors import UsageError
from batchcrawl.net.connection import Dialer
from batchcrawl.net.pool import Pool, SecurePool


class Transport(HTTPAdapter):
    """Hands out the pool of connections for a host, direct or by way of a proxy."""

    def __init__(
        self,
        dialer: Dialer,
        *,
        ca_file: str | None,
        client_certificate: str | None,
        hosts: int,
        host_connections: int,
    ) -> None:
        authorities = ca_file or DEFAULT_CA_BUNDLE_PATH
        self._verified = _verified_context(authorities, client_certificate)
        self._unverified = create_urllib3_context(cert_reqs=ssl.CERT_NONE)
        _show_certificate(self._unverified, client_certificate)
        self._to_proxy = _verified_context(authorities, None)
        self._dialer = dialer
        super().__init__(pool_connections=hosts, pool_maxsize=host_connections)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        """Make the manager of direct connections."""
        super().init_poolmanager(connections, maxsize, block, **self._options(), **options)
        _equip(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Return the manager of connections by way of a proxy."""
        if proxy in self.proxy_manager:
            return self.proxy_manager[proxy]
        manager = super().proxy_manager_for(proxy, proxy_ssl_context=self._to_proxy, **self._options(), **options)
        _equip(manager)
        return manager

    def pool(self, *, scheme: str, host: str, port: int, proxy: str | None, verify: bool) -> Pool:
        """Return the pool of a host. A host must be asked for with the same `verify` always."""
        manager = self.proxy_manager_for(proxy) if proxy else self.poolmanager
        known: Pool | None = None if proxy else manager.pools.get((scheme, host, port))
        if known is not None:
            return known
        # A proxy that forwards http gets no host's options: all hosts share the connections to it.
        options = None if verify or scheme == "http" else {"ssl_context": self._unverified}
        pool: Pool = manager.connection_from_host(host, port, scheme, pool_kwargs=options)
        return pool

    def _options(self) -> dict[str, Any]:
        return {"dialer": self._dialer, "ssl_context": self._verified}


@cache
def _verified_context(ca_file: str, client_certificate: str | None) -> ssl.SSLContext:
    # Loading the CA certificates costs more than the fetch of fifty pages: once, not once a connection.
    context = create_urllib3_context()
    context.load_verify_locations(ca_file)
    _show_certificate(context, client_certificate)
    return context


def _show_certificate(context: ssl.SSLContext, path: str | None) -> None:
    if path is None:
        return
    try:
        # An empty password instead of a question on the terminal where the key has one.
        context.load_cert_chain(path, password="")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
        advice = "it must be a PEM file of certificate and key, the key without a password"
        raise UsageError(f"the client certificate {path} cannot be used: {reason or error}; {advice}") from error


def _equip(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = {"http": Pool, "https": SecurePool}
    # All that differs between our pools follows from these three; the full key costs 30 microseconds.
    key: Callable[[dict[str, Any]], Any] = _pool_key
    manager.key_fn_by_scheme = {"http": key, "https": key}  # type: ignore[dict-item]  # any hashable key will do


def _pool_key(context: dict[str, Any]) -> tuple[str, str, int]:
    return (context["scheme"], context["host"], context["port"])
