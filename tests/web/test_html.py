import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.web.html.parse import Link, Page, parse_page

URL = "http://example.org/a/b.html"


def parsed(html: str | bytes, *, charset: str = "utf-8", links_max: int = 1000) -> Page:
    body = html if isinstance(html, bytes) else html.encode(charset)
    return parse_page(body, url=URL, content_type=f"text/html; charset={charset}", links_max=links_max)


def targets(html: str) -> list[tuple[str, str]]:
    return [(link.kind, link.url) for link in parsed(html).links]


def test_metadata_is_read() -> None:
    page = parsed("""
        <!doctype html><html lang=" de "><head><title> A
        title &amp; more </title>
        <meta name="Description" content="What  it is"><meta name=ROBOTS content="NoIndex, nofollow">
        <meta name=robots content=none>
        <link rel="Canonical" href="../c"></head><body>x""")
    assert (page.title, page.description, page.language) == ("A title & more", "What it is", "de")
    assert page.robots == ("noindex", "nofollow", "none")
    assert page.canonical == "http://example.org/c"
    assert page.charset == "utf-8"


def test_the_text_has_a_line_for_each_block() -> None:
    page = parsed("<h1>One</h1><p>Two <b>th</b>ree<br>four<ul><li>five<li>six</ul>seven")
    assert page.text == "One\nTwo three\nfour\nfive\nsix\nseven"
    assert page.words == 7


def test_what_is_not_visible_is_no_text() -> None:
    page = parsed(
        "<title>t</title><script>s</script><style>s</style><noscript>n</noscript><template>t</template><!-- c -->"
        "<iframe src=x>i</iframe>seen"
    )
    assert page.text == "seen"


def test_every_kind_of_link_is_taken() -> None:
    html = """<link rel="alternate" href=l1><link rel=next href=l2><link rel=stylesheet href=no><link rel=icon href=no>
        <a href=a1>x</a><map><area href=a2 alt="An area"></map><iframe src=i1></iframe>
        <noscript><a href=n1>y</a></noscript>
        <template><a href=no>z</a></template>"""
    assert targets(html) == [
        ("link", "http://example.org/a/l1"),
        ("link", "http://example.org/a/l2"),
        ("a", "http://example.org/a/a1"),
        ("area", "http://example.org/a/a2"),
        ("iframe", "http://example.org/a/i1"),
        ("a", "http://example.org/a/n1"),
    ]


def test_frames_are_links() -> None:
    assert targets("<frameset><frame src=f1><frame src=f2></frameset>") == [
        ("frame", "http://example.org/a/f1"),
        ("frame", "http://example.org/a/f2"),
    ]


def test_a_link_has_its_anchor_rel_and_position() -> None:
    page = parsed(
        '<a href="mailto:x">m</a><a href="/x" rel="NoFollow ugc"> some <b>bold</b>\n text</a><a href=/y><img></a>'
    )
    assert page.links == [
        Link("http://example.org/x", "a", "some bold text", ("nofollow", "ugc"), 1),
        Link("http://example.org/y", "a", None, (), 2),
    ]


def test_a_long_anchor_is_cut() -> None:
    anchor = parsed(f"<a href=x>{'word ' * 100}</a>").links[0].anchor
    assert anchor is not None
    assert 190 < len(anchor) <= 200


@pytest.mark.parametrize(
    ("href", "url"),
    [
        (" \n/x\t ", "http://example.org/x"),
        ("/a&#10;b", "http://example.org/ab"),
        ("//other.example/x", "http://other.example/x"),
        ("HTTPS://Other.Example", "https://other.example/"),
        ("?q=1&amp;r=2", "http://example.org/a/b.html?q=1&r=2"),
        ("#top", "http://example.org/a/b.html#top"),
        ("", "http://example.org/a/b.html"),
        ("/\u00e4?\u00e4", "http://example.org/%C3%A4?%C3%A4"),
        ("\\x\\y", "http://example.org/x/y"),
    ],
)
def test_a_link_is_resolved_as_browsers_do(href: str, url: str) -> None:
    assert targets(f'<a href="{href}">x</a>') == [("a", url)]


def test_the_first_base_with_an_href_counts_for_all_links() -> None:
    html = "<a href=1>x</a><base target=_top><base href=/deep/er/><base href=/no/><a href=2>y</a>"
    assert targets(html) == [("a", "http://example.org/deep/er/1"), ("a", "http://example.org/deep/er/2")]


@pytest.mark.parametrize("base", ["data:text/html,x", "javascript:x", "http://[", "http://a b/"])
def test_a_base_that_the_standard_refuses_is_no_base(base: str) -> None:
    assert targets(f'<base href="{base}"><a href=1>x</a>') == [("a", "http://example.org/a/1")]


def test_links_not_taken_are_counted_by_reason() -> None:
    page = parsed(
        '<a href="javascript:x">1</a><a href="mailto:x">2</a><a href="java\tscript:x">3</a><a href="http://[">4</a>'
        "<a href=a>5</a><a href=b>6</a><a href=c>7</a><a href=d>8</a>",
        links_max=2,
    )
    assert [link.url for link in page.links] == ["http://example.org/a/a", "http://example.org/a/b"]
    assert page.rejected == {"scheme": 3, "invalid": 1, "links_max": 2}


def test_the_query_of_a_link_is_encoded_as_its_page_is() -> None:
    page = parsed('<a href="/ä?ä=&#1078;&amp;x#ä">x</a>', charset="windows-1252")
    assert page.links[0].url == "http://example.org/%C3%A4?%E4=%26%231078%3B&x#%C3%A4"


def test_an_odd_second_byte_of_the_pages_encoding_keeps_its_character() -> None:
    page = parsed('<a href="?表">x</a>', charset="shift_jis")
    assert page.links[0].url == "http://example.org/a/b.html?%95\\"


def test_a_refresh_leads_to_another_page() -> None:
    page = parsed("<meta http-equiv=Refresh content='0; URL=next.html'><a href=x>x</a>")
    assert page.refresh is not None
    assert (page.refresh.url, page.refresh.kind) == ("http://example.org/a/next.html", "meta")
    assert len(page.links) == 1


@pytest.mark.parametrize("content", ["5", "x; url=y", "0; url=javascript:x", "0; url=http://["])
def test_a_refresh_without_another_page_is_none(content: str) -> None:
    assert parsed(f'<meta http-equiv=refresh content="{content}">').refresh is None


@pytest.mark.parametrize("body", [b"", b"  ", b"<!-- -->", b"\0\0", b"<", b"\xff\xfe"])
def test_an_empty_page_is_a_page(body: bytes) -> None:
    page = parse_page(body, url=URL, content_type=None, links_max=10)
    assert (page.title, page.links, page.refresh) == (None, [], None)


def test_nuls_do_not_end_the_page() -> None:
    page = parsed('<p>a\0b</p><a href="/x\0y">z</a>')
    assert page.text == "ab\nz"
    assert page.links[0].url == "http://example.org/xy"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "<a href=x>x</a>",
        "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + " href=x>x</a>",
        "<a title='" + "x" * 5_000_000 + "' href=x>x</a>",
        "<b><i><font>" * 30_000 + "<a href=x>x</a>",
        "<!-- " * 10_000 + " --><a href=x>x</a>",
    ],
    ids=["depth", "attributes", "attribute", "formatting", "comments"],
)
def test_a_hostile_page_is_read_to_its_end(html: str) -> None:
    assert [link.url for link in parsed(html).links] == ["http://example.org/a/x"]


def test_more_links_than_the_limit_cost_no_memory_for_each() -> None:
    page = parsed("<a href=/x>t</a>" * 100_000, links_max=10)
    assert len(page.links) == 10
    assert page.rejected == {"links_max": 99_990}


PARTS = """
    <a_href=x> </a> <a_href='http://[ '> <p> </p> <title> </title> <script> </script> <template> </template> <noscript>
    </noscript> <iframe_src=y> </iframe> <base_href=//z> <svg> </svg> <table><td> <meta_charset=gbk> &#0; &amp text \0 é
    <meta_http-equiv=refresh_content='1;url=q'> <!-- --> <![CDATA[ ]]> <frameset> <frame_src=f> <plaintext> < > "
    <select><option> _
"""
MARKUP = st.lists(st.sampled_from([part.replace("_", " ") for part in PARTS.split()]), max_size=20).map("".join)
TYPES = st.sampled_from([None, "text/html;charset=utf-16le", "x"])


@given(st.one_of(MARKUP.map(str.encode), st.binary(max_size=200)), TYPES)
@settings(max_examples=300)
def test_any_body_is_parsed(body: bytes, content_type: str | None) -> None:
    page = parse_page(body, url=URL, content_type=content_type, links_max=3)
    assert len(page.links) <= 3
    assert page.words == len(page.text.split())
    assert all(link.url.startswith(("http://", "https://")) for link in page.links)
