import struct
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import (
    HEAD_BYTES,
    INSTANT_MAX,
    RECORD_VERSION,
    UrlRecord,
    decode_head,
    decode_record,
    encode_record,
    is_known_as,
)
from batchcrawl.model.status import PageStatus, Place

EXAMPLE = UrlRecord(
    url="https://example.org/a",
    status=PageStatus.FETCHED,
    place=Place.TIMER,
    level=6,
    depth=1,
    outcome=FetchOutcome.FETCHED,
    http_status=200,
    fetches=2,
    changes=1,
    first_seen_at=1_796_000_000,
    last_fetch_at=1_796_040_000,
    last_change_at=1_796_040_000,
    next_fetch_at=1_796_126_400,
    interval_s=86_400,
    rate_a=0.75,
    rate_b=1.5,
    source=bytes.fromhex("00112233445566778899aabbccddeeff"),
    etag='"x"',
    body_at=1_795_867_200.25,
    not_modified=2,
    inlinks=0x00300001,
)
# Byte for byte as docs/FORMAT.md tells it, section "URL record".
EXAMPLE_BYTES = bytes.fromhex(
    "01 02 02 06 0100 00 01 00 00"  # version, status, place, level, depth, retries, outcome, flags, hops
    "c800 0200 0100"  # HTTP status, fetches, changes
    "00c90c6b 40650d6b 40650d6b c0b60e6b 80510100 00000000"  # first seen, last fetch, last change, next, interval, none
    "0000403f 0000c03f"  # a and b of the change rate
    "dc0018"  # an array of twenty-four
    "b5 68747470733a2f2f6578616d706c652e6f72672f61"  # the URL
    "c0 c0 c0"  # URL as linked, score, seed interval
    "c410 00112233445566778899aabbccddeeff"  # source
    "a3 227822"  # ETag
    "c0 c0 c0 c0 c0 c0 c0 c0 c0"  # nine elements that are absent
    "cb 41dac2b090100000"  # start of the exchange that has the body
    "c0 02"  # no content coding, twice not modified
    "c0 c0 c0 c0 c0"  # never dated, no signals, no sites, no text, like no other
    "ce 00300001"  # two domains link here
)

instants = st.none() | st.integers(1, INSTANT_MAX)
texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
rates = st.floats(min_value=0, max_value=2.0**100, width=32)
records = st.builds(
    UrlRecord,
    url=st.text(st.characters(exclude_categories=["Cs"])),
    status=st.sampled_from(PageStatus),
    place=st.sampled_from(Place),
    level=st.integers(0, 255),
    depth=st.integers(0, 0xFFFF),
    retries=st.integers(0, 0xFF),
    outcome=st.none() | st.sampled_from(FetchOutcome),
    seed=st.booleans(),
    hops=st.integers(0, 0xFF),
    costly=st.booleans(),
    http_status=st.none() | st.integers(100, 999),
    fetches=st.integers(0, 0xFFFF),
    changes=st.integers(0, 0xFFFF),
    first_seen_at=st.integers(0, INSTANT_MAX),
    last_fetch_at=instants,
    last_change_at=instants,
    next_fetch_at=instants,
    interval_s=instants,
    lease=instants,
    rate_a=rates,
    rate_b=rates,
    fetch_url=texts,
    score=st.none() | st.floats(allow_nan=False),
    seed_interval_s=st.none() | st.integers(1, 2**40),
    source=st.none() | st.binary(min_size=16, max_size=16),
    etag=texts,
    last_modified=texts,
    signature=st.none() | st.binary(min_size=16, max_size=16),
    simhash=st.none() | st.binary(min_size=8, max_size=8),
    digest=texts,
    content_type=texts,
    redirect=texts,
    segment=texts,
    duplicate_of=st.none() | st.binary(min_size=16, max_size=16),
    metadata=st.none() | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.just("v"), max_size=3),
    body_at=st.none() | st.floats(allow_nan=False),
    content_encoding=texts,
    not_modified=st.integers(0, 2**40),
    kind=st.sampled_from(UrlKind),
    lastmod_at=st.none() | st.integers(0, 2**40),
    signals=st.integers(0, 255),
    sites=st.none() | st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3),
    content_at=instants,
    near_to=st.none() | st.binary(min_size=16, max_size=16),
    inlinks=st.integers(0, 2**32 - 1),
)


def changed(**changes: Any) -> UrlRecord:
    return msgspec.structs.replace(EXAMPLE, **changes)


def test_the_worked_example_is_written_byte_for_byte() -> None:
    assert encode_record(EXAMPLE).hex(" ") == EXAMPLE_BYTES.hex(" ")


def test_the_worked_example_is_read() -> None:
    assert decode_record(EXAMPLE_BYTES) == EXAMPLE


def test_the_head_is_48_bytes() -> None:
    assert HEAD_BYTES == 48


@given(records)
def test_what_is_written_is_read(record: UrlRecord) -> None:
    assert decode_record(encode_record(record)) == record


@given(records)
def test_the_head_alone_says_the_same_as_the_record(record: UrlRecord) -> None:
    head = decode_head(encode_record(record))
    assert {name: getattr(record, name) for name in head.__struct_fields__} == msgspec.structs.asdict(head)


@given(records, st.integers(0, 9), st.integers(0, 9))
def test_stored_bytes_say_alone_whether_a_link_brings_a_url_nearer(record: UrlRecord, depth: int, hops: int) -> None:
    near = record.depth <= depth and record.hops <= hops
    assert is_known_as(encode_record(record), record.url, depth=depth, hops=hops) == (near and record.url.isascii())


@pytest.mark.parametrize("other", ["http://a.test/1", "http://a.test/123", "http://a.test/13", ""])
def test_stored_bytes_are_those_of_their_url_alone(other: str) -> None:
    assert not is_known_as(encode_record(UrlRecord(url="http://a.test/12")), other, depth=9, hops=9)


def test_a_damaged_record_is_known_as_nothing() -> None:
    data = encode_record(UrlRecord(url="http://a.test/"))
    assert not any(is_known_as(data[:cut], "http://a.test/", depth=9, hops=9) for cut in range(len(data) - 30))


@given(st.floats(min_value=0, max_value=2.0**100))
def test_rates_are_kept_as_the_nearest_float32(rate: float) -> None:
    nearest = struct.unpack("<f", struct.pack("<f", rate))[0]
    read = decode_record(encode_record(changed(rate_a=rate, rate_b=rate)))
    assert (read.rate_a, read.rate_b) == (nearest, nearest)


def test_a_second_write_changes_nothing_more() -> None:
    once = encode_record(changed(rate_a=1 / 3))
    assert encode_record(decode_record(once)) == once


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ("depth", 0xFFFF),
        ("retries", 0xFF),
        ("fetches", 0xFFFF),
        ("changes", 0xFFFF),
        ("first_seen_at", INSTANT_MAX),
        ("last_fetch_at", INSTANT_MAX),
        ("last_change_at", INSTANT_MAX),
        ("next_fetch_at", INSTANT_MAX),
        ("interval_s", INSTANT_MAX),
    ],
)
def test_what_outgrows_its_width_stays_at_the_largest(field: str, most: int) -> None:
    assert getattr(decode_record(encode_record(changed(**{field: most + 1}))), field) == most


def test_a_record_from_before_there_were_revisits_has_no_copy_to_refer_to() -> None:
    tail = msgspec.msgpack.decode(EXAMPLE_BYTES[HEAD_BYTES:])
    older = EXAMPLE_BYTES[:HEAD_BYTES] + msgspec.msgpack.encode(tail[:15])
    assert decode_record(older) == changed(body_at=None, not_modified=0, inlinks=0)


def test_any_cut_is_corrupt() -> None:
    for size in range(len(EXAMPLE_BYTES)):
        with pytest.raises(CorruptData):
            decode_record(EXAMPLE_BYTES[:size])


def test_bytes_behind_the_end_are_corrupt() -> None:
    with pytest.raises(CorruptData, match="damaged"):
        decode_record(EXAMPLE_BYTES + b"\x00")


@given(st.integers(0, len(EXAMPLE_BYTES) - 1), st.integers(0, 255))
def test_a_damaged_byte_gives_a_record_or_corrupt_data(at: int, value: int) -> None:
    damaged = bytearray(EXAMPLE_BYTES)
    damaged[at] = value
    for decode in (decode_record, decode_head):
        try:
            decode(bytes(damaged))
        except CorruptData:
            continue


@given(st.binary(max_size=200))
def test_any_bytes_give_a_record_or_corrupt_data(data: bytes) -> None:
    for decode in (decode_record, decode_head):
        try:
            decode(data)
        except CorruptData:
            continue


@pytest.mark.parametrize(("at", "what"), [(1, "status 99"), (2, "place 99"), (7, "outcome 99")])
def test_an_unknown_number_is_corrupt(at: int, what: str) -> None:
    damaged = bytearray(EXAMPLE_BYTES)
    damaged[at] = 99
    for decode in (decode_record, decode_head):
        with pytest.raises(CorruptData, match=what):
            decode(bytes(damaged))


def test_a_newer_version_is_refused_even_if_its_bytes_are_other() -> None:
    newer = bytes([RECORD_VERSION + 1]) + b"whatever"
    for decode in (decode_record, decode_head):
        with pytest.raises(CorruptData, match=f"version {RECORD_VERSION + 1}; this program reads version"):
            decode(newer)
