"""Bodies that are too large to be held in memory."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batchcrawl.errors import DiskFull
from batchcrawl.model.body import SpooledBody
from batchcrawl.model.clock import SystemClock
from batchcrawl.model.digest import digest
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.net.client import Client
from batchcrawl.net.incoming import HELD_BYTES_MAX
from batchcrawl.net.robots import ask_for_robots, first_hop
from batchcrawl.store.disk import Disk
from batchcrawl.store.spool import Spool, SpoolFile
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, RawServer, Step

OK = b"HTTP/1.1 200 OK\r\n"
LARGE = os.urandom(3 * HELD_BYTES_MAX)


class Watched:
    """Makes files and knows which of them are open."""

    def __init__(self, directory: Path) -> None:
        self._spool = Spool(Disk(), directory, "0")
        self.files: list[SpoolFile] = []

    def __call__(self) -> SpooledBody:
        self.files.append(self._spool.new())
        return self.files[-1]

    def opened(self) -> int:
        """Return how many files can still be read."""
        return sum(_can_be_read(file) for file in self.files)


def _can_be_read(file: SpoolFile) -> bool:
    try:
        next(file.pieces(), b"")
    except ValueError:
        return False
    return True


@pytest.fixture
def spool(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def _get(script: list[Step], spool: Callable[[], SpooledBody], **changes: Any) -> Answer | NoAnswer:
    with RawServer(script) as server:
        return local_client(open_spool=spool, **changes).get(server.url)


def test_a_large_body_goes_into_a_file_and_is_the_same(spool: Watched) -> None:
    answer = _get([OK + b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE], spool)
    assert isinstance(answer, Answer)
    assert answer.body is spool.files[0]
    assert (len(answer.body), answer.whole_body()) == (len(LARGE), LARGE)
    assert answer.payload_digest == digest(LARGE)
    answer.close()
    assert spool.opened() == 0


@pytest.mark.parametrize("size", [0, 1, HELD_BYTES_MAX])
def test_a_body_that_is_not_large_gets_no_file(spool: Watched, size: int) -> None:
    answer = _get([OK + b"\r\n" + LARGE[:size]], spool)
    assert isinstance(answer, Answer)
    assert (answer.body, spool.files) == (LARGE[:size], [])
    answer.close()


def test_a_large_body_in_chunks_is_cut_at_the_limit(spool: Watched) -> None:
    chunk = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
    answer = _get([OK + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 100], spool, body_bytes_max=300_001)
    assert isinstance(answer, Answer)
    assert (len(answer.body), answer.truncated) == (300_001, "length")
    assert answer.whole_body() == b"x" * 300_001
    answer.close()


def test_a_large_body_that_falls_silent_is_kept_as_far_as_it_came(spool: Watched) -> None:
    with RawServer([OK + b"\r\n" + LARGE, Act.HANG]) as server:
        answer = hasty_client(open_spool=spool).get(server.url)
    assert isinstance(answer, Answer)
    assert (answer.whole_body(), answer.truncated) == (LARGE, "time")
    answer.close()


def test_the_file_of_a_body_that_breaks_off_is_closed(spool: Watched) -> None:
    answer = _get([OK + b"Content-Length: %d\r\n\r\n" % (len(LARGE) + 1) + LARGE], spool)
    assert isinstance(answer, NoAnswer)
    assert (len(spool.files), spool.opened()) == (1, 0)


def test_a_full_disk_goes_through_and_the_connection_is_closed() -> None:
    class Full:
        def write(self, data: bytes) -> None:
            raise DiskFull("no space left")

        def __len__(self) -> int:
            return 0

        def pieces(self) -> Iterator[bytes]:
            return iter(())

        def close(self) -> None:
            pass

    with RawServer([OK + b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE, Act.HANG], [OK + b"\r\nsmall"]) as server:
        client = local_client(open_spool=Full)
        with pytest.raises(DiskFull):
            client.get(server.url)
        after = client.get(server.url)
        assert server.connections == 2
    assert isinstance(after, Answer)
    assert after.body == b"small"


def test_a_large_robots_txt_is_read_from_its_file(spool: Watched) -> None:
    text = b"User-agent: *\nDisallow: /x\n" + b"#" * 2 * HELD_BYTES_MAX
    with RawServer([OK + b"Content-Length: %d\r\n\r\n" % len(text) + text]) as server:
        client: Client = local_client(open_spool=spool, names={"*": f"127.0.0.1:{server.port}"})
        got = ask_for_robots(client, first_hop("http://a.test", ttl_s=60), SystemClock(), previous=None)
    assert isinstance(got.answer, Answer)
    assert len(spool.files) == 1
    assert getattr(got.found, "text", None) == text.decode()
    got.answer.close()
