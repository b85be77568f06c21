import pytest

from batchcrawl.web.directives import DIRECTIVES_MAX, directives_of_headers, directives_of_meta, unavailable_at


def test_the_directives_of_a_meta_are_lower_case_and_trimmed() -> None:
    assert directives_of_meta(" NoIndex,nofollow ,, max-snippet:-1") == ["noindex", "nofollow", "max-snippet:-1"]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["noindex"], ["noindex"]),
        (["noindex, nofollow", "noarchive"], ["noindex", "nofollow", "noarchive"]),
        (["examplebot: noindex, nofollow"], ["noindex", "nofollow"]),
        (["ExampleBot : NoIndex"], ["noindex"]),
        (["otherbot: noindex, nofollow"], []),
        (["otherbot: noindex, examplebot: nofollow"], ["nofollow"]),
        (["otherbot: noindex", "noarchive"], ["noarchive"]),
        (["*: none", "robots: noindex"], ["none", "noindex"]),
        (["max-snippet: 5, examplebot:"], ["max-snippet: 5"]),
        (
            ["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex"],
            ["unavailable_after: friday, 25-jun-10 15:00:00 gmt", "noindex"],
        ),
        (["otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST"], []),
        (["examplebot: unavailable_after: 2010-06-25"], ["unavailable_after: 2010-06-25"]),
    ],
)
def test_a_header_speaks_to_the_crawlers_that_it_names(values: list[str], found: list[str]) -> None:
    assert directives_of_headers(values, product_token="examplebot") == found


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("unavailable_after: 25 jun 2010 15:00:00 pst", 1277506800),
        ("unavailable_after: fri, 25 jun 2010 15:00:00 gmt", 1277478000),
        ("unavailable_after: friday, 25-jun-10 15:00:00 gmt", 1277478000),
        ("unavailable_after:2010-06-25t15:00:00+00:00", 1277478000),
        ("unavailable_after: 2010-06-25", 1277510399),
        ("unavailable_after: soon", None),
        ("unavailable_after", None),
        ("noindex", None),
    ],
)
def test_the_end_of_a_page_is_an_instant(text: str, at: int | None) -> None:
    assert unavailable_at([text]) == at


def test_the_earliest_end_counts() -> None:
    assert unavailable_at(["unavailable_after: 2011-01-01", "unavailable_after: 2010-06-25"]) == 1277510399


def test_no_more_directives_are_kept_than_the_limit() -> None:
    assert len(directives_of_meta("noindex," * 100_000)) == DIRECTIVES_MAX
    assert len(directives_of_headers(["noindex,"] * 100_000, product_token="x")) == DIRECTIVES_MAX
