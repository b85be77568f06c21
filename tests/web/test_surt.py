import pytest

from batchcrawl.web.surt import surt

SESSION = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.example.org/A/b/?b=2&a=1", "org,example)/a/b?a=1&b=2"),
        ("http://www2.example.org:8080/a//b/", "org,example:8080)/a/b"),
        ("http://127.0.0.1:99/p", "1,0,0,127:99)/p"),
        ("http://[::1]:8/x", "::1:8)/x"),
        ("http://example.org/index.php?", "org,example)/index.php"),
        (f"http://example.org/x?PHPSESSID={SESSION}&z=1", "org,example)/x?z=1"),
        ("http://example.org/a%41b%2Fc?x=%41%20b", "org,example)/aab/c?x=a%20b"),
        ("http://example.org/stra%C3%9Fe", "org,example)/stra%c3%9fe"),
        ("http://example.org/a%2541", "org,example)/aa"),
        ("http://example.org/a?b=&a", "org,example)/a?a&b="),
    ],
)
def test_variants_that_archives_do_not_tell_apart_have_one_key(url: str, key: str) -> None:
    assert surt(url) == key
