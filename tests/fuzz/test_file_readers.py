"""What reads files takes any bytes: it tells of damage by the error that is meant for it, naming the file."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData, CrawlError, JobFileError, SeedError
from batchcrawl.job.load import load_job
from batchcrawl.job.seed_files import read_seed_file
from batchcrawl.job.seeds import Seed, SeedFault, parse_seed_lines
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.record import decode_head, decode_record
from batchcrawl.policy.url_filters import FilterFault, parse_regex_filter, parse_suffix_filter
from batchcrawl.store.identity import read_identity
from batchcrawl.store.leveldb_manifest import next_file_number
from batchcrawl.store.records import read_lines, read_log
from batchcrawl.store.segment import read_manifest
from batchcrawl.store.warc_file import scan_warc
from batchcrawl.store.warc_reader import iter_warc, read_exchange
from tests.fuzz.inputs import built_of, examples
from tests.support.exchanges import answer
from tests.support.warcs import warc_writer

PIECES_OF_JOBS = (
    *("seeds", " = ", "[", "]", "\n", '"', '"https://a.org/"', "contact", "[fetch]", "threads", "64", "-1", "1e999"),
    *("[scope]", "rules", "{", "}", ",", '"30s"', "10MB", "[network]", "names", "true", "#", "'''", "allow_addresses"),
)
PIECES_OF_SEEDS = ("http://a.org/", "\t", "score=", "interval=", "1d", "=", "#", "\r\n", "\n", "é", "1e999", "ftp://")
READERS: dict[str, Callable[[Path], object]] = {
    "lines": lambda path: list(read_lines(path, PageLine)),
    "log": lambda path: list(read_log(path, FetchLogLine)),
    "sealed log": lambda path: list(read_log(path, FetchLogLine, sealed=True)),
    "manifest": read_manifest,
    "identity": read_identity,
    "warc": lambda path: list(iter_warc(path)),
    "exchange": lambda path: read_exchange(path, 0, verify=True),
}


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("warc")
    writer = warc_writer(folder)
    at = writer.write_exchange(answer(0), fp="00" * 16)
    writer.close()
    return (folder / at.file).read_bytes()


@pytest.mark.parametrize("name", READERS)
@examples
@given(data=st.binary(max_size=500))
def test_files_of_a_crawl_that_are_rubbish(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.warc.gz"
    path.write_bytes(data)
    try:
        READERS[name](path)
    except CrawlError as error:
        told = str(error)
    else:
        told = str(path)
    assert str(path) in told


@examples
@given(data=st.data())
def test_warc_files_with_any_bytes_changed_or_cut(warc: bytes, data: st.DataObject, tmp_path: Path) -> None:
    changed = bytearray(warc)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "0-00000.warc.gz"
    path.write_bytes(changed[: data.draw(st.integers(0, len(changed)))])
    assert scan_warc(path).valid_bytes <= path.stat().st_size
    with suppress(CorruptData):
        list(iter_warc(path))
    with suppress(CorruptData):
        read_exchange(path, data.draw(st.integers(0, len(warc))), verify=True)


@examples
@given(data=st.binary(max_size=300), text=built_of(PIECES_OF_JOBS))
def test_job_files(data: bytes, text: str, tmp_path: Path) -> None:
    for content in (data, text.encode()):
        (tmp_path / "job.toml").write_bytes(content)
        with suppress(JobFileError):
            load_job("job.toml", cwd=tmp_path)


@examples
@given(data=st.binary(max_size=500) | built_of(PIECES_OF_SEEDS).map(str.encode), as_gzip=st.booleans())
def test_seed_files(data: bytes, as_gzip: bool, tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"\x1f\x8b" + data if as_gzip else data)
    with suppress(SeedError):
        for line in read_seed_file(path, path.name):
            assert isinstance(line, Seed | SeedFault)
    assert len(list(parse_seed_lines(data.splitlines(), "seeds"))) <= len(data.splitlines())


@examples
@given(built_of(("+", "-", "^https?://", ".*", "\n", "#", "(", ")", "[", "{99}", "\\d", ".gif", "A", "I", "P", ">")))
def test_filter_files(text: str) -> None:
    for parse in (parse_regex_filter, parse_suffix_filter):
        with suppress(FilterFault):
            parse(text, "filter.txt")


@examples
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_records_and_manifests_of_leveldb(head: bytes, tail: bytes) -> None:
    for data in (head + tail, b"\x01\x02\x02" + head):
        for decode in (decode_record, decode_head):
            with suppress(CorruptData):
                decode(data)
        next_file_number(data)
