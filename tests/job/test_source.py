import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import JobFileError
from batchcrawl.job.source import FILE_BYTES_MAX, item_lines, key_lines, parse_job_text
from batchcrawl.job.spelling import toml_value

TEXT = '''\
# [not.a.section]
contact = "a # b" # c
seeds = [
    "x", # [
    """y = 1
[z]""",
]

[ politeness ]
  delay_min = '1s'
"quoted key" = 1
fetch.headers = { a = 1, "b" = [ "}" ] }

[network.names]
"*.test" = """"two quotes""\\""""
'a.b' = 0
[[list]]
k = 1
[[list]]
k = 2
'''


def test_each_key_and_section_has_its_line_whatever_stands_in_texts_comments_and_lists() -> None:
    assert key_lines(TEXT) == {
        ("contact",): 2,
        ("seeds",): 3,
        ("politeness",): 9,
        ("politeness", "delay_min"): 10,
        ("politeness", "quoted key"): 11,
        ("politeness", "fetch"): 12,
        ("politeness", "fetch", "headers"): 12,
        ("network",): 14,
        ("network", "names"): 14,
        ("network", "names", "*.test"): 15,
        ("network", "names", "a.b"): 16,
        ("list",): 17,
        ("list", "k"): 18,
    }


def test_each_text_of_a_list_has_the_line_on_which_it_begins() -> None:
    text = TEXT + "x = [ # '\n  'a', \"b\",\n]\nlists = [\n['a']]\nnumbers = [1]\n"
    assert item_lines(text) == {("seeds",): [4, 5], ("list", "x"): [22, 22]}


def test_the_text_of_the_test_above_is_toml() -> None:
    assert tomllib.loads(TEXT)["network"]["names"] == {"*.test": '"two quotes"""', "a.b": 0}


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    source = parse_job_text(b"\xef\xbb\xbfcontact = 'x'\r\n\r\n[crawl]\r\npartitions = 3\r\n", "x.toml")
    assert source.document == {"contact": "x", "crawl": {"partitions": 3}}
    assert source.place(("crawl", "partitions")) == "x.toml:4"


def test_a_key_of_an_inline_table_has_the_line_of_the_table() -> None:
    assert (
        parse_job_text(b"\nnetwork = { names = { a = 'b' } }", "x.toml").place(("network", "names", "a")) == "x.toml:2"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a = 1\nb =\n", "x.toml:2: not TOML at column 4: Invalid value"),
        (b"a = 1\nb = [1,\n\n", "x.toml:2: not TOML at the end of the file: Invalid value"),
        (b"a = 1\na = 2\n", "x.toml:2: not TOML at column 6: Cannot overwrite a value"),
        (b"a = 1\nb = '\xff'\n", "x.toml:2: not UTF-8 at byte 11; save the file as UTF-8"),
        (b"a = " + b"[" * 100_000, "x.toml: not TOML: lists or tables nested too deep"),
        (
            b"#" * (FILE_BYTES_MAX + 1),
            "x.toml: 1,000,001 bytes; a job file has at most 1,000,000: put seeds into seed_files",
        ),
    ],
)
def test_what_is_no_toml_is_refused_in_one_line_that_says_where(data: bytes, message: str) -> None:
    with pytest.raises(JobFileError) as caught:
        parse_job_text(data, "x.toml")
    assert str(caught.value) == message


@given(st.binary(max_size=200) | st.text(alphabet="ab=.[]{}\"'\\\n #1", max_size=60).map(str.encode))
def test_any_bytes_are_a_job_text_or_one_line_of_error(data: bytes) -> None:
    try:
        document = tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except ValueError:
        with pytest.raises(JobFileError, match=r"\Ax\.toml:(\d+:)? not [^\n]*\Z"):
            parse_job_text(data, "x.toml")
    else:
        source = parse_job_text(data, "x.toml")
        assert source.document == document
        assert {path[0] for path in source.lines} == set(document)


_SCALAR = st.text(max_size=20) | st.integers(-(2**63), 2**63 - 1) | st.booleans()
_VALUES = st.recursive(
    _SCALAR | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8), _VALUES, max_size=4))
def test_every_value_is_spelled_so_that_toml_reads_it_back(document: dict[str, Any]) -> None:
    text = "".join(f"{toml_value(key)} = {toml_value(value)}\n" for key, value in document.items())
    assert tomllib.loads(text) == document
    assert key_lines(text) == {(key,): line for line, key in enumerate(document, 1)}
