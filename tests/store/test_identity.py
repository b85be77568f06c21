from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FORMAT_VERSION, Identity, read_identity, write_identity
from tests.support.forgetful import ForgetfulDisk, PowerCut

IDENTITY = Identity(partitions=2, canonical_steps=("fragment", "tracking"))
TEXT = """\
# Fixed when the crawl was born: the keys of its database depend on it. Do not edit.
format = 1
partitions = 2
canonical_steps = ["fragment", "tracking"]
hash = "blake2b"
signature = "text-blake2b-128"
"""


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "crawl.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    write_identity(Disk(), tmp_path / "crawl.toml", IDENTITY)
    assert (tmp_path / "crawl.toml").read_text() == TEXT


@given(st.integers(1, 10_000), st.lists(st.sampled_from(["fragment", "host_dot", "https"]), unique=True))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, partitions: int, steps: list[str]) -> None:
    path = tmp_path_factory.mktemp("identity") / "crawl.toml"
    identity = Identity(partitions=partitions, canonical_steps=tuple(steps))
    write_identity(Disk(), path, identity)
    assert read_identity(path) == identity


def test_a_newer_format_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    path = written(tmp_path, f"format = {FORMAT_VERSION + 1}\nnovelty = true\n")
    with pytest.raises(CrawlError, match=r"crawl.toml: format 2 is newer than this program's 1; use a newer") as raised:
        read_identity(path)
    assert type(raised.value) is CrawlError


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("partitions = 2", "partitions = 0"),
        ("partitions = 2", "partitions = 'two'"),
        ("partitions = 2", ""),
        ("format = 1", ""),
        ("format = 1", "format = 1\nnovelty = true"),
        ('"blake2b"', '"md5"'),
        ('"text-blake2b-128"', '"other"'),
        ("[", ""),
        ("tracking", "\x00"),
    ],
)
def test_a_file_that_was_changed_is_corrupt_data(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(CorruptData, match=r"crawl\.toml: "):
        read_identity(written(tmp_path, TEXT.replace(old, new, 1)))


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"\x00" * 40])
def test_bytes_that_are_no_text_are_corrupt_data(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(CorruptData, match=r"crawl\.toml: "):
        read_identity(written(tmp_path, data))


def test_a_power_cut_leaves_no_identity_or_all_of_it(tmp_path: Path) -> None:
    for number in range(1, 20):
        root = tmp_path / str(number)
        root.mkdir()
        disk = ForgetfulDisk(root, fail_at=number)
        try:
            write_identity(disk, root / "crawl.toml", IDENTITY)
        except PowerCut:
            disk.crash()
            assert not (root / "crawl.toml").exists() or read_identity(root / "crawl.toml") == IDENTITY
        else:
            disk.crash()
            assert read_identity(root / "crawl.toml") == IDENTITY
            return
    raise AssertionError("it never ends")
