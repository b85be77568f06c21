import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.codings import decode_body

BODY = b"The quick brown fox jumps over the lazy dog. " * 400
MAX = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


ENCODED = {
    "gzip": gzip.compress(BODY),
    "x-gzip": gzip.compress(BODY),
    "GZIP ": gzip.compress(BODY),
    "deflate": zlib.compress(BODY),
    "gzip, gzip": gzip.compress(gzip.compress(BODY)),
    "deflate, gzip": gzip.compress(zlib.compress(BODY)),
    "br": brotli.compress(BODY),
    "br, gzip": gzip.compress(brotli.compress(BODY)),
    "zstd": zstandard.compress(BODY),
    "identity": BODY,
    "": BODY,
    "utf-8": BODY,
    "gzip, utf-8": gzip.compress(BODY),
}


@pytest.mark.parametrize("coding", ENCODED)
def test_a_coding_is_undone(coding: str) -> None:
    assert decode_body(ENCODED[coding], coding, bytes_max=MAX) == BODY


def test_no_coding_leaves_the_body() -> None:
    assert decode_body(BODY, None, bytes_max=MAX) == BODY


def test_deflate_without_its_zlib_head_is_undone() -> None:
    assert decode_body(raw_deflate(BODY), "deflate", bytes_max=MAX) == BODY


@pytest.mark.parametrize("coding", ["dcb", "compress", "gzip, dcz", "gzip, gzip, gzip, gzip"])
def test_a_coding_that_cannot_be_undone_gives_none(coding: str) -> None:
    assert decode_body(BODY, coding, bytes_max=MAX) is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_not_in_its_coding_is_taken_as_it_is(coding: str) -> None:
    for plain in (b"<html>plain</html>", "é".encode() * 30, b""):
        assert decode_body(plain, coding, bytes_max=MAX) == plain


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "identity"])
@pytest.mark.parametrize("bytes_max", [0, 1, 1000])
def test_the_limit_holds(coding: str, bytes_max: int) -> None:
    assert decode_body(ENCODED[coding], coding, bytes_max=bytes_max) == BODY[:bytes_max]


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": zstandard.compress,
}
DECODE_AND_MEASURE = """
import resource, sys
from pathlib import Path
from batchcrawl.web.codings import decode_body

def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

bomb = Path(sys.argv[1]).read_bytes()
decode_body(bomb, sys.argv[2], bytes_max=1)
before = peak_kib()
assert decode_body(bomb, sys.argv[2], bytes_max=1_000_000) == bytes(1_000_000)
print(peak_kib() - before)
"""


@pytest.mark.parametrize("coding", BOMBS)
def test_a_bomb_is_cut_at_the_limit_and_leaves_memory_flat(coding: str, tmp_path: Path) -> None:
    bomb = BOMBS[coding](bytes(100_000_000))
    assert len(bomb) <= 100_000_000 / 1000
    (tmp_path / "bomb").write_bytes(bomb)
    arguments = [sys.executable, "-c", DECODE_AND_MEASURE, str(tmp_path / "bomb"), coding]
    grown = subprocess.run(arguments, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert int(grown.stdout) < 12_000


@pytest.mark.parametrize("coding", BOMBS)
def test_a_cut_body_gives_its_start(coding: str) -> None:
    varied = b"".join(b"%d " % (number * number) for number in range(30_000))
    whole = BOMBS[coding](varied)
    decoded = decode_body(whole[: len(whole) // 2], coding, bytes_max=MAX)
    assert decoded
    assert varied.startswith(decoded)


def test_a_wrong_checksum_costs_only_the_end() -> None:
    damaged = gzip.compress(BODY)[:-8] + bytes(8)
    decoded = decode_body(damaged, "gzip", bytes_max=MAX)
    assert decoded is not None
    assert BODY.startswith(decoded)


def test_gzip_members_are_joined_and_what_follows_is_dropped() -> None:
    assert decode_body(gzip.compress(b"a") + gzip.compress(b"b") + b"junk", "gzip", bytes_max=MAX) == b"ab"


@given(st.binary(), st.sampled_from(sorted(ENCODED)), st.integers(0, 100))
def test_any_body_is_taken(body: bytes, coding: str, bytes_max: int) -> None:
    decoded = decode_body(body, coding, bytes_max=bytes_max)
    assert decoded is not None
    assert len(decoded) <= bytes_max


@given(st.binary(max_size=3000), st.integers(0, 3000))
def test_any_cut_of_a_gzip_body_gives_a_prefix(body: bytes, cut: int) -> None:
    decoded = decode_body(gzip.compress(body)[: 18 + cut], "gzip", bytes_max=MAX)
    assert decoded is not None
    assert body.startswith(decoded)
