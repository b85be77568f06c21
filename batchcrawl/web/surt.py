"""Keys of URLs for sorted indexes of web archives (SURT): the host from its end, all in lower case, parameters sorted.

What readers of such indexes look up (pywb, OpenWayback) is the URL in the same form, so variants of a URL that archives
do not tell apart have one key: of scheme, www, default port, letter case, order of parameters, session ids.
"""

import re
from urllib.parse import unquote_to_bytes

from batchcrawl.web.urls import host_key

_WWW = re.compile(r"^www\d*\.")
_ADDRESS = re.compile(r"\[.*\]")
_SESSION_PARAMETER = re.compile(
    r"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=\d+|cftoken=\d+"
)
_UNQUOTINGS_MAX = 8


def surt(url: str) -> str:
    """Return the key of a serialised http or https URL: `org,example)/a?b=1` for `https://www.example.org/A/?b=1`."""
    origin = host_key(url)
    path, mark, query = url[len(origin) :].partition("#")[0].partition("?")
    path = re.sub("/{2,}", "/", _escaped(path).lower())
    path = path.rstrip("/") or "/"
    query = _query(_escaped(query).lower()) if mark else ""
    return f"{_host(origin)}){path}{'?' if query else ''}{query}"


def _host(origin: str) -> str:
    scheme, _, place = origin.partition("://")
    if _ADDRESS.match(place):
        return place.replace("[", "").replace("]", "")
    name, colon, port = place.partition(":")
    name = _WWW.sub("", name)
    shown = "" if (scheme, port) in {("http", "80"), ("https", "443")} else colon + port
    return ",".join(reversed(name.split("."))) + shown


def _query(query: str) -> str:
    parameters = [part for part in query.split("&") if not _SESSION_PARAMETER.fullmatch(part)]
    return "&".join(sorted(parameters, key=lambda part: part.partition("=")))


def _escaped(text: str) -> str:
    """Return a text with all escapes undone, and then those made that are needed."""
    data = text.encode()
    for _ in range(_UNQUOTINGS_MAX):
        before, data = data, unquote_to_bytes(data)
        if data == before:
            break
    return "".join(chr(b) if 0x21 <= b <= 0x7E and b not in b"#%" else f"%{b:02X}" for b in data)
