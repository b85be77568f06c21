from io import BytesIO

import pytest
from pypdf import PdfWriter

from batchcrawl.web.document import Head, Reading, read_document
from batchcrawl.web.found import RESOURCE_KINDS, Wanted
from batchcrawl.web.page import Page

URL = "http://example.org/a/b"
READING = Reading(links_max=100, wanted=Wanted(product_token="examplebot"))


def read(
    body: bytes | str,
    content_type: str | None = "text/html; charset=utf-8",
    *headers: tuple[str, str],
    reading: Reading = READING,
) -> Page:
    octets = body if isinstance(body, bytes) else body.encode()
    return read_document(octets, Head(url=URL, content_type=content_type, headers=headers), reading)


@pytest.mark.parametrize(
    ("content_type", "body", "media_type"),
    [
        ("Text/HTML; charset=x", b"x", "text/html"),
        ("application/json", b"<html>", "application/json"),
        (None, b" <!DOCTYPE html>", "text/html"),
        ("", b"<titles>x", "text/plain"),
        ("nonsense", b"<title >x", "text/html"),
        ("application/unknown", b"%PDF-1.4", "application/pdf"),
        (None, b"<?xml version='1.0'?><x/>", "text/xml"),
        (None, b"a text", "text/plain"),
        (None, b"\x7fELF\x01\x01", "application/octet-stream"),
        (None, b"\xff\xfea\0", "text/plain"),
        (None, b"", "text/plain"),
    ],
)
def test_a_body_has_the_type_of_its_header_or_of_its_bytes(
    content_type: str | None, body: bytes, media_type: str
) -> None:
    assert read(body, content_type).media_type == media_type


def test_plain_text_is_text_without_markup() -> None:
    page = read("One  line\r\n\r\n\tand <b>another</b> \n".encode("utf-16"), "text/plain")
    assert (page.text, page.words, page.charset) == ("One line\nand <b>another</b>", 4, "utf-16le")
    assert page.tokens["line"] == 1


def test_plain_text_declares_no_charset() -> None:
    assert read("<meta charset=koi8-r>ä".encode(), "text/plain").charset == "utf-8"


@pytest.mark.parametrize(
    "body",
    [
        "<?xml version='1.0'?>\n<!-- x --><html xmlns='x'><a href='c'>x</a></html>",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><a href="c">x</a></html>',
    ],
)
def test_xml_whose_root_is_html_is_a_page(body: str) -> None:
    assert [link.url for link in read(body, "application/xml").links] == ["http://example.org/a/c"]


def test_of_another_type_only_the_type_is_told() -> None:
    page = read("<a href=x>x</a>", "image/svg+xml")
    assert (page.media_type, page.links, page.text, page.charset) == ("image/svg+xml", [], "", None)


def test_links_of_the_header_come_first_and_know_no_base() -> None:
    page = read("<base href=/z/><a href=x>x</a>", "text/html", ("Link", '<y>; rel="next", </s>; rel=stylesheet'))
    assert [(link.kind, link.url, link.rel, link.position) for link in page.links] == [
        ("header", "http://example.org/a/y", ("next",), 0),
        ("a", "http://example.org/z/x", (), 1),
    ]


def test_a_canonical_of_the_header_counts_where_the_page_names_none() -> None:
    header = ("link", "</h>; rel=canonical")
    assert read("%PDF-", "application/pdf", header).canonical == "http://example.org/h"
    assert read("<link rel=canonical href=/p>", "text/html", header).canonical == "http://example.org/p"


def test_what_the_header_asks_of_crawlers_is_added() -> None:
    page = read(
        "<meta name=robots content=noindex><meta name=ExampleBot content=noarchive><meta name=other content=x>",
        "text/html",
        ("X-Robots-Tag", "examplebot: nofollow, noindex"),
        ("x-robots-tag", "otherbot: none"),
        ("x-robots-tag", "unavailable_after: 2010-06-25T00:00:00Z"),
    )
    assert page.robots == ("noindex", "noarchive", "nofollow", "unavailable_after: 2010-06-25t00:00:00z")
    assert page.unavailable_at == 1277424000


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=de><meta http-equiv=content-language content=fr>", "en", "de"),
        ("<html xml:lang=de>", "en", "de"),
        ("<meta http-equiv=Content-Language content=' fr '>", "en", "fr"),
        ("<meta http-equiv=content-language content='fr, de'>", "en", "en"),
        ("<html lang=''>", "en", "en"),
        ("", "en, de", None),
        ("", None, None),
    ],
)
def test_the_language_is_that_of_the_page_then_of_the_header(html: str, header: str | None, language: str) -> None:
    headers = [] if header is None else [("Content-Language", header)]
    assert read(html, "text/html", *headers).language == language


def test_resources_are_links_where_they_are_wanted() -> None:
    html = """<img src=a srcset="b 1x, c 2x"><image src=d><source srcset=e><video src=f poster=g></video><audio src=h>
        <script src=i></script><object data=j></object><embed src=k><link rel=stylesheet href=l><link rel=icon href=m>
        <img src=""><img src=" ">"""
    assert read(html).links == []
    links = read(html, reading=Reading(links_max=100, wanted=Wanted(resources=RESOURCE_KINDS))).links
    assert [f"{link.kind} {link.url[-1]}" for link in links] == [
        "img a", "img b", "img c", "img d", "source e", "video f", "video g", "audio h", "script i", "object j",
        "embed k", "stylesheet l", "icon m",
    ]  # fmt: skip


def test_only_the_kinds_that_are_named_are_links() -> None:
    reading = Reading(links_max=100, wanted=Wanted(resources=frozenset({"img"})))
    assert [link.kind for link in read("<script src=a></script><img src=b>", reading=reading).links] == ["img"]


def test_a_pdf_without_text_is_a_page() -> None:
    writer = PdfWriter()
    writer.add_blank_page(width=100, height=100)
    writer.add_metadata({"/Title": " A  title "})
    out = BytesIO()
    writer.write(out)
    page = read(out.getvalue(), "application/pdf")
    assert (page.media_type, page.title, page.text, page.failed) == ("application/pdf", "A title", "", None)


def test_the_text_of_a_pdf_is_read() -> None:
    page = read(pdf_with("(Hello, PDF) Tj 0 -20 Td (world) Tj"), "application/pdf")
    assert (page.text, page.words) == ("Hello, PDF\nworld", 3)


@pytest.mark.parametrize("body", [b"", b"%PDF-1.4", b"%PDF-1.4\nnonsense\n%%EOF"])
def test_a_broken_pdf_says_so(body: bytes) -> None:
    assert (read(body, "application/pdf").failed or "").startswith("the PDF cannot be read: ")


def pdf_with(text: str) -> bytes:
    """Return a PDF of one page with text operators in it."""
    stream = f"BT /F 12 Tf 10 100 Td {text} ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, starts = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    end = f"xref\n0 6\n0000000000 65535 f \n{table}trailer<</Size 6/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF\n"
    return (out + end).encode("ascii")
