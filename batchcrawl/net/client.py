"""One GET: a URL goes in, an answer or the reason for none comes out; never an exception, never for long.

What a proxy does to the address guard: by way of an HTTP, HTTPS or socks5h proxy names are resolved there, so that only
an address in the URL itself can be judged; by way of socks5 they are resolved and judged here. The proxy's own address
is not judged: the job names it.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

from urllib3.exceptions import InsecureRequestWarning

from batchcrawl.model.body import Body
from batchcrawl.model.clock import Clock
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.attempt import Attempt, CurrentAttempt
from batchcrawl.net.connection import Connection, Dialer
from batchcrawl.net.cookies import CookieJar
from batchcrawl.net.failure import FAILURES, FetchError, failure_of
from batchcrawl.net.guard import AddressGuard, is_address
from batchcrawl.net.incoming import IncomingBody, OpenSpool
from batchcrawl.net.name_servers import NameServers
from batchcrawl.net.names import StaticNames
from batchcrawl.net.pool import Pool
from batchcrawl.net.proxy import check_proxy
from batchcrawl.net.request import Request, parse_request, request_head
from batchcrawl.net.resolver import Resolver, ResolverCounts, system_lookup
from batchcrawl.net.response import RecordedResponse
from batchcrawl.net.settings import ClientSettings
from batchcrawl.net.transport import Transport
from batchcrawl.policy.outcomes import judge

Wants = Callable[[int, str | None, int | None], bool]
"""Status, Content-Type and Content-Length of an answer to: is its body to be read?"""


class Client:
    """Fetches URLs; thread-safe. Follows no redirects, reads no environment variables, writes nothing down.

    Bodies that are too large for the memory go into files of `open_spool`; without it they are held.
    """

    def __init__(
        self,
        settings: ClientSettings,
        clock: Clock,
        *,
        resolver: Resolver | None = None,
        open_spool: OpenSpool | None = None,
    ) -> None:
        socks = check_proxy(settings.proxy)
        self._settings = settings
        self._http_proxy = settings.proxy if socks is None else None
        self._clock = clock
        self._open_spool = open_spool
        self._current = CurrentAttempt()
        self._cookies = CookieJar(clock) if settings.cookies else None
        # A name whose servers are silent holds a thread for about three times as long as a fetch waits for it.
        self._resolver = resolver or Resolver(
            clock,
            threads_max=max(64, 4 * settings.threads),
            lookup=system_lookup if settings.system_resolver else NameServers(settings.name_servers),
        )
        self._guard = AddressGuard(settings.allow_addresses)
        names = StaticNames(settings.names)
        self._dialer = Dialer(self._resolver, self._guard, names, current=self._current, socks=socks)
        self._transport = Transport(
            self._dialer,
            ca_file=settings.ca_file,
            client_certificate=settings.client_certificate,
            hosts=max(settings.hosts_kept, 4 * settings.threads),
            host_connections=settings.threads if self._http_proxy else settings.host_connections,
        )
        self._fields = {
            "User-Agent": settings.user_agent,
            "Accept": settings.accept,
            "Accept-Encoding": settings.accept_encoding,
        }
        if settings.unverified_hosts:
            # The job says so itself; urllib3 would warn at each connection.
            warnings.filterwarnings("ignore", category=InsecureRequestWarning)

    @property
    def resolver_counts(self) -> ResolverCounts:
        """Return how names were found up to now."""
        return self._resolver.counts

    def address_of(self, host: str) -> str | None:
        """Return the address that a fetch from a host name will try first; None where there is none or a proxy asks."""
        if self._http_proxy is not None:
            return None
        return self._dialer.first_address(host, timeout_s=self._settings.connect_timeout_s)

    def get(
        self,
        url: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        wants: Wants | None = None,
        cookie: str | None = None,
        body_bytes_max: int | None = None,
    ) -> Answer | NoAnswer:
        """Fetch a serialised http or https URL, sent byte for byte without its fragment and credentials.

        `headers` go out beside Host, User-Agent, Accept and Accept-Encoding, or replace them. `wants` None reads every
        body. `cookie` goes out in the place of the cookies that are kept, see `cookie_past`. `body_bytes_max` None is
        that of the settings. Takes no longer than the deadline of the settings. The answer is to be closed. Raises
        only what `open_spool` and its files raise: DiskFull and CrawlError.
        """
        started_at = self._clock.now()
        attempt = self._attempt(body_bytes_max or self._settings.body_bytes_max)
        try:
            request = parse_request(url)
            if cookie is None and self._cookies is not None:
                cookie = self._cookies.header(request)
            exchange = self._send(request, attempt, self._fields_for(request, headers, cookie))
            answer = self._answer(url, attempt, exchange, wants, started_at)
            if self._cookies is not None:
                self._cookies.take(request, _set_cookies(answer))
            return answer
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

    def cookie_past(self, answer: Answer) -> str | None:
        """Return the cookies by which a redirect that leads nowhere but to itself may be asked past, or None.

        That is one that sets a cookie which was not sent; it is known, too, where no cookies are kept. Whether and when
        to ask again, and that only once, is the caller's: it is a request like any other.
        """
        if not _wants_a_cookie(answer):
            return None
        request = parse_request(answer.url)
        jar = self._cookies
        if jar is None:
            jar = CookieJar(self._clock, hosts_max=1)
            jar.take(request, _set_cookies(answer))
        cookies = jar.header(request)
        return None if cookies is None or _sent(answer, cookies) else cookies

    def close(self) -> None:
        """Close all connections that are not in use, and end the resolver's threads."""
        self._transport.close()
        self._resolver.close()

    def _attempt(self, body_bytes_max: int) -> Attempt:
        settings = self._settings
        attempt = self._current.attempt = Attempt(
            clock=self._clock,
            deadline=self._clock.monotonic() + settings.deadline_s,
            connect_timeout_s=settings.connect_timeout_s,
            read_timeout_s=settings.read_timeout_s,
            header_bytes_max=settings.header_bytes_max,
            body_bytes_max=body_bytes_max,
            bytes_per_second_min=settings.bytes_per_second_min,
            speed_window_s=settings.speed_window_s,
        )
        return attempt

    def _fields_for(self, request: Request, headers: Sequence[tuple[str, str]], cookies: str | None) -> dict[str, str]:
        fields = {"Host": request.authority, **self._fields}
        for name, value in headers:
            _set(fields, name, value)
        if cookies is not None:
            own = next((value for name, value in fields.items() if name.lower() == "cookie"), None)
            _set(fields, "Cookie", cookies if own is None else f"{own}; {cookies}")
        authorization = self._settings.authorization.get(request.host_key)
        if authorization is not None:
            _set(fields, "Authorization", authorization)
        return fields

    def _send(self, request: Request, attempt: Attempt, fields: dict[str, str]) -> "_Exchange":
        if self._http_proxy is not None and is_address(request.bare_host) and not self._guard.allows(request.bare_host):
            raise FetchError(FetchOutcome.ADDRESS_REFUSED, f"{request.host} is not public")
        try:
            return self._open(request, fields)
        except (FetchError, *FAILURES) as error:
            if attempt.connected or failure_of(error)[0] is not FetchOutcome.CONNECT_FAILED:
                raise
        # The server closed a kept connection just as the request went out: once more on a new one.
        attempt.fresh_only = True
        return self._open(request, fields)

    def _open(self, request: Request, fields: dict[str, str]) -> "_Exchange":
        pool = self._transport.pool(
            scheme=request.scheme,
            host=request.host,
            port=request.port,
            proxy=self._http_proxy,
            verify=not self._settings.unverified_hosts or request.bare_host not in self._settings.unverified_hosts,
        )
        target, tunnel = request.target, False
        if self._http_proxy is not None:
            tunnel = request.scheme == "https"
            if not tunnel:
                target = f"http://{request.authority}{target}"
                fields = {**fields, **pool.proxy_headers}
        connection, response = pool.ask(request_head(target, fields), tunnel=tunnel)
        return _Exchange(pool, connection, response)

    def _answer(
        self, url: str, attempt: Attempt, exchange: "_Exchange", wants: Wants | None, started_at: float
    ) -> Answer:
        response = exchange.response
        try:
            wanted = wants is None or wants(response.status, response.field("content-type"), response.length)
            body, truncated = self._read_body(response, attempt.body_bytes_max) if wanted else (b"", None)
        finally:
            exchange.pool.release(exchange.connection, response)
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

    def _read_body(self, response: RecordedResponse, room: int) -> tuple[Body, str | None]:
        body = IncomingBody(self._open_spool)
        try:
            truncated = _read_into(body, response, room)
            return body.take(), truncated
        except BaseException:
            body.abandon()
            raise


class _Exchange(NamedTuple):
    """A request that was sent, its answer read up to the body."""

    pool: Pool
    connection: Connection
    response: RecordedResponse


def _read_into(body: IncomingBody, response: RecordedResponse, room: int) -> str | None:
    """Read at most `room` bytes, and return why that is not all of it, if it is not."""
    try:
        for part in response.chunks():
            body.write(part[:room])
            room -= len(part)
            if room < 0:
                return "length"
    except (FetchError, TimeoutError) as error:
        if body.is_empty or failure_of(error)[0] is not FetchOutcome.TIMEOUT:
            raise
        return "time"
    return None


def _set(fields: dict[str, str], name: str, value: str) -> None:
    """Set a field that is sent once, however its name is written."""
    fields[next((known for known in fields if known.lower() == name.lower()), name)] = value


_CREDENTIALS = re.compile(rb"^(?:proxy-)?authorization:[^\n]*\n", re.IGNORECASE | re.MULTILINE)


def _without_credentials(head: bytes) -> bytes:
    return _CREDENTIALS.sub(b"", head) if b"authorization:" in head.lower() else head


def _set_cookies(answer: Answer) -> list[str]:
    return [value for name, value in answer.headers if name.lower() == "set-cookie"]


def _wants_a_cookie(answer: Answer) -> bool:
    """Tell whether an answer redirects to its own URL and sets a cookie."""
    if not 300 <= answer.status < 400 or not _set_cookies(answer):
        return False
    target = judge(answer).redirect
    return target is not None and target.partition("#")[0] == answer.url.partition("#")[0]


def _sent(answer: Answer, cookies: str) -> bool:
    """Tell whether the request had these cookies already; those of the job stand before them."""
    lines = answer.request_head.decode("latin-1").split("\r\n")
    sent = next((line for line in lines if line.lower().startswith("cookie:")), "")
    return sent.endswith((f": {cookies}", f"; {cookies}"))
