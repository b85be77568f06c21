from pathlib import Path

import pytest

from batchcrawl.errors import JobFileError
from batchcrawl.job.load import load_job
from batchcrawl.job.scope_rules import ALLOWED
from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.scope import Decision, Hosts, Scope
from batchcrawl.web.urls import host_key

SEEDED = "http://seed.example"


def scope_of(tmp_path: Path, text: str) -> Scope:
    path = tmp_path / "jobs" / "x.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    hosts = Hosts(lambda host: host == SEEDED, lambda name: ".".join(name.split(".")[-2:]))
    return Scope(load_job("x", cwd=tmp_path).scope, hosts)


def decision(of: Scope, url: str, *, depth: int = 1, hops: int = 0) -> Decision:
    return of.decide(url, host=host_key(url), depth=depth, hops=hops)


def message_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(JobFileError) as caught:
        scope_of(tmp_path, text)
    return str(caught.value)


def test_without_a_word_on_it_the_scope_is_the_seeds_hosts(tmp_path: Path) -> None:
    of = scope_of(tmp_path, "")
    assert decision(of, f"{SEEDED}/a") == Decision(None, "nothing rejects it", "default")
    expected = Decision(Rejection.OFF_HOST, 'within = "seed-host"', "default")
    assert decision(of, "http://other.example/") == expected
    expected = Decision(Rejection.TOO_LONG, "url_bytes_max = 2,048 bytes", "default")
    assert decision(of, f"{SEEDED}/{'a' * 2048}") == expected
    expected = Decision(Rejection.TRAP_REPEATING_PATH, "traps.path_repeats_max = 3", "default")
    assert decision(of, f"{SEEDED}/a/a/a/a") == expected


SIMPLE = """
[scope]
hosts = ["friend.example"]
exclude = [
    '/private/',  # a comment
    '\\.zip$',
]
include = ["/docs/", "/blog/"]
depth_max = 3
url_bytes_max = "64B"
within = "seed-domain"
[traps]
parameters_max = 2
"""


@pytest.mark.parametrize(
    ("url", "depth", "expected"),
    [
        (f"{SEEDED}/docs/a", 3, Decision(None, "nothing rejects it", "default")),
        (f"{SEEDED}/{'a' * 64}", 9, Decision(Rejection.TOO_LONG, "url_bytes_max = 64 bytes", "jobs/x.toml:10")),
        ("http://other.example/", 4, Decision(Rejection.TOO_DEEP, "depth_max = 3", "jobs/x.toml:9")),
        (
            "http://other.example/docs/",
            1,
            Decision(Rejection.OFF_HOST, 'within = "seed-domain", hosts = ["friend.example"]', "jobs/x.toml:11"),
        ),
        ("http://friend.example/private/", 1, Decision(Rejection.EXCLUDED, "exclude /private/", "jobs/x.toml:5")),
        (f"{SEEDED}/docs/a.zip", 1, Decision(Rejection.EXCLUDED, "exclude \\.zip$", "jobs/x.toml:6")),
        (f"{SEEDED}/shop/", 1, Decision(Rejection.NOT_INCLUDED, 'include = ["/docs/", "/blog/"]', "jobs/x.toml:8")),
        (
            f"{SEEDED}/docs/?a=1&b=2&c=3",
            1,
            Decision(Rejection.TRAP_PARAMETERS, "traps.parameters_max = 2", "jobs/x.toml:13"),
        ),
    ],
)
def test_the_simple_settings_are_rules_with_their_lines(
    tmp_path: Path, url: str, depth: int, expected: Decision
) -> None:
    assert decision(scope_of(tmp_path, SIMPLE), url, depth=depth) == expected


RULES = """
[scope]
within = "any"
rules = [
    "reject extension zip .ISO tar.gz",
    "reject regex [?&]replytocom=",
    "take host docs.example shop.example:no",
    "take domain friend.example",
    "take prefix http://part.example/docs",
    "take hops <= 1",
    "reject any",
]
"""


def test_rules_stand_in_their_order_each_with_its_line(tmp_path: Path) -> None:
    of = scope_of(tmp_path, RULES.replace(" shop.example:no", ""))
    found = {
        url: (decision(of, url, hops=2).place.removeprefix("jobs/x.toml:"), decision(of, url, hops=2).rejection)
        for url in (
            "http://docs.example/a.zip",
            "http://docs.example/a.iso",
            "http://docs.example/?a=1&replytocom=2",
            "https://docs.example:8443/",
            "http://a.b.friend.example/",
            "http://part.example/docs/a",
            "http://else.example/",
        )
    }
    assert list(found.values()) == [
        ("5", Rejection.RULE),
        ("5", Rejection.RULE),
        ("6", Rejection.RULE),
        ("7", None),
        ("8", None),
        ("9", None),
        ("11", Rejection.RULE),
    ]
    assert decision(of, "http://else.example/", hops=1) == Decision(None, "take hops <= 1", "jobs/x.toml:10")


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("refuse any", f'"refuse any" is no rule; allowed: {ALLOWED}'),
        ("take", f'"take" is no rule; allowed: {ALLOWED}'),
        ("take hosts a.example", f'"take hosts a.example" is no rule; allowed: {ALLOWED}'),
        ("take host", f'"take host" is no rule; allowed: {ALLOWED}'),
        ("take any host", f'"take any host" is no rule; allowed: {ALLOWED}'),
        (
            "take host A.example",
            '"take host A.example" names A.example, which is no host name in lower case without scheme and port',
        ),
        ("take depth 3", "\"take depth 3\" needs '> N' or '<= N' behind depth"),
        ("take hops < 3", "\"take hops < 3\" needs '> N' or '<= N' behind hops"),
        (
            "take regex (",
            '"take regex (" is no regular expression of Python (missing ), unterminated subpattern at position 0)',
        ),
        ("take prefix /docs/", '"take prefix /docs/" has no http or https URL behind prefix'),
        (
            "take prefix http://A.example/",
            '"take prefix http://A.example/" is never found: the URL is known as http://a.example/',
        ),
        (
            "reject extension a/b",
            '"reject extension a/b" names a/b, which is no extension such as pdf or tar.gz',
        ),
    ],
)
def test_a_rule_that_is_none_is_one_line_with_its_place(tmp_path: Path, rule: str, wrong: str) -> None:
    text = f'\n[scope]\nrules = [\n    "take any",\n    "{rule}",\n]\n'
    assert message_of(tmp_path, text) == f"jobs/x.toml:5: scope.rules: {wrong}"


def test_the_line_of_a_pattern_in_a_list_is_its_own(tmp_path: Path) -> None:
    text = "[scope]\nexclude = [\n  '/a/',\n  '(',\n]\n"
    assert message_of(tmp_path, text).startswith("jobs/x.toml:4: scope.exclude: ")


FILES = '[scope]\nregex_urlfilters = ["regex-urlfilter.txt"]\nsuffix_urlfilters = ["suffix-urlfilter.txt"]\n'


def write_filters(tmp_path: Path, *, regex: bytes = b"-[?]\n+.\n", suffix: bytes = b"+I\n.gif\n") -> None:
    (tmp_path / "jobs").mkdir(exist_ok=True)
    (tmp_path / "jobs" / "regex-urlfilter.txt").write_bytes(regex)
    (tmp_path / "jobs" / "suffix-urlfilter.txt").write_bytes(suffix)


def test_files_of_nutch_are_read_and_name_their_lines(tmp_path: Path) -> None:
    write_filters(tmp_path)
    of = scope_of(tmp_path, FILES)
    assert decision(of, f"{SEEDED}/a").rejection is None
    expected = Decision(Rejection.URL_FILTER, "-[?]", "jobs/regex-urlfilter.txt:1")
    assert decision(of, f"{SEEDED}/a?b") == expected
    expected = Decision(Rejection.URL_FILTER, ".gif", "jobs/suffix-urlfilter.txt:2")
    assert decision(of, f"{SEEDED}/a.GIF") == expected
    assert decision(of, "http://other.example/").rejection is Rejection.OFF_HOST


@pytest.mark.parametrize(
    ("regex", "message"),
    [
        (b"+.\n-(\n", "jobs/regex-urlfilter.txt:2: '(' is no regular expression: missing ) at position 1"),
        (b"+.\n-\xff\n", "jobs/regex-urlfilter.txt:2: not UTF-8 at byte 4; save the file as UTF-8"),
        (b"?\n", "jobs/regex-urlfilter.txt:1: begins with '?'; allowed: + or - and a regular expression, >, < or #"),
    ],
)
def test_a_filter_file_that_cannot_be_read_is_one_line_with_its_place(
    tmp_path: Path, regex: bytes, message: str
) -> None:
    write_filters(tmp_path, regex=regex)
    assert message_of(tmp_path, FILES) == message


def test_a_filter_file_that_is_not_there_is_told_of_at_the_line_that_names_it(tmp_path: Path) -> None:
    message = "jobs/x.toml:2: scope.regex_urlfilters: jobs/regex-urlfilter.txt: No such file or directory"
    assert message_of(tmp_path, FILES) == message
