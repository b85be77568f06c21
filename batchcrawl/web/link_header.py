"""The `Link` header field (RFC 8288, section 3)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

LINKS_MAX = 100
"""Links read of one answer; more is no header but a payload."""


class HeaderLink(NamedTuple):
    """A link of a header field, not yet resolved."""

    target: str
    rel: tuple[str, ...]
    """Lower case."""


def parse_link_headers(values: Iterable[str]) -> list[HeaderLink]:
    """Return the links of all `Link` fields of an answer in their order; what is malformed is left out.

    A link with an `anchor` speaks of another document than the answered one, and is left out (section 3.2).
    """
    links: list[HeaderLink] = []
    for value in values:
        at = 0
        while len(links) < LINKS_MAX and (start := _TARGET.match(value, at)) is not None:
            parameters, at = _parameters(value, start.end())
            if start[1] is not None and "anchor" not in parameters:
                links.append(HeaderLink(start[1].strip(), tuple(parameters.get("rel", "").lower().split())))
    return links


# What stands between two links is passed over in the second branch, so that a malformed link hides no other.
_TARGET = re.compile(r"[\s,]*+(?:<([^>]*+)>|[^\s,<][^,<]*+|<[^>]*+\Z)")
_PARAMETER = re.compile(
    r"\s*+;\s*+(?:(?P<name>[^\s=;,\"]++)\s*+(?:=\s*+(?:\"(?P<quoted>(?:[^\"\\]|\\.)*+)\"?|(?P<bare>[^\s;,\"]*+)))?)?",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _parameters(value: str, at: int) -> tuple[dict[str, str], int]:
    """Return the parameters of a link and where they end; of a name that is repeated the first counts."""
    parameters: dict[str, str] = {}
    while (found := _PARAMETER.match(value, at)) is not None:
        at = found.end()
        if found["name"] is not None:
            quoted = found["quoted"]
            text = found["bare"] or "" if quoted is None else _ESCAPED.sub(r"\1", quoted)
            parameters.setdefault(found["name"].lower(), text)
    return parameters, at
