import base64
import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.charset import charset_of_header, decode, prescan
from batchcrawl.web.encodings import _LABELS, decode_as, encoding_of_label, python_codec

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "html5lib_encoding.json").read_text(encoding="utf-8")
)


def declared(html: bytes) -> str:
    if html.startswith(codecs.BOM_UTF8):
        return decode(html, None)[1]
    return prescan(html[:16_384]) or "windows-1252"


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_prescan_finds_what_browsers_find(number: int) -> None:
    case = CASES[number]
    assert declared(base64.b64decode(case["html_b64"])) == case["encoding"].lower()


def test_the_byte_order_mark_wins_over_the_header() -> None:
    assert decode("\ufeffä".encode(), "text/html; charset=iso-8859-1") == ("ä", "utf-8")
    assert decode(b"\xff\xfe" + "ä".encode("utf-16-le"), None) == ("ä", "utf-16le")
    assert decode(b"\xfe\xff" + "ä".encode("utf-16-be"), None) == ("ä", "utf-16be")


def test_the_header_wins_over_the_meta_element() -> None:
    body = b'<meta charset="utf-8">\xe4'
    assert decode(body, "text/html; charset=ISO-8859-1")[1] == "windows-1252"


def test_an_unknown_charset_of_the_header_counts_as_none() -> None:
    assert decode(b'<meta charset="koi8-r">', "text/html; charset=none")[1] == "koi8-r"


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;Charset="GB2312"', "gbk"),
        ("text/html; charset=latin1 ; x=y", "windows-1252"),
        ("text/html; charset='latin1'", None),
        ("text/html; charset = latin1", None),
        ("text/html; charset=latin1 x", None),
        ("text/html; charset=", None),
        ("text/html", None),
        ("", None),
        (None, None),
    ],
)
def test_the_header_names_an_encoding_by_its_label(content_type: str | None, encoding: str | None) -> None:
    assert charset_of_header(content_type) == encoding


def test_an_xml_declaration_counts_where_no_meta_does() -> None:
    assert prescan(b'<?xml version="1.0" encoding="windows-1251"?><html>') == "windows-1251"
    assert prescan(b'<?xml version="1.0" encoding="windows-1251"?><meta charset=koi8-r>') == "koi8-r"


def test_undeclared_utf_8_is_found_even_if_cut() -> None:
    assert decode("<p>größe".encode(), None) == ("<p>größe", "utf-8")
    assert decode("<p>ö".encode()[:-1], None) == ("<p>\ufffd", "utf-8")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe und Übermut tun selten gut. Schöne Grüße aus München. ", "windows-1252"),
        ("Привет, как дела? Это страница на русском языке. ", "windows-1251"),
        ("Привет, как дела? Это страница на русском языке. ", "koi8-r"),
        ("これは日本語のページです。文字コードを判定します。", "shift_jis"),
        ("これは日本語のページです。文字コードを判定します。", "euc-jp"),
        ("한국어 웹 페이지입니다. 문자 인코딩을 감지합니다. ", "euc-kr"),
    ],
)
def test_an_undeclared_encoding_is_found_by_its_bytes(text: str, encoding: str) -> None:
    body = f"<p>{text * 30}</p>".encode(python_codec(encoding))
    assert decode(body, None) == (f"<p>{text * 30}</p>", encoding)


@pytest.mark.parametrize("encoding", _LABELS)
def test_every_encoding_of_the_web_can_be_decoded(encoding: str) -> None:
    assert encoding_of_label(encoding) == encoding
    assert isinstance(decode_as(bytes(range(256)), encoding), str)


@pytest.mark.parametrize(
    "encoding", ["gbk", "big5", "euc-jp", "shift_jis", "euc-kr", "iso-2022-jp", "ibm866", "macintosh"]
)
def test_ascii_means_itself_in(encoding: str) -> None:
    assert decode_as(b"<a href=x>", encoding) == "<a href=x>"


def test_windows_1252_has_controls_where_python_has_nothing() -> None:
    assert decode_as(b"\x80\x81", "windows-1252") == "€\x81"


def test_labels_are_stripped_and_taken_in_any_case() -> None:
    assert encoding_of_label(" \tUTF8\n") == "utf-8"
    assert encoding_of_label("utf-7") is None


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=40)))
def test_any_bytes_are_decoded(body: bytes, content_type: str | None) -> None:
    text, encoding = decode(body, content_type)
    assert encoding_of_label(encoding) == encoding
    text.encode("utf-8")


@given(
    st.lists(
        st.sampled_from([b"<meta ", b"charset", b"=", b'"', b"'", b">", b"utf-8", b"<!--", b"-->", b"/", b"<?", b" "])
    )
)
def test_any_markup_is_prescanned(parts: list[bytes]) -> None:
    assert prescan(b"".join(parts)) in {None, "utf-8"}
