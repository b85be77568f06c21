"""The canonical URL: which spellings of a URL name one page. Steps in a fixed order, each with a name.

On by default, in this order:

    userinfo          user and password dropped
    fragment          the fragment dropped
    host_dot          the one trailing dot of a host name dropped
    percent_encoding  unreserved characters decoded, hex digits upper-case (RFC 3986 section 6.2.2); a stray percent
                      sign and what RFC 3986 allows in no path or query ([ ] | ^ ` { } \\ ") encoded; nothing else is
                      touched, so %2F %3F %23 %26 %3D %2B %3B and %25 keep their meaning
    tracking          query parameters named in `tracking` dropped
    session           session identifiers dropped: ;jsessionid=, /(S(...))/ of ASP.NET, parameters named in `tracking`
    empty_query       a question mark without a query dropped

Off by default, because sites exist where they merge different pages:

    https             http becomes https where no port is given
    www               a leading www. dropped
    index_page        index.html and its like at the end of the path dropped
    trailing_slash    slashes at the end of the path dropped
    sort_query        query parameters sorted by name; those of one name keep their order

Lower-case host as A-labels, default port, empty path and dot segments are done by the serialiser (`urls.parse_url`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batchcrawl.web.tracking import SESSION_NAMES, SESSION_NAMES_OF_HEX, TRACKING_NAMES, TRACKING_PREFIXES


@dataclass(slots=True)
class _Parts:
    scheme: str
    userinfo: str | None
    host: str
    port: str
    path: str
    query: str | None
    fragment: str | None

    def url(self) -> str:
        user = "" if self.userinfo is None else f"{self.userinfo}@"
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.scheme}://{user}{self.host}{self.port}{self.path}{query}{fragment}"


_SPLIT = re.compile(
    r"(https?)://(?:([^/?#]*)@)?(\[[^/?#\[\]@]*\]|[^/?#\[\]:@]+)(:[0-9]+)?(/[^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z",
    re.DOTALL,
)


def _drop_userinfo(parts: _Parts) -> None:
    parts.userinfo = None


def _drop_fragment(parts: _Parts) -> None:
    parts.fragment = None


def _drop_host_dot(parts: _Parts) -> None:
    # With more than one dot it is no name that can be looked up, and without its dots it might read as an IPv4 address.
    if parts.host.endswith(".") and not parts.host.endswith("..") and len(parts.host) > 1:
        parts.host = parts.host[:-1]


def _normalise_percent_encoding(parts: _Parts) -> None:
    parts.path = _ENCODED.sub(_recode, parts.path)
    if parts.query:
        parts.query = _ENCODED.sub(_recode, parts.query)


_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ENCODED = re.compile(r'%(?:[0-9A-Fa-f]{2})?|[\[\]|^`{}\\"]')


def _recode(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return f"%{ord(found):02X}"
    character = chr(int(found[1:], 16))
    return character if character in _UNRESERVED else found.upper()


def _drop_tracking(parts: _Parts) -> None:
    if parts.query:
        parts.query = _without(parts.query, _is_tracking)


def _without(query: str, unwanted: Callable[[str, str], bool]) -> str | None:
    pairs = query.split("&")
    kept = [pair for pair in pairs if not unwanted(*_name_and_value(pair))]
    if len(kept) == len(pairs):
        return query
    return "&".join(kept) or None


def _name_and_value(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return name.lower(), value


def _is_tracking(name: str, value: str) -> bool:
    return name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES)


def _drop_session(parts: _Parts) -> None:
    if ";" in parts.path:
        parts.path = _PATH_PARAMETER.sub(_without_jsessionid, parts.path)
    if "(" in parts.path:
        parts.path = _ASP_SEGMENT.sub("", parts.path)
    if parts.query:
        parts.query = _without(parts.query, _is_session)


_PATH_PARAMETER = re.compile(r"(?<=/)([^/;]*)((?:;[^/;]*)+)")
_ASP_SEGMENT = re.compile(r"/\((?:[ASF]\([A-Za-z0-9_-]{20,64}\)){1,3}\)(?=/)")
_DOTS = re.compile(r"(?:\.|%2e){0,2}\Z", re.IGNORECASE)
_LONG_HEX = re.compile(r"[0-9A-Fa-f]{32,}\Z")


def _without_jsessionid(match: re.Match[str]) -> str:
    segment, parameters = match[1], match[2].split(";")[1:]
    kept = [parameter for parameter in parameters if not parameter.lower().startswith("jsessionid=")]
    if not kept and segment and _DOTS.match(segment):
        return match[0]  # bare dots would become a dot segment
    return ";".join((segment, *kept))


def _is_session(name: str, value: str) -> bool:
    if name in SESSION_NAMES:
        return True
    return name in SESSION_NAMES_OF_HEX and _LONG_HEX.match(value) is not None


def _drop_empty_query(parts: _Parts) -> None:
    parts.query = parts.query or None


def _to_https(parts: _Parts) -> None:
    if not parts.port:
        parts.scheme = "https"


_WWW = re.compile(r"(?:www\.)+(?=[^.]+\.[^.])")


def _drop_www(parts: _Parts) -> None:
    parts.host = _WWW.sub("", parts.host, count=1) if parts.host.startswith("www.") else parts.host


_INDEX_PAGE = re.compile(
    r"(?:index\.(?:html?|xhtml|php[345]?|aspx?|jsp|cgi)|default\.(?:aspx?|html?))\Z", re.IGNORECASE
)


def _drop_index_page(parts: _Parts) -> None:
    path, end = parts.path, len(parts.path)
    while (slash := path.rfind("/", 0, end)) >= 0 and _INDEX_PAGE.match(path[slash + 1 : end]):
        end = slash
    if end < len(path):
        parts.path = path[:end] + "/"


def _drop_trailing_slash(parts: _Parts) -> None:
    path = parts.path.rstrip("/")
    # Left alone, or the next pass would find an index page to drop.
    if not _INDEX_PAGE.match(path[path.rfind("/") + 1 :]):
        parts.path = path or "/"


def _sort_query(parts: _Parts) -> None:
    if parts.query:
        parts.query = "&".join(sorted(parts.query.split("&"), key=lambda pair: pair.partition("=")[0]))


STEPS: tuple[tuple[str, Callable[[_Parts], None]], ...] = (
    ("userinfo", _drop_userinfo),
    ("fragment", _drop_fragment),
    ("host_dot", _drop_host_dot),
    ("percent_encoding", _normalise_percent_encoding),
    ("tracking", _drop_tracking),
    ("session", _drop_session),
    ("empty_query", _drop_empty_query),
    ("https", _to_https),
    ("www", _drop_www),
    ("index_page", _drop_index_page),
    ("trailing_slash", _drop_trailing_slash),
    ("sort_query", _sort_query),
)
"""Every step in the order in which they are taken."""

STEP_NAMES = frozenset(name for name, _ in STEPS)
DEFAULT_STEPS = STEP_NAMES - {"https", "www", "index_page", "trailing_slash", "sort_query"}


def canonicalise(url: str, steps: frozenset[str] = DEFAULT_STEPS) -> str:
    """Return the canonical URL of a serialised http or https URL; anything else comes back as it is.

    `steps` names the steps to take, see the module. The result is itself serialised; taking the same steps again
    changes nothing.
    """
    if "fragment" in steps and "#" in url:
        url = url[: url.index("#")]
    if steps <= DEFAULT_STEPS and _CLEAN.match(url):
        return url
    parts = _split(url)
    if parts is None:
        return url
    for name, step in STEPS:
        if name in steps:
            step(parts)
    return parts.url()


def changes(url: str, steps: frozenset[str] = DEFAULT_STEPS) -> Iterator[tuple[str, str]]:
    """Yield the steps of `canonicalise` that change the URL, each with what it leaves: last what that returns."""
    parts = _split(url)
    if parts is None:
        return
    for name, step in STEPS:
        before = url
        if name in steps:
            step(parts)
            url = parts.url()
        if url != before:
            yield name, url


def _split(url: str) -> _Parts | None:
    match = _SPLIT.match(url)
    if match is None:
        return None
    return _Parts(match[1], match[2], match[3], match[4] or "", match[5], match[6], match[7])


def _clean_pattern() -> re.Pattern[str]:
    """Return what no default step changes: most URLs are found to be canonical by this one match."""
    kept_octet = r"%(?:[01][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[89A-F][0-9A-F])"
    unwanted = "|".join(f"[{first}{first.upper()}](?i:{rest})" for first, rest in _unwanted_by_first_letter().items())
    pair = rf"(?!{unwanted})(?:[A-Za-z0-9_.~!$'()*+,;:@/?=-]++|{kept_octet})*+"
    return re.compile(
        rf"https?://[a-z0-9.-]*[a-z0-9](?::[0-9]+)?"
        rf"/(?:[A-Za-z0-9_.~!$&'*+,:@/=-]++|{kept_octet})*+"
        rf"(?:\?(?!\Z){pair}(?:&{pair})*)?\Z"
    )


def _unwanted_by_first_letter() -> dict[str, str]:
    """Return patterns of the rest of all unwanted names by their first letter, which rules nearly all of them out."""
    rests: dict[str, list[str]] = {}
    for prefix in TRACKING_PREFIXES:
        rests.setdefault(prefix[0], []).append(re.escape(prefix[1:]))
    for name in sorted(TRACKING_NAMES | SESSION_NAMES | SESSION_NAMES_OF_HEX):
        rests.setdefault(name[0], []).append(re.escape(name[1:]) + r"(?:[=&]|\Z)")
    return {first: "|".join(patterns) for first, patterns in rests.items()}


_CLEAN = _clean_pattern()
