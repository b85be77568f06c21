"""A difference from a browser is explained only where the two views and the page show the rule."""

import pytest

from tests.support.browser import Seen, SeenLink
from tests.support.browser_compare import UNEXPLAINED, compare, difference, taken_of
from tests.support.browser_documents import Document

URL = "http://pages.test/a"
A, B = SeenLink("a", "http://pages.test/x"), SeenLink("a", "http://pages.test/y")


def seen(*links: SeenLink, base: str = URL, charset: str = "utf-8", refresh: str | None = None) -> Seen:
    return Seen(base, charset, links, refresh)


def rule(ours: Seen, theirs: Seen, body: bytes = b"", content_type: str = "text/html") -> str | None:
    found = compare(Document(URL, body, content_type), ours, theirs)
    return None if found is None else found.rule


def test_equal_views_do_not_differ() -> None:
    assert rule(seen(A, B), seen(A, B)) is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (seen(A), seen(A, B)),
        (seen(A, B), seen(A)),
        (seen(A, B), seen(B, A)),
        (seen(A, A), seen(A)),
        (seen(A), seen(A, A, B)),
        (seen(A), seen(SeenLink("a", A.url, ("nofollow",)))),
        (seen(A), seen(SeenLink("area", A.url))),
        (seen(base=URL), seen(base=URL + "/")),
        (seen(refresh=A.url), seen()),
    ],
)
def test_a_difference_that_nothing_shows_is_unexplained(ours: Seen, theirs: Seen) -> None:
    assert rule(ours, theirs) == UNEXPLAINED


def test_a_declared_charset_must_be_the_browsers() -> None:
    assert rule(seen(), seen(charset="gbk"), content_type="text/html; charset=gbk") == UNEXPLAINED


def test_what_a_difference_is_about_is_told() -> None:
    found = compare(Document(URL, b""), seen(A), seen(B, charset="gbk"))
    assert found is not None
    assert found.aspects == ("charset", "links")
    assert found.told == (
        "charset: utf-8, browser: gbk; links only ours: a http://pages.test/x, only the browser's: a http://pages.test/y"
    )


def test_an_anchor_that_the_dom_has_twice_is_a_rule() -> None:
    assert "more than once" in (rule(seen(A, B), seen(A, B, A)) or "")


def test_a_guess_is_a_rule_only_where_nothing_is_declared() -> None:
    assert "nothing declares" in (rule(seen(), seen(charset="windows-1252")) or "")


def test_of_a_dom_only_what_a_crawler_takes_is_compared() -> None:
    links = [SeenLink("link", A.url, rel) for rel in [("next",), ("stylesheet",), ("icon",), ("preload",), ()]]
    taken = taken_of(seen(*links, refresh=URL), Document(URL, b""))
    assert [link.kind for link in taken.links] == ["link", "stylesheet", "icon"]
    assert taken.refresh is None


def test_the_parser_is_held_against_an_answer() -> None:
    document = Document(URL, b"<base href=/b/><a href=x>x</a>", "text/html; charset=utf-8")
    answer = seen(SeenLink("a", "http://pages.test/b/x"), base="http://pages.test/b/")
    assert difference(document, answer) is None
    assert difference(document, seen(A)) is not None
