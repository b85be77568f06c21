"""URLs by the WHATWG URL standard (parsing and serialisation by ada).

A page names a URL in many ways; `parse_url` gives its one serialisation, as a browser would ask for it. Its identity
in a crawl is looser: `canonicalise`, told in `canonical`.
"""

import re

from ada_url import join_url, normalize_url

from batchcrawl.web.canonical import DEFAULT_STEPS, STEP_NAMES, canonicalise

__all__ = ["DEFAULT_STEPS", "STEP_NAMES", "Base", "canonicalise", "host_key", "host_name", "parse_url", "requested_url"]

_SURROGATES = re.compile("[\ud800-\udfff]")


def parse_url(text: str, base: str | None = None) -> str | None:
    """Return the WHATWG serialisation of a URL, or None where the standard says failure.

    `text` may be relative if `base`, itself a URL, is given. Any scheme is parsed. Lone surrogates count as U+FFFD,
    as in a browser.
    """
    try:
        return normalize_url(text) if base is None else join_url(base, text)
    except ValueError:
        pass
    if _SURROGATES.search(text) is None:
        return None
    return parse_url(_SURROGATES.sub("\ufffd", text), base)


def host_key(url: str) -> str:
    """Return scheme, host and port (where not the default) of a serialised http or https URL."""
    # The serialiser always writes a slash after the authority, and a host has at least one character.
    end = url.find("/", 8)
    key = url if end < 0 else url[:end]
    at = key.rfind("@")
    if at < 0:
        return key
    return key[: key.find("//") + 2] + key[at + 1 :]


def host_name(host: str) -> str:
    """Return the host name of a host key: no scheme, no port, an IPv6 address without its brackets."""
    name = host[host.find("//") + 2 :] if "//" in host else host
    if name.startswith("["):
        return name[1 : name.find("]")] if "]" in name else name[1:]
    return name.partition(":")[0]


def requested_url(url: str) -> str:
    """Return what is asked for and stored of a serialised URL: all but the fragment, which is the reader's alone."""
    return url.partition("#")[0]


class Base:
    """The URL that a page's links are resolved against.

    Does the same as `parse_url(text, base)`, faster where many links of one page are joined: a link that any parser
    would leave as it is does not go through the parser.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        plain = url.startswith(("http://", "https://")) and "@" not in url
        self.origin = host_key(url) if plain else None
        """Scheme, host and port; None of a base whose links all go through the parser."""
        self.document = url.partition("#")[0]
        self.folder = self.document.partition("?")[0].rpartition("/")[0] + "/"

    def join(self, text: str) -> str | None:
        """Return the serialisation of `text` resolved against this URL, or None for failure."""
        plain = _PLAIN.match(text)
        if plain is None or self.origin is None:
            return parse_url(text, self.url)
        if plain[1] is not None:
            return text
        if text[0] == "#":
            return self.document + text
        return (self.origin if text[0] == "/" else self.folder) + text


# What the parser leaves as it is. Left out, because it changes or judges them: hosts that might be an IPv4 address
# (last label starts with a digit) or an A-label (xn--), dot segments (a dot right behind a slash), and every percent
# sign (%2e is a dot).
_PLAIN = re.compile(
    r"""
    (?: (https?://(?![^/]*(?:--|\.\.))(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*)? /(?!/)
      | (?=[A-Za-z0-9_])(?![^/?\#]*:)
      | (?=\#)
    )
    (?:[A-Za-z0-9_~!$&'()*+,;=:@/-]++|(?<!/)\.)*+
    (?:\?[A-Za-z0-9_~!$&()*+,;=:@/?.-]*+)?
    (?:\#[A-Za-z0-9_~!$&'()*+,;=:@/?.-]*+)?
    \Z
    """,
    re.VERBOSE,
)
