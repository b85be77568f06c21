"""One GET: a URL goes in, an answer or the reason for none comes out; never an exception, never for long."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from urllib3.exceptions import InsecureRequestWarning
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout

from batchcrawl.errors import UsageError
from batchcrawl.model.clock import Clock
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt, CurrentAttempt
from batchcrawl.net.connection import Dialer
from batchcrawl.net.failure import FAILURES, FetchError, failure_of
from batchcrawl.net.guard import AddressGuard, Network
from batchcrawl.net.names import StaticNames
from batchcrawl.net.resolver import Resolver
from batchcrawl.net.response import RecordedResponse
from batchcrawl.net.transport import Transport

Wants = Callable[[int, str | None, int | None], bool]
"""Status, Content-Type and Content-Length of an answer to: is its body to be read?"""


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
    header_bytes_max: int = 65536
    body_bytes_max: int = 10 * 1024 * 1024
    accept: str = "text/html,application/xhtml+xml,*/*;q=0.5"
    accept_encoding: str = "gzip, deflate"
    proxy: str | None = None
    """URL of an HTTP proxy; its own address is not judged."""
    allow_addresses: tuple[Network, ...] = ()
    """Networks that may be connected to although they are not public."""
    names: Mapping[str, str] = field(default_factory=dict)
    """`host`, `*.suffix` or `*` to `address` or `address:port`, instead of the name servers."""
    unverified_hosts: frozenset[str] = frozenset()
    """Host names whose certificate is not verified."""
    ca_file: str | None = None
    """PEM file of the certificate authorities instead of the bundled ones."""
    threads: int = 16
    """How many fetches run at once at most."""
    host_connections: int = 1
    """Connections kept open to one host."""
    hosts_kept: int = 256
    """Hosts to which connections are kept open; at least four a thread."""


class Client:
    """Fetches URLs; thread-safe. Follows no redirects, keeps no cookies, reads no environment variables."""

    def __init__(self, settings: ClientSettings, clock: Clock, *, resolver: Resolver | None = None) -> None:
        if settings.proxy is not None and not settings.proxy.startswith(("http://", "https://")):
            raise UsageError(f"the proxy must be an http or https URL, not {settings.proxy!r}")
        self._settings = settings
        self._clock = clock
        self._current = CurrentAttempt()
        self._resolver = resolver or Resolver(clock)
        self._transport = Transport(
            Dialer(
                self._resolver,
                AddressGuard(settings.allow_addresses),
                StaticNames(settings.names),
                current=self._current,
            ),
            ca_file=settings.ca_file,
            hosts=max(settings.hosts_kept, 4 * settings.threads),
            host_connections=settings.threads if settings.proxy else settings.host_connections,
        )
        self._fields = {
            "User-Agent": settings.user_agent,
            "Accept": settings.accept,
            "Accept-Encoding": settings.accept_encoding,
        }
        if settings.unverified_hosts:
            # The job says so itself; urllib3 would warn at each connection.
            warnings.filterwarnings("ignore", category=InsecureRequestWarning)

    def get(
        self, url: str, *, headers: Sequence[tuple[str, str]] = (), wants: Wants | None = None
    ) -> Answer | NoAnswer:
        """Fetch a serialised http or https URL, sent byte for byte without its fragment and credentials.

        `headers` go out beside Host, User-Agent, Accept and Accept-Encoding, or replace them. `wants` None
        reads every body. Takes no longer than the deadline of the settings.
        """
        started_at = self._clock.now()
        attempt = self._attempt()
        try:
            request = _split(url)
            response = self._send(request, attempt, headers)
            return self._answer(url, attempt, response, wants, started_at)
        except (FetchError, *FAILURES) as error:
            outcome, detail = failure_of(error)
            return NoAnswer(
                url=url,
                outcome=outcome,
                detail=detail,
                started_at=started_at,
                ended_at=self._clock.now(),
                address=attempt.address,
            )
        finally:
            attempt.response = None

    def close(self) -> None:
        """Close all connections that are not in use, and end the resolver's threads."""
        self._transport.close()
        self._resolver.close()

    def _attempt(self) -> Attempt:
        settings = self._settings
        attempt = self._current.attempt = Attempt(
            clock=self._clock,
            target="",
            deadline=self._clock.monotonic() + settings.deadline_s,
            connect_timeout_s=settings.connect_timeout_s,
            read_timeout_s=settings.read_timeout_s,
            header_bytes_max=settings.header_bytes_max,
        )
        return attempt

    def _send(self, request: "_Request", attempt: Attempt, headers: Sequence[tuple[str, str]]) -> BaseHTTPResponse:
        forwarded = self._settings.proxy is not None and request.scheme == "http"
        attempt.target = f"http://{request.authority}{request.target}" if forwarded else request.target
        fields = {"Host": request.authority, **self._fields, **dict(headers)}
        # The pool reads no more of the URL than the scheme; the connection sends the target of the attempt.
        url = "http://forwarded/" if forwarded else "/"
        try:
            return self._open(request, attempt, url, fields)
        except (FetchError, *FAILURES) as error:
            if attempt.connected or failure_of(error)[0] is not FetchOutcome.CONNECT_FAILED:
                raise
        # The server closed a kept connection just as the request went out: once more on a new one.
        attempt.fresh_only = True
        return self._open(request, attempt, url, fields)

    def _open(self, request: "_Request", attempt: Attempt, url: str, fields: dict[str, str]) -> BaseHTTPResponse:
        settings = self._settings
        pool = self._transport.pool(
            scheme=request.scheme,
            host=request.host,
            port=request.port,
            proxy=settings.proxy,
            verify=request.host not in settings.unverified_hosts,
        )
        left = attempt.time_left()
        timeout = Timeout(connect=min(settings.connect_timeout_s, left), read=settings.read_timeout_s)
        return pool.urlopen(
            "GET",
            url,
            headers=fields,
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=timeout,
            preload_content=False,
            decode_content=False,
        )

    def _answer(
        self, url: str, attempt: Attempt, opened: BaseHTTPResponse, wants: Wants | None, started_at: float
    ) -> Answer:
        response = attempt.response
        assert response is not None
        try:
            wanted = wants is None or wants(response.status, response.field("content-type"), response.length)
            body, truncated = self._read_body(response) if wanted else (b"", None)
        finally:
            if not response.complete:
                opened.close()
            opened.release_conn()
        return Answer(
            url=url,
            status=response.status,
            headers=response.fields,
            request_head=_without_credentials(attempt.request_head),
            response_head=response.head,
            body=body,
            address=attempt.address,
            started_at=started_at,
            first_byte_at=response.first_byte_at or started_at,
            ended_at=self._clock.now(),
            truncated=truncated,
            unwanted=not wanted,
        )

    def _read_body(self, response: RecordedResponse) -> tuple[bytes, str | None]:
        parts: list[bytes] = []
        room = self._settings.body_bytes_max
        try:
            for part in response.chunks():
                parts.append(part[:room])
                room -= len(part)
                if room < 0:
                    return b"".join(parts), "length"
        except (FetchError, TimeoutError) as error:
            if not parts or failure_of(error)[0] is not FetchOutcome.TIMEOUT:
                raise
            return b"".join(parts), "time"
        return b"".join(parts), None


@dataclass(frozen=True, slots=True)
class _Request:
    scheme: str
    host: str
    port: int
    authority: str
    """For the Host field: no credentials, the port where it differs from the scheme's."""
    target: str


_URL = re.compile(r"(https?)://(?:[^/?#@]*@)?((\[[0-9a-fA-F:.]+\]|[^/?#@:\[\]]+)(?::([0-9]{1,5}))?)([/?][^#]*)?")
_PROXY_CREDENTIALS = re.compile(rb"^proxy-authorization:[^\n]*\n", re.IGNORECASE | re.MULTILINE)


def _split(url: str) -> _Request:
    found = _URL.match(url)
    if found is None or not url.isascii():
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"not a serialised http or https URL: {url}")
    scheme, authority, host, port, target = found.groups()
    number = int(port) if port else 443 if scheme == "https" else 80
    if number > 65535:
        raise FetchError(FetchOutcome.PROTOCOL_ERROR, f"no such port: {url}")
    return _Request(scheme, host, number, authority, target or "/")


def _without_credentials(head: bytes) -> bytes:
    return _PROXY_CREDENTIALS.sub(b"", head)
