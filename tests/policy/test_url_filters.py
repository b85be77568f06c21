from collections.abc import Callable

import pytest

from batchcrawl.policy.url_filters import FilterFault, Ruling, judge_by, parse_regex_filter, parse_suffix_filter
from batchcrawl.web.urls import host_key

WHOLE_WEB = """\
# The form of the file that Nutch brings with it.

-^(file|ftp|mailto):
-(?i)\\.(gif|jpg|zip|css)$
-[?*!@=]
-.*(/[^/]+)/[^/]+\\1/[^/]+\\1/
 + a line that begins with a space says nothing
+.
"""
BY_HOST = """\
> www.example.org
-skip
<
> example.com
+skip
<
-.
"""


def by_regex(text: str) -> Callable[[str], Ruling]:
    judge = judge_by(parse_regex_filter(text, "f"), lambda name: ".".join(name.split(".")[-2:]))
    return lambda url: judge(url, host_key(url))


def by_suffix(text: str) -> Callable[[str], Ruling]:
    judge = judge_by(parse_suffix_filter(text, "f"), str)
    return lambda url: judge(url, host_key(url))


@pytest.mark.parametrize(
    ("url", "accepted", "line"),
    [
        ("http://a.example/", True, 8),
        ("http://a.example/a.GIF", False, 4),
        ("http://a.example/a.gif?x", False, 5),
        ("http://a.example/a/b/a/c/a/", False, 6),
        ("http://a.example/a/b/a/c/", True, 8),
        ("ftp://a.example/", False, 3),
    ],
)
def test_the_first_line_that_is_found_decides(url: str, accepted: bool, line: int) -> None:
    ruling = by_regex(WHOLE_WEB)(url)
    assert (ruling.accepted, ruling.line) == (accepted, line)


def test_a_url_in_which_no_line_is_found_is_rejected() -> None:
    assert by_regex("+/docs/\n")("http://a.example/shop/") == Ruling(False, None, "no line is found in it")
    assert by_regex("")("http://a.example/").accepted is False


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("http://www.example.org/skip-me", False),
        ("http://www.example.com/skip-me", True),
        ("http://shop.example.com/skip-me", True),
        ("http://www.example.net/skip-me", False),
        ("http://a.www.example.org/skip-me", False),
    ],
)
def test_lines_between_angles_hold_for_a_host_or_a_registered_domain_alone(url: str, accepted: bool) -> None:
    assert by_regex(BY_HOST)(url).accepted is accepted


def test_lines_may_end_in_any_of_the_three_ways_and_spaces_at_their_end_belong_to_the_pattern() -> None:
    judge = by_regex("# a\r+x \r\n+y\n")
    assert judge("http://a.example/y").line == 3
    assert judge("http://a.example/x").line is None
    assert judge("http://a.example/x y").line == 2


def test_a_pattern_that_takes_too_long_is_told_of() -> None:
    ruling = by_regex("-(?!x)^(([a-z])+.)+[A-Z]([a-z])+$\n+.\n")("a" * 2000)
    assert (ruling.accepted, ruling.line) == (None, 1)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("+.\n\n*bad\n", 3, "begins with '*'; allowed: + or - and a regular expression, >, < or #"),
        ("-(\n", 1, "'(' is no regular expression: missing ) at position 1"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, line: int, reason: str) -> None:
    with pytest.raises(FilterFault) as caught:
        parse_regex_filter(text, "f")
    assert (caught.value.line, caught.value.reason) == (line, reason)


SUFFIXES = "# a comment\n\n{mode}\n\n.gif\n .Zip \n"


@pytest.mark.parametrize(
    ("mode", "url", "accepted", "line"),
    [
        ("+", "http://a.example/a.gif", False, 5),
        ("+", "http://a.example/a.GIF", True, None),
        ("+", "http://a.example/a.Zip", False, 6),
        ("+", "http://a.example/a.html", True, None),
        ("+", "http://a.example/a.gif?x", True, None),
        ("+I", "http://a.example/a.GIF", False, 5),
        ("+I", "http://a.example/a.zip", False, 6),
        ("+P", "http://a.example/a.gif?x", False, 5),
        ("+P", "http://a.example/a?b.gif", True, None),
        ("+I\n+P", "http://a.example/a.GIF?x", False, 6),
        ("-", "http://a.example/a.gif", True, 5),
        ("-", "http://a.example/a.html", False, None),
        ("", "http://a.example/a.html", False, None),
    ],
)
def test_the_mode_says_what_becomes_of_urls_with_and_without_a_suffix(
    mode: str, url: str, accepted: bool, line: int | None
) -> None:
    ruling = by_suffix(SUFFIXES.format(mode=mode))(url)
    assert (ruling.accepted, ruling.line) == (accepted, line)


def test_the_host_is_no_part_of_the_path() -> None:
    assert by_suffix("+P\n.com\n")("http://a.example.com/").accepted is True
    assert by_suffix("+\n.com/\n")("http://a.example.com/").accepted is False
