import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.store.disk import Disk
from batchcrawl.store.warc_reader import iter_warc, read_exchange
from batchcrawl.store.warc_record import gzip_member, strict_head
from tests.support.exchanges import answer
from tests.support.forgetful import ForgetfulDisk
from tests.support.warc_judge import judge
from tests.support.warcs import recover_warc, warc_writer

FP = "0123456789abcdef" * 2
NAME = "0-00000.warc.gz"


@pytest.fixture(scope="module")
def whole_warc(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    directory = tmp_path_factory.mktemp("warc")
    writer = warc_writer(directory)
    for number in range(3):
        writer.write_exchange(answer(number, body=b"body %d" % number), fp=FP)
    writer.close()
    return (directory / NAME).read_bytes()


@settings(deadline=None)  # it waits for the device
@given(
    body=st.one_of(st.binary(), st.integers(0, 300_000).map(lambda size: b"ab" * size)),
    headers=st.lists(
        st.tuples(
            st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}", fullmatch=True),
            st.from_regex(r"([!-~\xa1-\xff]([ -~\xa1-\xff]*[!-~\xa1-\xff])?)?", fullmatch=True),
        )
    ),
)
def test_status_headers_and_body_are_given_back_as_sent(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, headers: list[tuple[str, str]]
) -> None:
    directory = tmp_path_factory.mktemp("warc")
    writer = warc_writer(directory)
    location = writer.write_exchange(answer(body=body, headers=tuple(headers), status=203), fp=FP)
    writer.close()
    stored = read_exchange(directory / location.file, location.offset, verify=True)
    assert (stored.status, stored.reason, stored.body) == (203, "OK", body)
    assert stored.headers == tuple(headers)


@settings(deadline=None)  # it waits for the device
@given(head=st.lists(st.sampled_from([b"HTTP/1.1 200 OK", b"A: 1", b" folded", b"\r\n", b"\n", b"\r", b": ", b"\xff"])))
def test_a_loose_head_is_made_strict_without_touching_the_body(
    tmp_path_factory: pytest.TempPathFactory, head: list[bytes]
) -> None:
    directory = tmp_path_factory.mktemp("warc")
    writer = warc_writer(directory)
    loose = b"HTTP/1.0 200\n" + b"".join(head) + b"\n\n"
    location = writer.write_exchange(answer(body=b"\r\n\r\nbody", response_head=loose), fp=FP)
    writer.suspend()
    assert read_exchange(directory / location.file, location.offset, verify=True).body == b"\r\n\r\nbody"
    assert re.sub(rb"[\r\n]", b"", strict_head(loose)) == re.sub(rb"[\r\n]", b"", loose)


def test_a_strict_head_is_kept_to_the_byte() -> None:
    head = b"HTTP/1.1 200 OK\r\nA:  two\r\n folded\r\nno colon\r\n\r\n"
    assert strict_head(head) == head


def test_folded_and_broken_header_lines_are_read_as_browsers_do(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    head = b"HTTP/1.1 200 OK\r\nA: one\r\n\ttwo\r\nno colon\r\n: no name\r\nB:\r\n\r\n"
    location = writer.write_exchange(answer(response_head=head), fp=FP)
    stored = read_exchange(tmp_path / location.file, location.offset)
    assert stored.headers == (("A", "one two"), ("B", ""))
    assert stored.header("b") == ""
    assert stored.header("c") is None


def test_an_exchange_is_read_from_a_file_that_still_grows(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_exchange(answer(4), fp=FP)
    assert (tmp_path / f"{NAME}.open").exists()
    assert read_exchange(tmp_path / location.file, location.offset).target_uri == "http://example.org/page/4"


def test_any_cut_is_recovered_to_a_prefix_of_the_records(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / NAME).write_bytes(whole_warc)
    records = list(iter_warc(tmp_path / NAME))
    ends = [record.offset + record.length for record in records]
    path = tmp_path / "cut.warc.gz.open"
    for size in range(len(whole_warc) + 1):
        path.write_bytes(whole_warc[:size])
        assert recover_warc(ForgetfulDisk(tmp_path), path) == max([0, *(end for end in ends if end <= size)])
        assert list(iter_warc(path)) == [record for record, end in zip(records, ends, strict=True) if end <= size]


@settings(deadline=None)  # it waits for the device
@given(cut=st.integers(0, 1500), tail=st.one_of(st.integers(1, 200_000).map(bytes), st.binary(min_size=1)))
def test_a_tail_of_zeros_or_garbage_is_cut(
    tmp_path_factory: pytest.TempPathFactory, whole_warc: bytes, cut: int, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("warc") / "a.warc.gz.open"
    path.write_bytes(whole_warc[:cut] + tail)
    valid = recover_warc(Disk(), path)
    assert path.stat().st_size == valid
    assert whole_warc.startswith(path.read_bytes())


def test_recovery_makes_the_records_of_a_killed_process_durable(tmp_path: Path, whole_warc: bytes) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.open_append(tmp_path / "a.warc.gz.open").write(whole_warc + b"torn")
    recover_warc(disk, tmp_path / "a.warc.gz.open")
    disk.crash()
    assert (tmp_path / "a.warc.gz.open").read_bytes() == whole_warc


def test_damage_in_what_was_synced_is_no_torn_tail(tmp_path: Path, whole_warc: bytes) -> None:
    path = tmp_path / "a.warc.gz.open"
    path.write_bytes(whole_warc[:-10])
    with pytest.raises(CorruptData, match=f"though {len(whole_warc)} bytes were written safely"):
        recover_warc(Disk(), path, synced_bytes=len(whole_warc))
    assert path.read_bytes() == whole_warc[:-10]


def test_recovery_makes_the_name_of_a_killed_process_durable(tmp_path: Path, whole_warc: bytes) -> None:
    disk = ForgetfulDisk(tmp_path)
    disk.open_new(tmp_path / "a.warc.gz.open").write(whole_warc)
    recover_warc(disk, tmp_path / "a.warc.gz.open")
    disk.crash()
    assert (tmp_path / "a.warc.gz.open").read_bytes() == whole_warc


def test_recovering_a_file_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(CrawlError, match="is not there"):
        recover_warc(Disk(), tmp_path / "a.warc.gz.open")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match=f"{NAME} is missing"):
        read_exchange(tmp_path / NAME, 0)


def test_a_torn_tail_just_ends_a_file_that_still_grows(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / f"{NAME}.open").write_bytes(whole_warc[:-3])
    assert [record.kind for record in iter_warc(tmp_path / NAME)][-2:] == ["request", "response"]


def test_a_torn_tail_of_a_closed_file_is_named(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / NAME).write_bytes(whole_warc[:-3])
    with pytest.raises(CorruptData, match=rf"{NAME}: no whole record at byte \d+: the file ends within it"):
        list(iter_warc(tmp_path / NAME))


def test_reading_can_begin_at_any_record(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / NAME).write_bytes(whole_warc)
    records = list(iter_warc(tmp_path / NAME))
    assert list(iter_warc(tmp_path / NAME, records[3].offset)) == records[3:]


def test_every_flipped_bit_pattern_of_a_response_is_noticed(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / NAME).write_bytes(whole_warc)
    _, response, *_ = iter_warc(tmp_path / NAME)
    whole = read_exchange(tmp_path / NAME, response.offset, verify=True)
    for position in range(response.offset + 10, response.offset + response.length):
        damaged = bytearray(whole_warc)
        damaged[position] ^= 0x55
        (tmp_path / "bad.warc.gz").write_bytes(damaged)
        with pytest.raises(CorruptData, match=f"at byte {response.offset}"):
            read_exchange(tmp_path / "bad.warc.gz", response.offset)
    assert whole.body == b"body 0"


@pytest.mark.parametrize("offset", [1, 100, 10_000_000])
def test_an_offset_where_no_record_begins_is_named(tmp_path: Path, whole_warc: bytes, offset: int) -> None:
    (tmp_path / NAME).write_bytes(whole_warc)
    with pytest.raises(CorruptData, match=f"no whole record at byte {offset}"):
        read_exchange(tmp_path / NAME, offset)


def test_a_record_of_another_kind_is_named(tmp_path: Path, whole_warc: bytes) -> None:
    (tmp_path / NAME).write_bytes(whole_warc)
    with pytest.raises(CorruptData, match="a warcinfo record at byte 0, where a response was expected"):
        read_exchange(tmp_path / NAME, 0)


@pytest.mark.parametrize(
    ("fields", "block", "complaint"),
    [
        ([("WARC-Type", "response")], b"no head", "no end of its head"),
        ([("WARC-Type", "response")], b"HTTP/1.1 200 OK\r\n\r\n", "begins with 'HTTP/1.1 200 OK'"),
        ([("WARC-Type", "response"), ("WARC-Target-URI", "http://a/")], b"HTTP/1.1 OK\r\n\r\n", "begins with"),
        ([], b"", "no WARC record at byte 0"),
    ],
)
def test_a_record_that_is_no_response_is_named(
    tmp_path: Path, fields: list[tuple[str, str | None]], block: bytes, complaint: str
) -> None:
    (tmp_path / NAME).write_bytes(gzip_member(fields, block))
    with pytest.raises(CorruptData, match=complaint):
        read_exchange(tmp_path / NAME, 0)


def test_a_wrong_digest_is_noticed_when_asked_for(tmp_path: Path) -> None:
    fields = [
        ("WARC-Type", "response"), ("WARC-Target-URI", "http://a/"), ("WARC-Date", "2026-11-30T00:00:00Z"),
        ("WARC-Payload-Digest", "sha1:AAAA"),
    ]  # fmt: skip
    (tmp_path / NAME).write_bytes(gzip_member(fields, b"HTTP/1.1 200 OK\r\n\r\nbody"))
    assert read_exchange(tmp_path / NAME, 0).body == b"body"
    with pytest.raises(CorruptData, match="says WARC-Payload-Digest sha1:AAAA"):
        read_exchange(tmp_path / NAME, 0, verify=True)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_072, 1_000_000])
def test_bodies_around_the_size_of_a_chunk_are_whole(tmp_path: Path, size: int) -> None:
    writer = warc_writer(tmp_path)
    body = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    location = writer.write_exchange(answer(body=body), fp=FP)
    writer.close()
    assert read_exchange(tmp_path / NAME, location.offset).body == body
    assert judge([tmp_path / NAME]) == []
