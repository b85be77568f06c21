from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.rejection import Rejection
from batchcrawl.web.links import Resolvers

HREFS = st.sampled_from(
    [
        "", "#top", "?q=1", "a", "a/b?c#d", "./a", "../a", "..", "/", "/a:b", "//other.test/x", "/\\other.test",
        "http:#x", "http:", "http:a", "https:a", "https://x.test/a", "http://", "HTTP://X.test", " a", "\ta", "a\nb",
        "mailto:a@b", "a:b", "javascript:1", "\u00e9?\u00e9", "%2e%2e/a", "a#b:c", "http://x.test:99999/", "\\a",
        "x" * 600,
    ]
)  # fmt: skip
PAGES = st.sampled_from(
    [
        "http://a.test/", "http://a.test/b/c?q#f", "http://a.test/b/d", "https://a.test/b/d", "http://a.test:81/b/d",
        "http://u:p@a.test/b/d", "http://b.test/b/d",
    ]
)  # fmt: skip
BASES = st.sampled_from([None, "", "/b/", "//b.test/x", "data:text/plain,x", "http://a.test/b/?q=2"])


def resolved(resolvers: Resolvers, page: tuple[str, str | None, str], hrefs: list[str]) -> list[str | Rejection]:
    url, base_href, encoding = page
    resolver = resolvers.of_page(url=url, base_href=base_href, encoding=encoding)
    return [resolver.resolve(href) for href in hrefs]


@given(st.lists(st.tuples(st.tuples(PAGES, BASES, st.sampled_from(["utf-8", "windows-1252"])), st.lists(HREFS))))
def test_what_other_pages_linked_to_never_changes_where_a_link_leads(
    pages: list[tuple[tuple[str, str | None, str], list[str]]],
) -> None:
    shared = Resolvers()
    for page, hrefs in pages:
        assert resolved(shared, page, hrefs) == [resolved(Resolvers(), page, [href])[0] for href in hrefs]


def test_a_link_to_a_place_on_the_page_itself_leads_to_that_page() -> None:
    resolvers = Resolvers()
    for name in ("x", "y"):
        page = (f"http://a.test/b/{name}?q", None, "utf-8")
        assert resolved(resolvers, page, ["#top", "?r", ""]) == [
            f"http://a.test/b/{name}?q#top",
            f"http://a.test/b/{name}?r",
            f"http://a.test/b/{name}?q",
        ]


def test_links_of_many_pages_do_not_fill_the_memory() -> None:
    resolvers = Resolvers()
    for n in range(20):
        resolver = resolvers.of_page(url=f"http://a.test/{n}", base_href=None, encoding="utf-8")
        for m in range(5000):
            resolver.resolve(f"/{n}/{m}")
    assert resolver.resolve("/0/0") == "http://a.test/0/0"
    assert resolver.resolved <= 5001
