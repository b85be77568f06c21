"""Questions to name servers: what they say, for how long it is good, and that they may say nothing."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batchcrawl.model.exchange import Answer
from batchcrawl.net.name_servers import NameServers
from tests.support.clients import local_client
from tests.support.name_server import Zone, closed_port, name_server
from tests.support.rawserver import RawServer

ZONE: Zone = {
    "www.example.org": [("192.0.2.1", 300), ("192.0.2.2", 120)],
    "both.example.org": [("192.0.2.1", 300), ("2001:db8::1", 60)],
    "empty.example.org": [],
    "silent.example.org": None,
    "here.example.org": [("127.0.0.1", 60)],
    "inside.example.org": [("10.0.0.1", 60)],
}


@pytest.fixture
def servers() -> Iterator[tuple[NameServers, list[str]]]:
    with name_server(ZONE) as server:
        yield NameServers([server.place], timeout_s=0.2, tries=2), server.asked


def test_an_answer_is_good_for_its_shortest_time_to_live(servers: tuple[NameServers, list[str]]) -> None:
    lookup, _ = servers
    found = lookup("www.example.org")
    assert (sorted(found.addresses), found.ttl_s) == (["192.0.2.1", "192.0.2.2"], 120)


def test_addresses_of_both_families_are_found(servers: tuple[NameServers, list[str]]) -> None:
    lookup, _ = servers
    found = lookup("both.example.org")
    assert (set(found.addresses), found.ttl_s) == ({"192.0.2.1", "2001:db8::1"}, 60)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.example.org", "not found"),
        ("empty.example.org", "data"),
        ("silent.example.org", "[Tt]ime"),
        ("a" * 64 + ".example", "[Mm]isformatted"),
        ("a..b", "[Mm]isformatted"),
        ("x" * 5000, "[Mm]isformatted"),
    ],
)
def test_a_name_without_addresses_is_an_error_that_says_why(
    servers: tuple[NameServers, list[str]], name: str, why: str
) -> None:
    lookup, _ = servers
    with pytest.raises(OSError, match=why):
        lookup(name)


@pytest.mark.parametrize("host", ["0177.0.0.1", "127.1", "0x7f.1", "2130706433", "a.example.0x", "192.0.2.1."])
def test_what_ends_in_a_number_is_no_name(servers: tuple[NameServers, list[str]], host: str) -> None:
    lookup, asked = servers
    with pytest.raises(OSError, match="no host name ends in a number"):
        lookup(host)
    assert asked == []


def test_a_server_that_does_not_run_is_an_error() -> None:
    with pytest.raises(OSError, match=r"\w"):
        NameServers([f"127.0.0.1:{closed_port()}"], timeout_s=0.2, tries=1)("www.example.org")


def test_the_hosts_file_goes_before_the_servers(servers: tuple[NameServers, list[str]]) -> None:
    lookup, asked = servers
    names = [
        (name, line.split()[0])
        for line in Path("/etc/hosts").read_text().splitlines()
        if line.split() and not line.startswith("#")
        for name in line.split()[1:]
    ]
    for name, address in [*names, ("localhost", "127.0.0.1")]:
        assert address in lookup(name).addresses
    assert asked == []


def test_many_may_ask_at_once(servers: tuple[NameServers, list[str]]) -> None:
    lookup, _ = servers
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lookup, ["here.example.org"] * 500))
    assert {one.addresses for one in found} == {("127.0.0.1",)}


def test_a_page_is_fetched_by_a_name_that_only_the_given_server_knows() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    with name_server(ZONE) as names, RawServer([page]) as server:
        client = local_client(name_servers=(names.place,))
        answer = client.get(f"http://here.example.org:{server.port}/")
        refused = client.get("http://inside.example.org/")
    assert isinstance(answer, Answer)
    assert not isinstance(refused, Answer)
    assert "10.0.0.1" in refused.detail
