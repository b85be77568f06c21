"""From the bytes of a page to its text, as a browser decides (HTML standard, section 13.2.3)."""

import codecs
import re
from collections.abc import Callable
from html import unescape

from batchcrawl.web.encodings import decode_as, encoding_of_label

PRESCAN_BYTES = 16_384
"""More than the 1024 of the standard, since browsers look on through the head of a page."""
_SAMPLE_BYTES = 4096
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_DEFAULT = "windows-1252"
_ISO_2022_JP = "iso-2022-jp"
_JAPANESE = re.compile(rb"\x1b\$[@B]")


def decode(body: bytes, content_type: str | None) -> tuple[str, str]:
    """Return the text of a page and the name of its encoding.

    In this order: byte order mark, charset of the Content-Type header, what the first 16 KiB declare, UTF-8 if the
    bytes are, detection on a sample, windows-1252, which is also the name for nothing but ASCII. The mark is no part
    of the text; malformed bytes become U+FFFD.
    """
    text, name, _ = _decode(body, content_type, declared=prescan)
    return text, name


def decode_plain(body: bytes, content_type: str | None) -> tuple[str, str]:
    """Return the text of a body that is no page, and the name of its encoding: as `decode`, but nothing is declared."""
    text, name, _ = _decode(body, content_type, declared=_nothing)
    return text, name


def charset_evidence(body: bytes, content_type: str | None, *, is_page: bool) -> str:
    """Return by what the encoding is known that `decode` names of a page, or `decode_plain` of what is none."""
    return _decode(body, content_type, declared=prescan if is_page else _nothing)[2]


def _nothing(head: bytes) -> str | None:
    return None


def _decode(body: bytes, content_type: str | None, *, declared: Callable[[bytes], str | None]) -> tuple[str, str, str]:
    """Return the text, the name of its encoding, and by what that is known."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return decode_as(body[len(mark) :], name), name, "byte order mark"
    if (encoding := charset_of_header(content_type)) is not None:
        return decode_as(body, encoding), encoding, "charset of Content-Type"
    if (encoding := declared(body[:PRESCAN_BYTES])) is not None:
        return decode_as(body, encoding), encoding, "declaration in the page"
    if body.isascii():
        encoding = _ISO_2022_JP if _JAPANESE.search(body) else _DEFAULT
        return decode_as(body, encoding), encoding, "nothing but ASCII"
    try:
        text, read = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError as error:
        encoding = _detect(body, error.start)
        return decode_as(body, encoding), encoding, "statistics of its bytes"
    return (text if read == len(body) else text + "\ufffd"), "utf-8", "its bytes are UTF-8"


def charset_of_header(content_type: str | None) -> str | None:
    """Return the encoding that the charset parameter of a Content-Type names, or None."""
    found = _CHARSET_PARAMETER.search(content_type or "")
    return encoding_of_label(found[1].strip('"')) if found else None


_CHARSET_PARAMETER = re.compile(r";\s*charset=(\"[^\"]*\"|[^;,]*)", re.IGNORECASE)


def xml_encoding(body: bytes, content_type: str | None) -> tuple[str, int]:
    """Return the name of the encoding of an XML or plain text document, and the length of its byte order mark.

    In the order of RFC 7303: mark, charset of the Content-Type header, XML declaration; UTF-8 where nothing says more.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name, len(mark)
    if body.startswith((b"<\0", b"\0<")):
        return ("utf-16be" if body[0] == 0 else "utf-16le"), 0
    declaration = _XML_ENCODING.match(body[:PRESCAN_BYTES].lstrip())
    declared = _usable(encoding_of_label(declaration[2].decode("latin-1"))) if declaration else None
    encoding = charset_of_header(content_type) or declared or "utf-8"
    return ("utf-8" if encoding == "replacement" else encoding), 0


def prescan(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a page declare in a meta element or an XML declaration, or None.

    This is "prescan a byte stream to determine its encoding" of the HTML standard.
    """
    if head.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return "utf-16le" if head[0] else "utf-16be"
    if b"charset" in head.lower():
        found = _prescan_meta(head)
        if found is not None:
            return found
    declaration = _XML_ENCODING.match(head)
    return _usable(encoding_of_label(declaration[2].decode("latin-1"))) if declaration else None


_XML_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*(['\"])([^'\">\s]*)\1")
_SPACE = rb"\t\n\f\r "
_META = re.compile(rb"<meta(?=[" + _SPACE + rb"/])", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z][^" + _SPACE + rb">]*")
_ATTRIBUTE = re.compile(
    rb"[" + _SPACE + rb"/]*+(?:(?P<end>>)|(?P<name>[^" + _SPACE + rb"/>][^" + _SPACE + rb"/=>]*+)"
    rb"(?:[" + _SPACE + rb"]*+=[" + _SPACE + rb"]*+"
    rb"(?:\"(?P<double>[^\"]*+)\"|'(?P<single>[^']*+)'|(?P<open>[\"'])|(?P<bare>[^" + _SPACE + rb">]*+)))?)"
)


def _prescan_meta(head: bytes) -> str | None:
    at = 0
    while (at := head.find(b"<", at)) >= 0:
        meta = _META.match(head, at)
        tag = meta or _TAG.match(head, at)
        if tag is not None:
            attributes, at = _attributes(head, tag.end())
            if at < 0:
                return None
            encoding = _declared(attributes) if meta else None
            if encoding is not None:
                return encoding
            continue
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
        elif head[at + 1 : at + 2] in {b"!", b"/", b"?"}:
            end = head.find(b">", at)
        else:
            at += 1
            continue
        if end < 0:
            return None
        at = end + 1
    return None


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag and where it ends; -1 where the bytes end before."""
    attributes: dict[bytes, bytes] = {}
    while (found := _ATTRIBUTE.match(head, at)) is not None and found["open"] is None:
        at = found.end()
        if found["end"]:
            return attributes, at
        value = found["double"] or found["single"] or found["bare"] or b""
        attributes.setdefault(found["name"].lower(), value)
    return {}, -1


def _declared(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _usable(encoding_of_label(attributes[b"charset"].decode("latin-1")))
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    return _usable(_charset_of_content(attributes.get(b"content", b"").decode("latin-1")))


def _charset_of_content(content: str) -> str | None:
    found = _CONTENT_CHARSET.search(unescape(content))
    return encoding_of_label(found["double"] or found["single"] or found["bare"] or "") if found else None


_CONTENT_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*=[\t\n\f\r ]*"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\t\n\f\r ;\"'][^\t\n\f\r ;]*))",
    re.IGNORECASE,
)


def _usable(encoding: str | None) -> str | None:
    # What declares itself in ASCII cannot be UTF-16, and x-user-defined is not for pages.
    if encoding in {"utf-16be", "utf-16le"}:
        return "utf-8"
    return _DEFAULT if encoding == "x-user-defined" else encoding


def _detect(body: bytes, first_foreign: int) -> str:
    """Return the encoding found by statistics of the bytes around the first that is no UTF-8."""
    start = max(0, first_foreign - _SAMPLE_BYTES // 4)
    sample = _TAGS.sub(b" ", body[start : start + _SAMPLE_BYTES])
    # Few pages need it, and its import takes as long as all others of a command together.
    from bs4.dammit import EncodingDetector  # noqa: PLC0415

    for guess in EncodingDetector(sample, is_html=True).encodings:
        encoding = encoding_of_label(_GUESSES.get(guess.lower(), guess))
        if encoding is not None and encoding not in _NOT_DETECTED:
            # Western text often fits several tables equally well.
            return _DEFAULT if decode_as(sample, encoding) == decode_as(sample, _DEFAULT) else encoding
    return _DEFAULT


_NOT_DETECTED = frozenset({"utf-8", "utf-16le", "utf-16be", "replacement", _DEFAULT})

# Codecs of Python that the detector names, and their nearest label.
_GUESSES = {
    "cp932": "shift_jis",
    "shift_jis_2004": "shift_jis",
    "shift_jisx0213": "shift_jis",
    "euc_jp": "euc-jp",
    "euc_jis_2004": "euc-jp",
    "euc_jisx0213": "euc-jp",
    "cp949": "euc-kr",
    "euc_kr": "euc-kr",
    "gb18030": "gbk",
    "big5hkscs": "big5",
    "cp950": "big5",
    "koi8_r": "koi8-r",
    "koi8_u": "koi8-u",
    "iso8859_2": "iso-8859-2",
    "iso8859_5": "iso-8859-5",
    "iso8859_7": "iso-8859-7",
    "mac_cyrillic": "x-mac-cyrillic",
}
_TAGS = re.compile(rb"<[^<>]*>")
