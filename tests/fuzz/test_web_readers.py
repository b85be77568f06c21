"""What reads bytes of the web takes any bytes: no exception, and never more out than its limits let through.

Small here; `make fuzz` tries as many more inputs as FUZZ_EXAMPLES says.
"""

from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.cache_control import fresh_s
from batchcrawl.web.canonical import STEPS, canonicalise
from batchcrawl.web.charset import decode, decode_plain, xml_encoding
from batchcrawl.web.codings import decode_body
from batchcrawl.web.dates import parse_date
from batchcrawl.web.directives import directives_of_headers, directives_of_meta, unavailable_at
from batchcrawl.web.document import Head, Reading, read_document
from batchcrawl.web.domains import Domains, bundled_list
from batchcrawl.web.fingerprint import Fingerprinter
from batchcrawl.web.html.parse import parse_page
from batchcrawl.web.html.refresh import parse_refresh
from batchcrawl.web.html.srcset import srcset_urls
from batchcrawl.web.link_header import parse_link_headers
from batchcrawl.web.listings.parse import ListingLimits, parse_listing
from batchcrawl.web.robots.rules import RobotsRules, decode_robots
from batchcrawl.web.urls import Base, host_key, host_name, parse_url
from tests.fuzz.inputs import built_of, examples

URL = "http://example.org/a/b?c=d"
LINKS_MAX = 50
FINGERPRINTER = Fingerprinter(Domains(bundled_list()))
PIECES_OF_URLS = (
    "http://",
    "https:",
    "//",
    "/",
    "..",
    "%",
    "%2e",
    "@",
    ":",
    "[::1]",
    "?",
    "#",
    "\\",
    "xn--",
    "é",
    "\0",
)
PIECES_OF_HTML = (
    *("<a href=", "<base href='//x/'>", "<!--", "-->", "<!DOCTYPE", "<svg>", "<math>", "<template>", "<noscript>"),
    *(
        "<frameset>",
        "<script>",
        "</script>",
        "<plaintext>",
        "<title>",
        "<meta charset=utf-16>",
        "<meta http-equiv=refresh",
    ),
    *('content="0;url=/x"', "&#x110000;", "&amp", ">", "<", "'", '"', "=", "]]>", "<![CDATA[", "</", "<p>", "word"),
)
PIECES_OF_XML = (
    *("<?xml version='1.0' encoding='utf-16'?>", "<urlset>", "<url>", "<loc>", "</loc>", "<sitemapindex>", "<sitemap>"),
    *("<lastmod>2026-01-01", "<rss>", "<item>", "<link>", "<feed>", "<entry>", "<link href='/x'/>", "<!ENTITY a 'b'>"),
    *(
        "&a;",
        "&lt;",
        "<![CDATA[",
        "]]>",
        "<!--",
        "<!DOCTYPE x [",
        "]>",
        "http://example.org/",
        "xmlns:a='b'",
        "<a:loc>",
    ),
)
PIECES_OF_ROBOTS = (
    "User-agent: ",
    "*",
    "Disallow:",
    "Allow: /",
    "\n",
    "\r",
    "$",
    "%",
    "Crawl-delay: 1e9",
    "Sitemap:",
    "#",
)
HTML = st.binary(max_size=2000) | built_of(PIECES_OF_HTML).map(str.encode)
CODINGS = st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br", "x-gzip", "identity", ""])


@examples
@given(built_of(PIECES_OF_URLS), built_of(PIECES_OF_URLS))
def test_urls(text: str, relative: str) -> None:
    for found in (parse_url(text), parse_url(relative, URL), Base(URL).join(relative)):
        if found is None or not found.startswith(("http://", "https://")):
            continue
        assert parse_url(found) == found
        canonical = canonicalise(found, frozenset(name for name, _ in STEPS))
        assert len(FINGERPRINTER.of(canonical)) == 16
        assert host_name(host_key(canonical))
    base = parse_url(text)
    if base is not None:
        assert Base(base).join(relative) == parse_url(relative, base)


@examples
@given(st.binary(max_size=2000) | built_of(PIECES_OF_ROBOTS).map(str.encode), built_of(PIECES_OF_URLS))
def test_robots(body: bytes, path: str) -> None:
    rules = RobotsRules(decode_robots(body))
    url = parse_url(path, URL) or URL
    assert rules.allowed("examplebot", url) == rules.deciding_line("examplebot", url).allowed
    delay_s = rules.crawl_delay("examplebot")
    assert delay_s is None or delay_s >= 0
    assert len(rules.sitemaps()) <= len(body)


@examples
@given(st.binary(max_size=2000) | built_of(PIECES_OF_XML).map(str.encode), st.booleans())
def test_sitemaps_and_feeds(body: bytes, named: bool) -> None:
    limits = ListingLimits(bytes_max=1000, entries_max=20)
    page = parse_listing(body, url=URL, content_type="application/xml", named=named, limits=limits)
    assert page is None or len(page.links) <= 2 * limits.entries_max


@examples
@given(
    st.binary(max_size=2000) | built_of(PIECES_OF_HTML).map(str.encode), st.none() | built_of(("charset=", "utf-16"))
)
def test_charsets(body: bytes, content_type: str | None) -> None:
    for text, charset in (decode(body, content_type), decode_plain(body, content_type)):
        assert len(text) <= len(body) + 1
        assert charset == charset.lower()
    xml_encoding(body, content_type)


@examples
@given(HTML)
def test_html(body: bytes) -> None:
    page = parse_page(body, url=URL, content_type=None, links_max=LINKS_MAX)
    assert len(page.links) <= LINKS_MAX + 1
    assert len(page.text) <= 2 * len(body) + 10
    page.text.encode()
    assert all(parse_url(link.url) == link.url for link in page.links)


@examples
@given(
    st.binary(max_size=2000),
    st.sampled_from([None, "text/html", "text/plain", "application/pdf", "image/png", "x;;charset"]),
    st.lists(built_of(("<", ">", ";", "rel=next", '"', ",", "noindex", ":", "/x")), max_size=4),
)
def test_documents_and_their_headers(body: bytes, content_type: str | None, values: list[str]) -> None:
    headers = [(name, value) for value in values for name in ("Link", "X-Robots-Tag", "Content-Language")]
    read_document(body, Head(url=URL, content_type=content_type, headers=headers), Reading(links_max=LINKS_MAX))
    parse_link_headers(values)
    unavailable_at(
        [*directives_of_headers(values, product_token="examplebot"), *map("".join, map(directives_of_meta, values))]
    )
    kept_s = fresh_s(values, values[0] if values else None)
    assert kept_s is None or kept_s >= 0


@examples
@given(st.binary(max_size=2000), CODINGS)
def test_content_codings(body: bytes, coding: str) -> None:
    plain = decode_body(body, coding, bytes_max=10_000)
    assert plain is None or len(plain) <= 10_000


@examples
@given(
    built_of(
        ("2026", "-", "01", "T", "Z", "+14:00", " ", "Mon, ", "Jan", ":", "9", ";", "url=", "0", "'", "1x", "2w", ",")
    )
)
def test_dates_refreshes_and_srcsets(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.at <= found.until
    parse_refresh(text)
    assert len(list(srcset_urls(text))) <= len(text)
