import base64
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.kind import UrlKind
from batchcrawl.web.listings.parse import ListingLimits, parse_listing
from batchcrawl.web.listings.sitemap import is_below
from batchcrawl.web.page import Page

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data" / "sitemaps.json").read_text("utf-8"))
URL = "http://example.org/sitemap.xml"
LIMITS = ListingLimits()
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
ENTRY = "<url><loc>http://example.org/{}</loc><lastmod>2026-11-30</lastmod></url>"


def listing(
    document: str | bytes,
    *,
    url: str = URL,
    content_type: str | None = "application/xml",
    named: bool = True,
    limits: ListingLimits = LIMITS,
) -> Page | None:
    body = document.encode() if isinstance(document, str) else document
    return parse_listing(body, url=url, content_type=content_type, named=named, limits=limits)


def urls(page: Page | None) -> list[str]:
    return [] if page is None else [link.url for link in page.links]


def read_case(case: dict[str, Any]) -> Page | None:
    """Read a case as strictly as it asks for."""
    body = base64.b64decode(case["content_b64"]) if "content_b64" in case else case["content"].encode()
    limits = ListingLimits(strict_namespace=case["strict_namespace"])
    page = listing(body, url=case["url"], content_type=case["content_type"], limits=limits)
    if page is not None and case["strict_location"] and case["type"] != "INDEX/index":
        page.links = [link for link in page.links if is_below(link.url, case["url"])]
    return page


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['test']}")
def test_the_urls_are_those_that_a_lenient_parser_finds(case: dict[str, Any]) -> None:
    page = read_case(case)
    assert set(urls(page)) == {entry["url"] for entry in case["urls"]}
    assert (page is None) == (case["error"] is not None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['test']}")
def test_the_dates_are_those_that_a_lenient_parser_finds(case: dict[str, Any]) -> None:
    page = read_case(case)
    found = {} if page is None else {link.url: link.lastmod and link.lastmod.at for link in page.links}
    told = {entry["url"]: entry["lastmod"] for entry in case["urls"]}
    assert found == {url: date and int(datetime.fromisoformat(date).timestamp()) for url, date in told.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['test']}")
def test_links_say_what_they_lead_to(case: dict[str, Any]) -> None:
    page = read_case(case)
    kinds = {"XML": "sitemap", "TEXT": "sitemap", "INDEX/index": "index", "RSS": "feed", "ATOM": "feed"}
    assert page is None or {link.kind for link in page.links} <= {kinds[case["type"]]}
    assert page is None or page.kind is (UrlKind.FEED if case["type"] in ("RSS", "ATOM") else UrlKind.SITEMAP)


def test_a_page_is_no_listing() -> None:
    page = "<!DOCTYPE html><html><body><pre><urlset><url><loc>http://example.org/</loc></url></urlset></pre>"
    assert listing(page, named=False, content_type="text/html") is None
    assert listing(page, named=True, content_type="text/html") is None


def test_other_xml_is_no_listing() -> None:
    assert listing("<?xml version='1.0'?><svg><url><loc>http://example.org/</loc></url></svg>") is None
    assert listing("") is None


def test_a_sitemap_is_known_by_its_root_element_whatever_its_name_and_type() -> None:
    page = listing(SITEMAP.format(ENTRY.format("a")), url="http://example.org/a.html", content_type=None, named=False)
    assert urls(page) == ["http://example.org/a"]


def test_a_list_of_addresses_is_a_sitemap_only_where_one_is_named() -> None:
    text = "\ufeff\r\nhttp://example.org/a\r\n  HTTPS://example.org/b \rno address\n\nhttp://example.org/c"
    assert urls(listing(text)) == ["http://example.org/a", "https://example.org/b", "http://example.org/c"]
    assert listing(text, named=False, content_type="text/plain") is None
    assert listing("A text about http://example.org/") is None


def test_what_stands_before_the_root_element_is_forgiven_where_a_sitemap_is_named() -> None:
    document = "<br />Warning: cannot modify header<?xml version='1.0'?>" + SITEMAP.format(ENTRY.format("a"))
    assert urls(listing(document)) == ["http://example.org/a"]
    assert listing(document, named=False) is None


def test_a_gzip_file_is_read_as_what_it_holds() -> None:
    body = gzip.compress(SITEMAP.format(ENTRY.format("a")).encode())
    assert urls(listing(body, named=False)) == ["http://example.org/a"]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_a_sitemap_in_any_encoding_is_read(codec: str) -> None:
    declaration = '<?xml version="1.0" encoding="iso-8859-1"?>' if codec == "iso-8859-1" else ""
    body = (declaration + SITEMAP.format(ENTRY.format("\u00e9"))).encode(codec)
    assert urls(listing(body, named=False, content_type=None)) == ["http://example.org/%C3%A9"]


def test_extensions_are_read_past() -> None:
    document = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:news="n"
        xmlns:xhtml="x"><url><news:news><news:loc>http://example.org/no</news:loc></news:news>
        <loc>http://example.org/a</loc><image:loc>http://example.org/no</image:loc>
        <xhtml:link rel="alternate" hreflang="de" href="http://example.org/no"/>
        <news:publication_date>2001-01-01</news:publication_date><other><loc>http://example.org/no</loc></other>
        <lastmod>2026-11-30T00:00:00Z</lastmod></url></urlset>"""
    page = listing(document)
    assert urls(page) == ["http://example.org/a"]
    assert page is not None
    assert page.links[0].lastmod == (1_796_000_400 - 1_796_000_400 % 86_400, 1_796_000_400 - 1_796_000_400 % 86_400)


def test_an_entry_that_is_there_twice_counts_once() -> None:
    assert urls(listing(SITEMAP.format(ENTRY.format("a") * 3))) == ["http://example.org/a"]


def test_addresses_of_other_schemes_are_counted() -> None:
    page = listing(SITEMAP.format("<url><loc>mailto:a@example.org</loc></url><url><loc>http://[</loc></url>"))
    assert page is not None
    assert page.rejected == {"scheme": 1, "invalid": 1}


def test_feeds_resolve_their_links_against_their_base() -> None:
    rss = "<rss><channel><item><link>/a</link></item></channel></rss>"
    assert urls(listing(rss, named=False)) == ["http://example.org/a"]
    atom = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://example.org/b/"><entry><link href="c"/></entry>
        <entry xml:base="http://example.org/d/"><link href="e"/><content type="xhtml"><link href="no"/></content>
        <source><link href="no"/></source></entry></feed>"""
    assert urls(listing(atom, named=False)) == ["http://example.org/b/c", "http://example.org/d/e"]


def test_feeds_tell_when_their_items_changed() -> None:
    rss = """<rss xmlns:dc="d"><item><link>a</link><pubDate>Mon, 30 Nov 2026 00:00:00 GMT</pubDate></item>
        <item><link>b</link><dc:date>2026-11-30T00:00:00Z</dc:date></item></rss>"""
    atom = """<feed><entry><published>2020-01-01T00:00:00Z</published><updated>2026-11-30T00:00:00Z</updated>
        <link href="a"/></entry></feed>"""
    found = [listing(rss), listing(atom)]
    dates = [link.lastmod and link.lastmod.at for page in found if page is not None for link in page.links]
    assert dates == [1_795_996_800] * 3


def test_no_more_entries_are_read_than_allowed() -> None:
    document = SITEMAP.format("".join(ENTRY.format(n) for n in range(20)))
    page = listing(document, limits=ListingLimits(entries_max=5))
    assert page is not None
    assert (len(page.links), page.cut) == (5, "entries")
    text = listing("\n".join(f"http://example.org/{n}" for n in range(20)), limits=ListingLimits(entries_max=5))
    assert text is not None
    assert (len(text.links), text.cut) == (5, "entries")
    whole = listing(document, limits=ListingLimits(entries_max=20))
    assert whole is not None
    assert (len(whole.links), whole.cut) == (20, None)


def test_no_more_bytes_are_read_than_allowed_also_of_a_bomb() -> None:
    bomb = gzip.compress((SITEMAP[:60] + ENTRY.format("a") + " " * 5_000_000).encode())
    page = listing(bomb, limits=ListingLimits(bytes_max=10_000))
    assert page is not None
    assert (urls(page), page.cut) == (["http://example.org/a"], "bytes")


def test_an_address_that_is_too_long_is_none() -> None:
    page = listing(SITEMAP.format(ENTRY.format("x" * 100_000) + ENTRY.format("a")))
    assert urls(page) == ["http://example.org/a"]


def test_the_signature_is_one_of_addresses_and_dates() -> None:
    one = listing(SITEMAP.format(ENTRY.format("a")))
    same = listing("<!-- made just now -->" + SITEMAP.format(ENTRY.format("a") + " "))
    other = listing(SITEMAP.format(ENTRY.format("a").replace("11-30", "11-29")))
    assert one is not None
    assert same is not None
    assert other is not None
    assert one.signature == same.signature != other.signature


def test_a_sitemap_speaks_of_its_folder() -> None:
    assert is_below("http://example.org/a/b", "http://example.org/a/s.xml?x=/y/")
    assert not is_below("http://example.org/b", "http://example.org/a/s.xml")
    assert not is_below("https://example.org/a/b", "http://example.org/a/s.xml")


TOKENS = [
    "<urlset>",
    "<sitemapindex>",
    "<rss>",
    "<feed>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<link>",
    "</link>",
    "<link/>",
    "<item>",
    "<entry>",
    "http://example.org/",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "<!--",
    "x",
]


@given(
    st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(TOKENS), max_size=20).map("".join).map(str.encode)),
    st.booleans(),
)
def test_any_document_is_taken(body: bytes, named: bool) -> None:
    listing(body, named=named)


def test_the_same_list_at_another_address_is_no_copy() -> None:
    one, other = listing(SITEMAP.format(ENTRY.format("a"))), listing(SITEMAP.format(ENTRY.format("a")), url=URL + "?")
    assert one is not None
    assert other is not None
    assert one.signature != other.signature
