"""That the address guard lets no connection through at all: a listener on loopback counts them."""

import socket
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from batchcrawl.model.clock import SystemClock
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.host import RobotsCopy, RobotsHop
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.net.resolver import CacheLimits, Resolved, Resolver
from batchcrawl.net.robots import ask_for_robots, first_hop
from batchcrawl.net.settings import ClientSettings
from batchcrawl.web.urls import parse_url
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import RawServer

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
MAPPED = ip_network("::ffff:0:0/96")
LOOPBACK = (ip_network("127.0.0.0/8"), MAPPED)
SPELLINGS = {
    "dotted": "127.0.0.1",
    "decimal": "2130706433",
    "hex": "0x7f000001",
    "hex in parts": "0x7f.0x0.0x0.0x1",
    "octal": "017700000001",
    "octal in parts": "0177.0.0.01",
    "short": "127.1",
    "shorter": "127.0.1",
    "with a dot at its end": "127.0.0.1.",
    "full-width digits": "\uff11\uff12\uff17.0.0.1",
    "percent-encoded": "%31%32%37.0.0.1",
    "IPv4-mapped": "[::ffff:127.0.0.1]",
    "IPv4-mapped in hex": "[::ffff:7f00:1]",
    "IPv4-mapped in full": "[0:0:0:0:0:ffff:7f00:0001]",
    "a name of wildcard DNS": "127.0.0.1.nip.test",
}
"""Ways to write an address that all lead to the listener."""
CARRIED = {
    "NAT64": "[64:ff9b::127.0.0.1]",
    "NAT64 in hex": "[64:ff9b::7f00:1]",
    "local NAT64": "[64:ff9b:1::7f00:1]",
    "6to4": "[2002:7f00:1::1]",
    "Teredo": "[2001:0:7f00:1::]",
    "IPv4-compatible": "[::127.0.0.1]",
    "site-local": "[fec0::1]",
    "unique local": "[fd00::1]",
    "link-local": "[fe80::1]",
    "any address": "0.0.0.0",
    "any address, short": "0",
    "any IPv6 address": "[::]",
    "IPv6 loopback": "[::1]",
}
"""Others that may lead to it, as the machine is set up."""


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer([PAGE]) as listening:
        yield listening


def _wildcard_dns(host: str) -> list[str]:
    return [host.removesuffix(".nip.test")] if host.endswith(".nip.test") else ["192.0.2.1"]


def _get(host: str, port: int, *, allow: tuple[object, ...]) -> Answer | NoAnswer:
    url = parse_url(f"http://{host}:{port}/")
    assert url is not None
    return hasty_client(allow_addresses=allow, lookup=_wildcard_dns).get(url)


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_that_leads_to_the_listener_does_so_only_where_the_job_allows_it(
    name: str, server: RawServer
) -> None:
    refused = _get(SPELLINGS[name], server.port, allow=())
    assert isinstance(refused, NoAnswer)
    assert (refused.outcome, server.connections) == (FetchOutcome.ADDRESS_REFUSED, 0)
    assert isinstance(_get(SPELLINGS[name], server.port, allow=LOOPBACK), Answer)
    assert server.connections == 1


@pytest.mark.parametrize("name", CARRIED)
def test_an_address_that_carries_or_reaches_the_machine_is_not_connected_to(name: str, server: RawServer) -> None:
    answer = _get(CARRIED[name], server.port, allow=())
    assert isinstance(answer, NoAnswer)
    assert (answer.outcome, server.connections) == (FetchOutcome.ADDRESS_REFUSED, 0)


@pytest.mark.parametrize("name", ["decimal", "hex", "octal", "short", "octal in parts", "hex in parts"])
def test_a_number_that_only_the_system_takes_for_an_address_is_not_connected_to(name: str, server: RawServer) -> None:
    answer = hasty_client(allow_addresses=()).get(f"http://{SPELLINGS[name]}:{server.port}/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome in (FetchOutcome.ADDRESS_REFUSED, FetchOutcome.DNS_FAILED)
    assert server.connections == 0


def test_only_the_network_that_the_job_names_is_opened(server: RawServer) -> None:
    assert isinstance(_get("127.0.0.1", server.port, allow=(ip_network("127.0.0.2/32"),)), NoAnswer)
    assert isinstance(_get("127.0.0.1", server.port, allow=(ip_network("10.0.0.0/8"),)), NoAnswer)
    assert server.connections == 0
    assert isinstance(_get("127.0.0.1", server.port, allow=(ip_network("127.0.0.1/32"),)), Answer)


def _settings(*allowed: str) -> ClientSettings:
    networks = tuple(ip_network(text) for text in allowed)
    return ClientSettings(user_agent="test", connect_timeout_s=0.3, deadline_s=1, allow_addresses=networks)


def test_an_answer_of_the_name_servers_that_changes_between_check_and_connection_is_judged_again(
    server: RawServer,
) -> None:
    answers = iter([("127.0.0.2",), ("127.0.0.1",)])
    clock = SystemClock()
    resolver = Resolver(clock, limits=CacheLimits(found_s=0.0), lookup=lambda host: Resolved(next(answers)))
    client = Client(_settings("127.0.0.2/32"), clock, resolver=resolver)
    assert client.address_of("rebinding.test") == "127.0.0.2"
    answer = client.get(f"http://rebinding.test:{server.port}/")
    assert isinstance(answer, NoAnswer)
    assert (answer.outcome, server.connections) == (FetchOutcome.ADDRESS_REFUSED, 0)


def test_an_address_that_is_refused_is_not_fallen_back_to(server: RawServer) -> None:
    clock = SystemClock()
    resolver = Resolver(clock, lookup=lambda host: Resolved(("127.0.0.2", "::ffff:127.0.0.1", "127.0.0.1")))
    answer = Client(_settings("127.0.0.2/32"), clock, resolver=resolver).get(f"http://two.test:{server.port}/")
    assert isinstance(answer, NoAnswer)
    assert (answer.outcome, server.connections) == (FetchOutcome.CONNECT_FAILED, 0)


@pytest.mark.parametrize("host", ["127.0.0.2", "2130706434", "0x7f.2", "[::ffff:127.0.0.2]", "inside.test"])
def test_a_robots_txt_that_is_redirected_inwards_is_not_fetched(host: str) -> None:
    with RawServer([PAGE], address="127.0.0.2") as inside:
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://{host}:{inside.port}/robots.txt\r\nContent-Length: 0\r\n\r\n"
        with RawServer([moved.encode()]) as outside:
            client = local_client(
                allow_addresses=(ip_network("127.0.0.1/32"),),
                names={"outside.test": f"127.0.0.1:{outside.port}"},
                lookup=lambda host: ["127.0.0.2"],
            )
            found: RobotsCopy | RobotsHop = first_hop("http://outside.test", ttl_s=60)
            while isinstance(found, RobotsHop):
                found = ask_for_robots(client, found, SystemClock(), previous=None).found
        assert inside.connections == 0
    assert found.text is None
    assert found.detail is not None
    assert found.detail.startswith("address_refused")


@pytest.mark.parametrize("credentials", ["user:secret@", "user@", ":secret@", "a:b@user:secret@", "%75ser:s%65cret@"])
def test_credentials_in_a_url_are_never_sent(credentials: str, server: RawServer) -> None:
    url = parse_url(f"http://{credentials}127.0.0.1:{server.port}/page")
    assert url is not None
    assert isinstance(local_client().get(url), Answer)
    request = server.requests[0].lower()
    assert request.startswith(b"get /page http/1.1\r\n")
    assert not any(word in request for word in (b"authorization", b"user:", b"secret", b"s%65cret", b"@"))


def test_the_listener_counts_what_connects(server: RawServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert sock.recv(4) == b"HTTP"
    assert server.connections == 1
