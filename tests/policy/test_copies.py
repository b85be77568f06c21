import pytest

from batchcrawl.model.host import HostRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.copies import PATTERNS_MAX, CopyLimits, has_copies, note_page, path_pattern

SITE = "http://site.example"
LIMITS = CopyLimits(pages=10, share=0.9)


def host(*, fetched: int = 0, copies: int = 0) -> HostRecord:
    record = HostRecord(host=SITE, domain="site.example")
    record.count(PageStatus.FETCHED, fetched)
    record.count(PageStatus.DUPLICATE, copies)
    return record


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/s-8f3a91c2/read/12.html?b=1&a=2", "/s-*/read/#.html?a&b"),
        ("/2026/11/05/a-post", "/#/#/#/a-post"),
        ("/a/b/c/d/e", "/a/b/c/d/.."),
        ("/a/b/c/d/", "/a/b/c/d"),
        ("/p5?id=7&id=8", "/p#?id"),
        ("/a#b?c", "/a"),
    ],
)
def test_urls_that_differ_by_numbers_and_keys_have_one_pattern(path: str, pattern: str) -> None:
    assert path_pattern(SITE + path) == pattern


def test_a_pattern_is_bounded() -> None:
    assert len(path_pattern(f"{SITE}/{'a' * 2000}?{'b' * 2000}")) <= 100


@pytest.mark.parametrize(("fetched", "copies", "found"), [(0, 9, False), (1, 9, True), (2, 9, False), (10, 90, True)])
def test_a_host_whose_pages_are_nearly_all_copies_has_copies(fetched: int, copies: int, found: bool) -> None:
    assert has_copies(host(fetched=fetched, copies=copies), f"{SITE}/new", LIMITS) is found


def test_a_pattern_whose_pages_are_nearly_all_copies_has_copies_and_the_rest_of_the_host_has_none() -> None:
    record = host(fetched=1000)
    for number in range(11):
        note_page(record, f"{SITE}/s-{number:08}/a", copy=number > 0)
    assert record.patterns == {"/s-*/a": (10, 10)}
    assert has_copies(record, f"{SITE}/s-12345678/a", LIMITS)
    assert not has_copies(record, f"{SITE}/docs/a", LIMITS)


def test_pages_without_a_copy_before_them_are_not_watched() -> None:
    record = host()
    note_page(record, f"{SITE}/a", copy=False)
    assert record.patterns == {}


def test_of_too_many_patterns_the_one_with_the_fewest_copies_is_forgotten() -> None:
    record = host()
    for number in range(PATTERNS_MAX):
        for _ in range(2 + number % 2):
            note_page(record, f"{SITE}/{'x' * (number + 1)}", copy=True)
    note_page(record, f"{SITE}/another", copy=True)
    assert len(record.patterns) == PATTERNS_MAX
    assert "/another" in record.patterns
    assert "/x" not in record.patterns
