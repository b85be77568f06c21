"""Cookies of hosts, kept in memory while a step runs (RFC 6265, sections 5.1 to 5.4).

Stricter than a browser: a host key gets back only what it set itself, so that no cookie goes to a third party,
from https to http, or to another host of its domain. Not http.cookiejar: that reads the real time, knows no limits,
and hands cookies from host to host by rules of its own.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from batchcrawl.model.clock import Clock
from batchcrawl.net.request import Request

HOSTS_MAX = 5_000
HOST_COOKIES_MAX = 50
HOST_BYTES_MAX = 8192
"""All cookies of a host, which may go into one header field."""
COOKIE_BYTES_MAX = 4096

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]{1,18}")
_DATE_CHARACTERS_MAX = 100


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie that may be sent back."""

    name: str
    value: str
    path: str
    expires_at: float | None

    def __len__(self) -> int:
        """Return its bytes in a header field, with the separator."""
        return len(self.name) + len(self.value) + 3

    def goes_to(self, path: str, now: float) -> bool:
        """Tell whether it is sent for a path (RFC 6265, section 5.1.4) at an instant."""
        if self.expires_at is not None and self.expires_at <= now:
            return False
        if not path.startswith(self.path):
            return False
        return len(path) == len(self.path) or self.path.endswith("/") or path[len(self.path)] == "/"


class CookieJar:
    """Keeps the cookies of host keys within limits; thread-safe, and never on disk."""

    def __init__(self, clock: Clock, *, hosts_max: int = HOSTS_MAX) -> None:
        self._clock = clock
        self._hosts_max = hosts_max
        self._lock = threading.Lock()
        self._hosts: OrderedDict[str, dict[tuple[str, str], Cookie]] = OrderedDict()

    def take(self, request: Request, fields: Iterable[str]) -> None:
        """Keep what the Set-Cookie fields of an answer to a request set; an expired cookie is taken away."""
        now = self._clock.now()
        cookies = [cookie for field in fields if (cookie := parse_cookie(field, request, now=now)) is not None]
        if not cookies:
            return
        with self._lock:
            kept = self._hosts.setdefault(request.host_key, {})
            self._hosts.move_to_end(request.host_key)
            for cookie in cookies:
                _keep(kept, cookie, now)
            while len(self._hosts) > self._hosts_max:
                self._hosts.popitem(last=False)

    def header(self, request: Request) -> str | None:
        """Return the Cookie field for a request, the longest path first, or None."""
        with self._lock:
            kept = self._hosts.get(request.host_key)
            if not kept:
                return None
            self._hosts.move_to_end(request.host_key)
            now = self._clock.now()
            cookies = [cookie for cookie in kept.values() if cookie.goes_to(request.path, now)]
        cookies.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(f"{c.name}={c.value}" if c.name else c.value for c in cookies) or None


def parse_cookie(field: str, request: Request, *, now: float) -> Cookie | None:
    """Return what a Set-Cookie field in the answer to a request sets, or None where it is to be ignored.

    Ignored are cookies with control characters, of more than 4096 bytes, for a domain that the host is not in,
    and Secure ones that come over http.
    """
    pair, _, rest = field.partition(";")
    name, equals, value = pair.partition("=")
    name, value = (name.strip(" \t"), value.strip(" \t")) if equals else ("", name.strip(" \t"))
    if not (name or value) or len(name) + len(value) > COOKIE_BYTES_MAX or _CONTROLS.search(pair):
        return None
    attributes = _attributes(rest)
    if "secure" in attributes and request.scheme != "https":
        return None
    domain = attributes.get("domain", "").lower().removeprefix(".")
    if domain and request.bare_host != domain and not request.host.endswith(f".{domain}"):
        return None
    path = attributes.get("path", "")
    if not path.startswith("/") or len(path) > COOKIE_BYTES_MAX:
        path = request.path.rpartition("/")[0] or "/"
    return Cookie(name, value, path, _expiry(attributes, now))


def _attributes(text: str) -> dict[str, str]:
    attributes = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        attributes[name.strip(" \t").lower()] = value.strip(" \t")
    return attributes


def _expiry(attributes: dict[str, str], now: float) -> float | None:
    max_age = attributes.get("max-age", "")
    if _MAX_AGE.fullmatch(max_age):
        return now + int(max_age)
    try:
        date = parsedate_to_datetime(attributes.get("expires", "")[:_DATE_CHARACTERS_MAX])
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _keep(kept: dict[tuple[str, str], Cookie], cookie: Cookie, now: float) -> None:
    key = (cookie.name, cookie.path)
    if cookie.expires_at is not None and cookie.expires_at <= now:
        kept.pop(key, None)
        return
    kept[key] = cookie
    while len(kept) > HOST_COOKIES_MAX or sum(map(len, kept.values())) > HOST_BYTES_MAX:
        del kept[next(iter(kept))]
