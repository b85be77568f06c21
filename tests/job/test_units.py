import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.job.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("0s", 0),
        ("30s", 30),
        ("1.5h", 5400),
        ("10m", 600),
        ("6h", 21600),
        ("7d", 604800),
        ("2w", 1209600),
    ],
)
def test_a_time_with_a_unit_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0B", 0),
        ("512B", 512),
        ("10MB", 10_000_000),
        ("2MiB", 2_097_152),
        ("1.5kb", 1500),
        ("1 GB", 10**9),
        ("1TiB", 2**40),
    ],
)
def test_a_size_with_a_unit_is_read_as_bytes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "5", "s", "-1s", "1e3s", "5 minutes", "1h30m", "5S", "٣s", "inf", "10MB", "5s "])
def test_what_is_no_time_is_refused(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["", "5", "MB", "-1MB", "1.5B", "5M", "5 megabytes", "30s", "٣MB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    assert parse_size(text) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.25, "250ms"), (60, "1m"), (90, "90s"), (86400, "1d"), (1209600, "14d"), (0.0001, "0.0001s")],
)
def test_a_time_is_spelled_in_the_largest_unit_that_leaves_it_whole(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(0, "0B"), (1500, "1500B"), (2048, "2KiB"), (10_000_000, "10MB"), (2**30, "1GiB")]
)
def test_a_size_is_spelled_in_the_largest_unit_that_leaves_it_whole(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


@given(st.integers(0, 10 * 365 * 86400 * 1000))
def test_a_spelled_time_is_read_back_as_the_same_number(milliseconds: int) -> None:
    seconds = milliseconds / 1000
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(0, 10**15))
def test_a_spelled_size_is_read_back_as_the_same_number(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(st.text())
def test_any_text_is_a_number_or_none(text: str) -> None:
    assert parse_duration(text) is None or (parse_duration(text) or 0) >= 0
    assert parse_size(text) is None or (parse_size(text) or 0) >= 0
