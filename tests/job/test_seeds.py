import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import SeedError
from batchcrawl.job.seed_files import read_seed_file, read_seeds
from batchcrawl.job.seeds import LINE_BYTES_MAX, BadUrl, Seed, SeedFault, parse_seed_lines, parse_seed_url


def told(*lines: bytes) -> list[str]:
    """What is said of lines that are no seeds."""
    return [str(item) for item in parse_seed_lines(lines, "seeds.txt") if isinstance(item, SeedFault)]


def test_a_line_gives_url_score_interval_and_metadata() -> None:
    line = b"https://example.org/a\tscore=2.5\tinterval=6h\ttopic=news = old\t\n"
    assert list(parse_seed_lines([line], "seeds.txt")) == [
        Seed(url="https://example.org/a", line=1, score=2.5, interval_s=21600, metadata={"topic": "news = old"})
    ]


def test_comments_and_empty_lines_are_skipped_and_counted_as_lines() -> None:
    lines = [b"# seeds\n", b"\r\n", b"  \t \n", b"https://example.org/#top\r\n"]
    assert list(parse_seed_lines(lines, "seeds.txt")) == [Seed(url="https://example.org/#top", line=4)]


def test_a_byte_order_mark_is_no_part_of_the_first_url() -> None:
    assert list(parse_seed_lines([b"\xef\xbb\xbfexample.org"], "s")) == [Seed(url="https://example.org/", line=1)]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://Example.ORG:80/a/../b", "http://example.org/b"),
        ("example.org", "https://example.org/"),
        ("example.org:8443/x?y", "https://example.org:8443/x?y"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("[::1]:80", "http://[::1]/"),
        ("[2001:db8::1]/a", "https://[2001:db8::1]/a"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("example.org#part", "https://example.org/#part"),
    ],
)
def test_a_seed_may_leave_out_its_scheme(text: str, url: str) -> None:
    assert parse_seed_url(text) == url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a URL: ''"),
        ("foo", "not a URL: 'foo'"),
        ("/path.html", "not a URL: '/path.html'"),
        ("me@example.org", "not a URL: 'me@example.org'"),
        ("mailto:me@example.org", "not a URL: 'mailto:me@example.org'"),
        ("javascript:alert.x(1)", "not a URL: 'javascript:alert.x(1)'"),
        ("https://", "not a URL: 'https://'"),
        ("http://a b.org/", "not a URL: 'http://a b.org/' has a space in it; key=value pairs stand behind a tab"),
        ("http://example.org:99999/", "not a URL: 'http://example.org:99999/'"),
        ("ftp://example.org/", "scheme 'ftp' is neither http nor https: 'ftp://example.org/'"),
    ],
)
def test_what_is_no_seed_is_told_with_the_text(text: str, reason: str) -> None:
    assert parse_seed_url(text) == BadUrl(reason)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"foo", "not a URL: 'foo'"),
        (b"\xff\xfe", "not UTF-8 at byte 0 of the line"),
        (b"a" * (LINE_BYTES_MAX + 1), "longer than 65,536 bytes"),
        (b"a.org\tscore", "'score' is not key=value"),
        (b"a.org\t=1", "'=1' is not key=value"),
        (b"a.org\tk=1\tk=2", "'k' is given twice"),
        (b"a.org\tscore=-1", "score '-1' is not allowed; allowed: a number from 0 to 1,000,000"),
        (b"a.org\tscore=nan", "score 'nan' is not allowed; allowed: a number from 0 to 1,000,000"),
        (
            b"a.org\tinterval=60",
            "interval '60' is not allowed; "
            'allowed: a time with a unit, such as "30s", "6h" or "7d", from 1s to 3650d',
        ),
    ],
)
def test_a_bad_line_is_a_fault_that_names_file_and_line(line: bytes, message: str) -> None:
    assert told(b"a.org", line) == [f"seeds.txt:2: {message}"]


def test_a_bad_line_keeps_no_other_from_being_read() -> None:
    found = list(parse_seed_lines([b"a.org", b"foo", b"b.org"], "seeds.txt"))
    assert [type(item) for item in found] == [Seed, SeedFault, Seed]


def test_a_file_packed_by_gzip_is_read_as_the_plain_one(tmp_path: Path) -> None:
    lines = b"# many\n" + b"https://example.org/\n" * 10_000
    (tmp_path / "plain").write_bytes(lines)
    # In several members, as by cat a.gz b.gz.
    (tmp_path / "packed").write_bytes(gzip.compress(lines[:1000]) + gzip.compress(lines[1000:]))
    plain = list(read_seed_file(tmp_path / "plain", "s"))
    assert len(plain) == 10_000
    assert list(read_seed_file(tmp_path / "packed", "s")) == plain


def test_a_line_without_end_is_one_fault_and_the_next_line_is_read() -> None:
    stream = io.BytesIO(b"a" * (10 * LINE_BYTES_MAX) + b"\nexample.org\n")
    assert list(read_seeds(stream, "s")) == [
        SeedFault(source="s", line=1, reason="longer than 65,536 bytes"),
        Seed(url="https://example.org/", line=2),
    ]


def test_standard_input_stays_open() -> None:
    stream = io.BytesIO(b"example.org\n")
    assert len(list(read_seeds(stream, "stdin"))) == 1
    assert not stream.closed


@pytest.mark.parametrize("data", [b"", b"\x1f", b"\n"])
def test_a_stream_of_less_than_a_line_has_no_seeds(data: bytes) -> None:
    assert not any(isinstance(item, Seed) for item in read_seeds(io.BytesIO(data), "s"))


def test_a_damaged_gzip_names_the_file_and_how_far_it_went() -> None:
    packed = gzip.compress(b"example.org\n")[:-4]
    with pytest.raises(SeedError) as caught:
        list(read_seeds(io.BytesIO(packed), "seeds.gz"))
    assert str(caught.value).startswith("seeds.gz: gzip is damaged behind line ")


def test_a_file_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SeedError) as caught:
        list(read_seed_file(tmp_path / "none", "none"))
    assert str(caught.value) == "none: No such file or directory; a seed file has one URL a line"


@given(st.lists(st.binary(max_size=60) | st.text(alphabet="ah:/.tp[]\t=\n #", max_size=30).map(str.encode)))
def test_every_line_is_skipped_a_seed_or_a_fault(lines: list[bytes]) -> None:
    found = list(parse_seed_lines(lines, "s"))
    numbers = [item.line for item in found]
    assert numbers == sorted(set(numbers))
    assert all(item.url.startswith(("http://", "https://")) for item in found if isinstance(item, Seed))
    assert all(str(item).isprintable() for item in found if isinstance(item, SeedFault))
