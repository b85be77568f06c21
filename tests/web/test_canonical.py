import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.canonical import DEFAULT_STEPS, STEP_NAMES, canonicalise, changes
from batchcrawl.web.urls import parse_url

ALL = STEP_NAMES
HEX = "0123456789abcdef0123456789abcdef"

PIECES = """
    / // . .. %2e %2E%2e %41 %%34%31 % %2 %2f %c3%a4 ä [ | " a B ;jsessionid=X ;JSESSIONID= ;v=1 (S(TOKEN)) /(S(TOKEN))/
    index.html /index.php /default.aspx ? & = utm_source=x utm%5Fmedium=y GCLID=1 sid=HEX sid=12 PHPSESSID=1 b=2 a=1 #
    #x + @
"""
PATHS = st.lists(st.sampled_from(PIECES.replace("TOKEN", HEX[:24]).replace("HEX", HEX).split()), max_size=12).map(
    "".join
)
HOSTS = """
    example.org example.org. example.org.. www.example.org www.www.com www.www.a.com WWW.com u:p@example.org . ..
    example.org:80 example.org:443 1.2.3.4 1.2.3.4. 1.2.3.4.. 0x7f.1.. [::1]:8080 www.1.2.3.4.. www..com ä.example a_b.c
"""
URLS = st.one_of(
    st.builds("{}://{}/{}".format, st.sampled_from(["http", "https"]), st.sampled_from(HOSTS.split()), PATHS),
    st.text(max_size=30).map("http://example.org/".__add__),
)
STEP_SETS = st.one_of(st.just(DEFAULT_STEPS), st.just(ALL), st.frozensets(st.sampled_from(sorted(ALL))))


@given(URLS, STEP_SETS)
def test_canonicalising_twice_equals_once(text: str, steps: frozenset[str]) -> None:
    url = parse_url(text)
    if url is not None:
        once = canonicalise(url, steps)
        assert canonicalise(once, steps) == once


@given(URLS, STEP_SETS)
def test_a_canonical_url_is_serialised(text: str, steps: frozenset[str]) -> None:
    url = parse_url(text)
    if url is not None:
        once = canonicalise(url, steps)
        assert parse_url(once) == once


@given(URLS)
def test_the_fast_path_passes_only_what_no_default_step_changes(text: str) -> None:
    url = parse_url(text)
    if url is not None:
        # Any step that is off by default turns the fast path off; this one does nothing to a host without www.
        assert canonicalise(url) == canonicalise(url, DEFAULT_STEPS | {"www"}) or "//www." in url


@given(URLS, STEP_SETS)
def test_the_last_change_leaves_the_canonical_url(text: str, steps: frozenset[str]) -> None:
    url = parse_url(text)
    if url is not None:
        taken = list(changes(url, steps))
        assert (taken[-1][1] if taken else url) == canonicalise(url, steps)
        assert all(name in steps for name, _ in taken)


def test_each_step_that_changes_a_url_is_told_with_what_it_leaves() -> None:
    url = "http://u@example.org/%7ea;jsessionid=1?utm_source=x&sid=&b=1#top"
    assert list(changes(url)) == [
        ("userinfo", "http://example.org/%7ea;jsessionid=1?utm_source=x&sid=&b=1#top"),
        ("fragment", "http://example.org/%7ea;jsessionid=1?utm_source=x&sid=&b=1"),
        ("percent_encoding", "http://example.org/~a;jsessionid=1?utm_source=x&sid=&b=1"),
        ("tracking", "http://example.org/~a;jsessionid=1?sid=&b=1"),
        ("session", "http://example.org/~a?sid=&b=1"),
    ]


@given(st.text(), STEP_SETS)
def test_any_text_is_taken(text: str, steps: frozenset[str]) -> None:
    assert isinstance(canonicalise(text, steps), str)


@given(URLS)
def test_no_steps_change_nothing(text: str) -> None:
    assert canonicalise(text, frozenset()) == text


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://u:p@example.org/", "http://example.org/"),
        ("http://example.org/a#top", "http://example.org/a"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://example.org/%7Euser/%61", "http://example.org/~user/a"),
        ("http://example.org/a%2fb", "http://example.org/a%2Fb"),
        ("http://example.org/?q=%23%26%2b%3d%3B%25", "http://example.org/?q=%23%26%2B%3D%3B%25"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/%%34%31", "http://example.org/%2541"),
        ("http://example.org/?f[0]=a|b", "http://example.org/?f%5B0%5D=a%7Cb"),
        ("http://example.org/?utm_source=x&a=1&utm_medium=y", "http://example.org/?a=1"),
        ("http://example.org/?UTM_Source=x", "http://example.org/"),
        ("http://example.org/?fbclid=x&gclid", "http://example.org/"),
        ("http://example.org/?automtm_x=1&xgclid=2", "http://example.org/?automtm_x=1&xgclid=2"),
        ("http://example.org/a;jsessionid=F00.node1?b=1", "http://example.org/a?b=1"),
        ("http://example.org/a;v=1;JSESSIONID=F00/b", "http://example.org/a;v=1/b"),
        ("http://example.org/(S(lit3py55t21z5v55vlm25s55))/a", "http://example.org/a"),
        (f"http://example.org/?sid={HEX}&PHPSESSID=1", "http://example.org/"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/?&", "http://example.org/?&"),
    ],
)
def test_the_default_steps_give(url: str, canonical: str) -> None:
    assert canonicalise(url) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/A/b.html?b=2&a=1",
        "http://example.org/?sid=12&s=word",
        "http://www.example.org/index.html",
        "http://example.org/a/",
        "http://example.org//a//b",
        "http://example.org/..;jsessionid=1/b",
        "http://example.org/a+b?c+d",
        "http://example.org/%E4",
        "ftp://u@example.org/a%41",
        "mailto:a@example.org",
    ],
)
def test_the_default_steps_leave_alone(url: str) -> None:
    assert canonicalise(url) == url


@pytest.mark.parametrize(
    ("step", "url", "canonical"),
    [
        ("https", "http://example.org/", "https://example.org/"),
        ("https", "http://example.org:8080/", "http://example.org:8080/"),
        ("www", "http://www.example.org/", "http://example.org/"),
        ("www", "http://www.org/", "http://www.org/"),
        ("index_page", "http://example.org/a/Index.HTML?b", "http://example.org/a/?b"),
        ("index_page", "http://example.org/reindex.html", "http://example.org/reindex.html"),
        ("trailing_slash", "http://example.org/a//", "http://example.org/a"),
        ("trailing_slash", "http://example.org/", "http://example.org/"),
        ("sort_query", "http://example.org/?b=1&a=2&b=0", "http://example.org/?a=2&b=1&b=0"),
    ],
)
def test_a_step_that_is_off_by_default_can_be_taken(step: str, url: str, canonical: str) -> None:
    assert canonicalise(url) == url
    assert canonicalise(url, DEFAULT_STEPS | {step}) == canonical
