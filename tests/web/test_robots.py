import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.robots.rules import ROBOTS_BYTES_MAX, Decision, RobotsRules, decode_robots

TEXT = """\
# a comment
User-agent: slow
Crawl-delay: 10
Sitemap: http://example.org/a.xml

User-agent: other
Crawl-delay: 2.5
Disallow: /x

User-agent: *
Crawl-delay: 1
Disallow: /private
Allow: /private/open$
Sitemap: /b.xml
"""


def test_no_robots_txt_allows_everything() -> None:
    rules = RobotsRules(None)
    assert rules.deciding_line("bot", "http://example.org/a") == Decision(True)
    assert rules.crawl_delay("bot") is None
    assert rules.sitemaps() == []


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("/private/a", Decision(False, 12, "Disallow: /private")),
        ("/private/open", Decision(True, 13, "Allow: /private/open$")),
        ("/private/open2", Decision(False, 12, "Disallow: /private")),
        ("/", Decision(True)),
    ],
)
def test_the_deciding_line_is_told(path: str, decision: Decision) -> None:
    assert RobotsRules(TEXT).deciding_line("bot", "http://example.org" + path) == decision


def test_of_two_equal_rules_the_first_line_is_told() -> None:
    rules = RobotsRules("user-agent: a\ndisallow: /x\n\nuser-agent: a\ndisallow: /x\n")
    assert rules.deciding_line("a", "http://example.org/x").line_number == 2


def test_allow_wins_over_a_disallow_of_equal_length() -> None:
    rules = RobotsRules("user-agent: *\ndisallow: /*x\nallow: /ax\n")
    assert rules.allowed("bot", "http://example.org/ax")


@pytest.mark.parametrize(("token", "delay"), [("slow", 10), ("other", 2.5), ("OTHER", 2.5), ("bot", 1)])
def test_a_crawl_delay_belongs_to_the_agents_above_it(token: str, delay: float) -> None:
    assert RobotsRules(TEXT).crawl_delay(token) == delay


def test_agents_share_the_rules_that_follow_a_crawl_delay() -> None:
    assert not RobotsRules(TEXT).allowed("slow", "http://example.org/x")


@pytest.mark.parametrize("value", ["", "abc", "-1", "nan", "inf", "1e999"])
def test_a_crawl_delay_that_is_no_number_of_seconds_counts_as_none(value: str) -> None:
    assert RobotsRules(f"user-agent: *\ncrawl-delay: {value}\n").crawl_delay("bot") is None


def test_the_longest_of_several_crawl_delays_counts() -> None:
    assert RobotsRules("user-agent: *\ncrawl-delay: 5 sec\ncrawl-delay: 2\n").crawl_delay("bot") == 5


def test_sitemaps_are_read_wherever_they_stand() -> None:
    assert RobotsRules(TEXT).sitemaps() == ["http://example.org/a.xml", "/b.xml"]


def test_an_encoded_star_or_dollar_in_a_rule_means_the_character() -> None:
    rules = RobotsRules("user-agent: *\ndisallow: /a%2A.html\ndisallow: /b%24\ndisallow: /c$d\n")
    assert not rules.allowed("bot", "http://example.org/a*.html")
    assert rules.allowed("bot", "http://example.org/aX.html")
    assert not rules.allowed("bot", "http://example.org/b$c")
    assert not rules.allowed("bot", "http://example.org/c$d")


def test_percent_encoding_is_compared_without_regard_to_its_spelling() -> None:
    rules = RobotsRules("user-agent: *\ndisallow: /%7euser/%e4\n")
    assert not rules.allowed("bot", "http://example.org/~user/%E4")


def test_the_file_of_the_host_with_port_and_query_is_matched_by_path_and_query() -> None:
    rules = RobotsRules("user-agent: *\ndisallow: /*?*q=\n")
    assert not rules.allowed("bot", "https://example.org:8443/s?a=1&q=2#x")
    assert rules.allowed("bot", "https://example.org:8443/s?a=1#?q=")


@given(st.text(), st.text(max_size=10), st.text(max_size=50))
def test_any_text_token_and_url_are_taken(text: str, token: str, url: str) -> None:
    rules = RobotsRules(text)
    decision = rules.deciding_line(token, url)
    assert decision.allowed is rules.allowed(token, url)
    rules.crawl_delay(token)


@pytest.mark.parametrize(
    "body",
    [
        b"user-agent: *\ndisallow: /\n",
        b"\xef\xbb\xbfuser-agent: *\ndisallow: /\n",
        b"user-agent: *\rdisallow: /\r",
        b"user-agent: *\r\ndisallow: /\r\n",
        b"user-agent:\0 *\ndis\0allow: /\n",
        b"\xff\xfe" + "user-agent: *\ndisallow: /\n".encode("utf-16-le"),
        b"\xfe\xff" + "user-agent: *\ndisallow: /\n".encode("utf-16-be"),
        "user-agent: *\ndisallow: /\n".encode("utf-16-le"),
    ],
)
def test_the_text_of_a_file_is_found_under_its_encoding(body: bytes) -> None:
    assert decode_robots(body) == "user-agent: *\ndisallow: /\n"


def test_bytes_that_are_no_utf_8_match_the_percent_encoded_url() -> None:
    rules = RobotsRules(decode_robots(b"user-agent: *\ndisallow: /caf\xe9\n"))
    assert not rules.allowed("bot", "http://example.org/caf%E9")


def test_a_file_over_the_limit_is_cut_at_a_line() -> None:
    body = b"user-agent: *\n" + b"disallow: /abcdefgh\n" * 30_000
    text = decode_robots(body)
    assert len(text) <= ROBOTS_BYTES_MAX
    assert text.endswith("\ndisallow: /abcdefgh\n")


@given(st.binary())
def test_any_bytes_are_decoded(body: bytes) -> None:
    text = decode_robots(body)
    assert "\0" not in text
    text.encode("utf-8")
