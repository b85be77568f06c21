"""Which of a host's addresses is connected to, and which spellings of an address reach it."""

import subprocess
import sys
from pathlib import Path

import pytest

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.web.urls import parse_url
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import RawServer

ROOT = Path(__file__).parents[2]
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.mark.parametrize("first", ["127.0.0.2", "::1"])
def test_where_the_first_address_refuses_the_next_is_tried(first: str) -> None:
    with RawServer([PAGE]) as server:
        client = local_client(lookup=lambda host: [first, "127.0.0.1"])
        answer = client.get(f"http://www.example.org:{server.port}/")
    assert isinstance(answer, Answer), answer
    assert answer.address == "127.0.0.1"


def test_an_address_that_is_refused_by_the_guard_is_left_out() -> None:
    with RawServer([PAGE]) as server:
        client = local_client(lookup=lambda host: ["10.0.0.1", "127.0.0.1"])
        answer = client.get(f"http://www.example.org:{server.port}/")
    assert isinstance(answer, Answer)
    assert answer.address == "127.0.0.1"


def test_where_all_addresses_refuse_the_last_reason_is_told() -> None:
    with RawServer([]) as server:
        port = server.port
    answer = local_client(lookup=lambda host: ["127.0.0.2", "127.0.0.1"]).get(f"http://www.example.org:{port}/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.CONNECT_FAILED
    assert answer.detail.startswith(f"127.0.0.1 port {port}: ")


def test_an_answer_of_the_name_servers_that_changes_is_judged_each_time() -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    with RawServer([PAGE]) as server:
        client = local_client(lookup=lambda host: next(answers))
        assert isinstance(client.get(f"http://a.test:{server.port}/"), Answer)
        second = client.get(f"http://b.test:{server.port}/")
    assert isinstance(second, NoAnswer)
    assert second.outcome is FetchOutcome.ADDRESS_REFUSED


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "0", "0.0.0.0",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]",
        "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "169.254.169.254", "0xa9fea9fe",
        "127.0.0.1.nip.test", "localhost",
    ],
)  # fmt: skip
def test_no_spelling_of_an_address_that_is_not_public_gets_by(host: str) -> None:
    url = parse_url(f"http://{host}:9/")
    assert url is not None
    answer = hasty_client(allow_addresses=(), lookup=lambda host: ["127.0.0.1", "::ffff:10.0.0.1"]).get(url)
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.ADDRESS_REFUSED


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"])
def test_what_the_system_takes_for_an_address_is_judged_too(host: str) -> None:
    answer = hasty_client(allow_addresses=()).get(f"http://{host}:9/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome in (FetchOutcome.ADDRESS_REFUSED, FetchOutcome.DNS_FAILED)


_WITHOUT_FILES = """
import resource
from tests.support.clients import local_client
client = local_client()
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
client.get("http://127.0.0.1:9/")
"""


def test_that_no_file_can_be_opened_is_no_fault_of_the_host() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _WITHOUT_FILES], cwd=ROOT, capture_output=True, text=True, check=False
    )
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("batchcrawl.errors.CrawlError: no connection can be opened: Too many open files")
