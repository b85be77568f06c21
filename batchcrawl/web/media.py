"""What a body is: the type its header names, or, where there is none, what its first bytes look like."""

import re

HTML = "text/html"
PLAIN = "text/plain"
PDF = "application/pdf"
_UNKNOWN = "application/octet-stream"
_XHTML = "application/xhtml+xml"
_XML = frozenset({"text/xml", "application/xml"})
_HEAD_BYTES = 1445
"""As many as browsers look at (MIME Sniffing standard, "resource header")."""


def media_type_of(body: bytes, content_type: str | None) -> str:
    """Return the media type of a body, in lower case, without parameters.

    A header that names none, or says that it does not know, leaves it to the bytes (MIME Sniffing standard, section 7).
    """
    named = _TYPE.match(content_type or "")
    if named is not None and named[0].lower() not in _NOT_KNOWN:
        return named[0].strip().lower()
    head = body[:_HEAD_BYTES]
    if _HTML_START.match(head):
        return HTML
    if head.lstrip(_SPACE).startswith(b"<?xml"):
        return "text/xml"
    if head.startswith(b"%PDF-"):
        return PDF
    return PLAIN if head.startswith(_BOMS) or _BINARY.search(head) is None else _UNKNOWN


def is_html(body: bytes, media_type: str) -> bool:
    """Tell whether a body is read as HTML: by its type, or because the root of an XML document is `html`."""
    if media_type in {HTML, _XHTML}:
        return True
    return media_type in _XML and _HTML_ROOT.match(body[:_HEAD_BYTES]) is not None


_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)
_NOT_KNOWN = frozenset({"unknown/unknown", "application/unknown"})
_SPACE = b"\t\n\f\r "
_BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_BINARY = re.compile(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_HTML_START = re.compile(
    rb"[\t\n\f\r ]*+<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)
_HTML_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[\t\n\r ]++|<\?[^>]*+>|<!--.*?-->|<!doctype[^>\[]*+>)*+<(?:[\w-]+:)?html[\s>]",
    re.IGNORECASE | re.DOTALL,
)
