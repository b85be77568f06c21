import pytest

from batchcrawl.web.link_header import LINKS_MAX, HeaderLink, parse_link_headers


@pytest.mark.parametrize(
    ("value", "links"),
    [
        ("<https://example.org/a>; rel=next", [("https://example.org/a", ("next",))]),
        ('</a>;rel="Next  prev" , </b>; REL=canonical', [("/a", ("next", "prev")), ("/b", ("canonical",))]),
        ('</a>; title="x, <no>; rel=no"; rel=next', [("/a", ("next",))]),
        ("</a>; rel=next; rel=prev", [("/a", ("next",))]),
        ("</a,b;c>; rel=next", [("/a,b;c", ("next",))]),
        ('</a>; title="a\\"b"; rel=next', [("/a", ("next",))]),
        ("</a>", [("/a", ())]),
        ("<>; rel=next", [("", ("next",))]),
        ("</a>; rel=next; anchor=/b, </c>; rel=prev", [("/c", ("prev",))]),
        ("/a; rel=next, </b>; rel=prev", [("/b", ("prev",))]),
        (",, </a>;; rel=next;,", [("/a", ("next",))]),
        ("</a; rel=next", []),
        ('</a>; rel="next', [("/a", ("next",))]),
        ("", []),
    ],
)
def test_the_links_of_a_field_are_read(value: str, links: list[tuple[str, tuple[str, ...]]]) -> None:
    assert parse_link_headers([value]) == [HeaderLink(*link) for link in links]


def test_all_fields_of_an_answer_count() -> None:
    assert [link.target for link in parse_link_headers(["</a>", "</b>, </c>"])] == ["/a", "/b", "/c"]


def test_no_more_links_are_read_than_the_limit() -> None:
    assert len(parse_link_headers(["</a>; rel=next, " * 5000])) == LINKS_MAX


@pytest.mark.parametrize("part", ["<", "</a>;", '</a>; x="', ";", "</a>; x=y ", ", ", "<a"])
def test_a_hostile_field_is_read_to_its_end(part: str) -> None:
    assert len(parse_link_headers([part * 100_000])) <= LINKS_MAX
