"""Records of bodies that are too large for the memory."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlError
from batchcrawl.model.digest import digest
from batchcrawl.store.disk import Disk
from batchcrawl.store.spool import Spool, SpoolFile
from batchcrawl.store.warc_file import new_file
from batchcrawl.store.warc_reader import iter_warc, read_exchange
from batchcrawl.store.warc_record import gzip_member
from tests.support.exchanges import answer
from tests.support.warc_judge import judge
from tests.support.warcs import warc_writer

FP = "0123456789abcdef" * 2


def _large(directory: Path, body: bytes) -> SpoolFile:
    file = Spool(Disk(), directory, "test").new()
    file.write(body)
    return file


def test_a_body_in_a_file_becomes_the_record_that_it_would_be_in_memory(tmp_path: Path) -> None:
    body = os.urandom(200_000) + b"x" * 200_000
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(0), fp=FP)
    with closing(answer(1, body=body, made_of=_large(tmp_path, body))) as large:
        location = writer.write_exchange(large, fp=FP)
    writer.write_exchange(answer(2), fp=FP)
    (info,) = writer.close()
    path = tmp_path / info.name
    stored = read_exchange(path, location.offset, verify=True)
    assert (stored.body, location.digest) == (body, digest(body))
    assert judge([path]) == []
    assert (info.bytes, info.checksum) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
    (tmp_path / "held").mkdir()
    held = warc_writer(tmp_path / "held")
    for number in (0, 1, 2):
        held.write_exchange(answer(number, body=body) if number == 1 else answer(number), fp=FP)
    assert [(r.fields, r.block) for r in iter_warc(path)] == [
        (r.fields, r.block) for r in iter_warc(tmp_path / "held" / held.close()[0].name)
    ]


def test_a_large_record_closes_the_file_that_has_no_room_for_it(tmp_path: Path) -> None:
    body = os.urandom(300_000)
    writer = warc_writer(tmp_path, file_bytes_max=200_000)
    writer.write_exchange(answer(0), fp=FP)
    with closing(answer(1, body=body, made_of=_large(tmp_path, body))) as large:
        assert writer.write_exchange(large, fp=FP).file == "0-00001.warc.gz"
    assert len(writer.close()) == 2


def test_of_a_record_whose_body_cannot_be_read_nothing_stays(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(0), fp=FP)
    gone = _large(tmp_path, b"x" * 100_000)
    gone.close()
    with pytest.raises(ValueError, match="closed"):
        writer.write_exchange(answer(1, made_of=gone), fp=FP)
    location = writer.write_exchange(answer(2), fp=FP)
    (info,) = writer.close()
    assert read_exchange(tmp_path / info.name, location.offset, verify=True).target_uri.endswith("/page/2")
    assert judge([tmp_path / info.name]) == []


def test_of_members_whose_pieces_cannot_be_had_nothing_stays(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half a member"
        raise CrawlError("the disk fails")

    growing = new_file(Disk(), tmp_path, "a.warc.gz")
    member = gzip_member((), b"whole")
    growing.append((member,), records=1)
    with pytest.raises(CrawlError):
        growing.append(broken(), records=1)
    assert growing.append((member,), records=1) == len(member)
    growing.file.close()
    info = growing.info()
    assert (tmp_path / "a.warc.gz.open").read_bytes() == 2 * member
    assert (info.lines, info.checksum) == (2, hashlib.sha256(2 * member).hexdigest())
