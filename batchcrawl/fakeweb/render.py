"""Pages as HTML text, and the charsets that they are written in."""

from dataclasses import dataclass
from html import escape

DECOYS = """\
<!-- <a href="/never/comment.html">never</a> -->
<script>var never = '<a href="/never/script.html">never</a>';</script>
<p><a href="mailto:somebody@example.test">write</a> <a href="javascript:void(0)">do</a>
<a href="ftp://files.example.test/a.txt">take</a> <a href="http://[broken/">broken</a> <a name="top">top</a></p>
"""
"""What looks like a link and is none that a crawler may follow."""


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How a page is written down: its words, its bytes, and where the charset is told."""

    charset: str
    """The name that a browser gives to it (WHATWG label)."""
    codec: str
    alphabet: str
    language: str
    header: str | None = None
    """The charset in Content-Type."""
    meta: str | None = None
    """The charset in a meta element."""


PLAIN_WRITING = Writing(charset="utf-8", codec="utf-8", alphabet="latin", language="en", header="utf-8")
WRITINGS = (
    Writing(charset="utf-8", codec="utf-8", alphabet="western", language="de", meta="utf-8"),
    Writing(charset="utf-8", codec="utf-8-sig", alphabet="cyrillic", language="ru"),
    Writing(charset="windows-1252", codec="cp1252", alphabet="western", language="de", header="windows-1252"),
    Writing(charset="windows-1252", codec="cp1252", alphabet="western", language="fr", meta="iso-8859-1"),
    Writing(charset="windows-1251", codec="cp1251", alphabet="cyrillic", language="ru", meta="windows-1251"),
    Writing(charset="koi8-r", codec="koi8_r", alphabet="cyrillic", language="ru", header="koi8-r"),
    Writing(charset="shift_jis", codec="shift_jis", alphabet="kana", language="ja", meta="shift_jis"),
    Writing(charset="utf-16le", codec="utf-16-le", alphabet="kana", language="ja", header="utf-16le"),
)
"""The ways in which the fault `charsets` writes pages."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """A link as it stands in a page."""

    href: str
    text: str
    follow: bool


@dataclass(frozen=True, kw_only=True)
class Document:
    """A page before it becomes bytes."""

    writing: Writing
    title: str
    paragraphs: list[str]
    anchors: list[Anchor]
    base: str | None = None
    refresh: str | None = None
    """The URL of a meta refresh."""
    decoys: bool = False
    look: str = "page"
    """The class of the body element; no part of the text."""


def html_bytes(document: Document) -> bytes:
    """Return a page as it is sent, before any content coding."""
    return html_text(document).encode(document.writing.codec, errors="xmlcharrefreplace")


def html_text(document: Document) -> str:
    """Return a page as text: half of the paragraphs, the links as a list, the other half."""
    half = (len(document.paragraphs) + 1) // 2
    parts = [_head(document), f'<body class="{document.look}">\n<h1>{escape(document.title)}</h1>\n']
    parts += [f"<p>{escape(text, quote=False)}</p>\n" for text in document.paragraphs[:half]]
    parts += ["<ul>\n", *map(_item, document.anchors), "</ul>\n"]
    if document.decoys:
        parts.append(DECOYS)
    parts += [f"<p>{escape(text, quote=False)}</p>\n" for text in document.paragraphs[half:]]
    parts.append("</body>\n</html>\n")
    return "".join(parts)


def _head(document: Document) -> str:
    writing = document.writing
    lines = ["<!DOCTYPE html>", f'<html lang="{writing.language}">', "<head>"]
    if writing.meta is not None:
        lines.append(f'<meta charset="{writing.meta}">')
    lines.append(f"<title>{escape(document.title)}</title>")
    if document.base is not None:
        lines.append(f'<base href="{escape(document.base)}">')
    if document.refresh is not None:
        lines.append(f'<meta http-equiv="refresh" content="0; url={escape(document.refresh)}">')
    return "\n".join([*lines, "</head>", ""])


def _item(anchor: Anchor) -> str:
    rel = "" if anchor.follow else ' rel="nofollow"'
    return f'<li><a href="{escape(anchor.href)}"{rel}>{anchor.text}</a></li>\n'
