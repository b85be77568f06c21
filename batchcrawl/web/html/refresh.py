"""The content of a meta refresh (HTML standard, "shared declarative refresh steps")."""

import re
from typing import NamedTuple

_SECONDS_DIGITS_MAX = 9
_SPACE = r"\t\n\f\r "
_HEAD = re.compile(rf"[{_SPACE}]*+(?:([0-9]++)|(?=\.))[0-9.]*+(?:\Z|(?=[;,{_SPACE}]))[{_SPACE}]*+[;,]?[{_SPACE}]*+")
_URL_PREFIX = re.compile(rf"url[{_SPACE}]*+=[{_SPACE}]*+", re.IGNORECASE)


class Refresh(NamedTuple):
    """A meta refresh."""

    seconds: int
    target: str
    """Not yet resolved; empty for the document itself."""


def parse_refresh(content: str) -> Refresh | None:
    """Return what a content attribute of `http-equiv=refresh` says, or None where browsers ignore it."""
    head = _HEAD.match(content)
    if head is None:
        return None
    seconds = int((head[1] or "0")[:_SECONDS_DIGITS_MAX])
    target = content[head.end() :]
    prefix = _URL_PREFIX.match(target)
    if prefix is None and target[:1] in {"u", "U"}:
        return Refresh(seconds, target)  # taken as a whole, quotes and all
    target = target[prefix.end() :] if prefix else target
    quote = target[:1]
    if quote in {"'", '"'}:
        target = target[1:].partition(quote)[0]
    return Refresh(seconds, target)
