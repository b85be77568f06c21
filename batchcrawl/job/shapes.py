"""What the text of a single setting must look like: each check returns what is allowed, or None if all is well."""

import ipaddress
import re
from collections.abc import Callable

from batchcrawl.job.addresses import is_host_name, is_place, parse_proxy
from batchcrawl.job.agent import PRODUCT_TOKEN, is_contact
from batchcrawl.job.credentials import VARIABLE, parse_secret
from batchcrawl.job.seeds import BadUrl, parse_seed_url
from batchcrawl.job.source import printable
from batchcrawl.net.proxy import PROXY_SCHEMES
from batchcrawl.web.canonical import STEPS
from batchcrawl.web.patterns import Dialect, PatternFault, compile_search
from batchcrawl.web.urls import host_key, parse_url


def _contact(text: str) -> str | None:
    return (
        None if is_contact(text) else "a URL such as https://example.org/crawler or an address such as me@example.org"
    )


def _agent(text: str) -> str | None:
    return None if text.isascii() and text.isprintable() and text == text.strip() else "printable ASCII characters"


def _token(text: str) -> str | None:
    return None if PRODUCT_TOKEN.fullmatch(text) else "letters, - and _ (RFC 9309 section 2.2.1)"


def _path(text: str) -> str | None:
    return "a path" if not text.isprintable() or not text.strip() else None


def _seed(text: str) -> str | None:
    found = parse_seed_url(text)
    return f"an http or https URL ({found.reason})" if isinstance(found, BadUrl) else None


def _host(text: str) -> str | None:
    return None if is_host_name(text) else "a host name such as www.example.org, in lower case, without scheme and port"


def _pattern(text: str) -> str | None:
    try:
        compile_search(text, Dialect.PYTHON)
    except PatternFault as error:
        return f"a regular expression of Python ({printable(str(error))})"
    return None


_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


def is_media_type(text: str) -> bool:
    """Tell whether a text is a media type in lower case, without parameters."""
    return _TYPE.fullmatch(text) is not None


def _content_type(text: str) -> str | None:
    return None if is_media_type(text) else "a media type such as text/html, in lower case, without parameters"


def _proxy(text: str) -> str | None:
    return None if parse_proxy(text) is not None else f"{'://, '.join(PROXY_SCHEMES)}:// with host:port and no more"


def _variable(text: str) -> str | None:
    return None if VARIABLE.fullmatch(text) else "the name of an environment variable, in which the secret stands"


def _range(text: str) -> str | None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        return f"an address range such as 127.0.0.0/8 or fd00::/8 ({printable(str(error))})"
    return None


def _server(text: str) -> str | None:
    return None if is_place(text) else "an address such as 192.0.2.53 or 127.0.0.1:5353 or [2001:db8::53]:53"


def _step(text: str) -> str | None:
    names = [name for name, _ in STEPS]
    return None if text.removeprefix("-") in names else f"{', '.join(names)}, each with a minus before it or without"


TEXT_CHECKS: dict[str, Callable[[str], str | None]] = {
    "contact": _contact,
    "user_agent": _agent,
    "product_token": _token,
    "data": _path,
    "seeds": _seed,
    "sitemaps.urls": _seed,
    "seed_files": _path,
    "crawl.canonical_steps": _step,
    "scope.hosts": _host,
    "scope.include": _pattern,
    "scope.exclude": _pattern,
    "scope.regex_urlfilters": _path,
    "scope.suffix_urlfilters": _path,
    "fetch.content_types": _content_type,
    "network.proxy": _proxy,
    "network.proxy_credentials": _variable,
    "network.client_certificate": _path,
    "network.allow_addresses": _range,
    "network.name_servers": _server,
    "network.verify_tls_except": _host,
}
"""Checks of a text, or of each text of a list, by the setting's name."""

_FIELD_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_FIELDS = frozenset({
    "accept-encoding", "authorization", "connection", "content-length", "expect", "host", "if-modified-since",
    "if-none-match", "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
    "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip


def _header(name: str, value: str) -> str | None:
    if not _FIELD_NAME.fullmatch(name):
        return "the name of a header field and its text"
    if name.lower() in _OWN_FIELDS:
        return "any field that the crawler does not set by itself"
    if not value.isascii() or not value.isprintable():
        return "printable ASCII characters"
    return None


def _name(pattern: str, target: str) -> str | None:
    if pattern != "*" and not is_host_name(pattern.removeprefix("*.")):
        return "a host name in lower case, *.suffix or *, then an address"
    return None if is_place(target) else "an address such as 127.0.0.1, 127.0.0.1:8765 or [::1]:8765"


def _credentials(host: str, secret: str) -> str | None:
    url = parse_url(host)
    if url is None or not host.startswith(("http://", "https://")) or host_key(url) != host:
        return "a scheme and host such as https://www.example.org, in lower case, with its port if that is unusual"
    if parse_secret(secret) is None:
        return "Basic or Bearer and the name of an environment variable, as Basic SITE_LOGIN"
    return None


ENTRY_CHECKS: dict[str, Callable[[str, str], str | None]] = {
    "fetch.headers": _header,
    "network.names": _name,
    "network.credentials": _credentials,
}
"""Checks of each entry of a table, by the setting's name."""
