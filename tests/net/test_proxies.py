"""Proxies: how each kind is spoken to, what it is told, and where the address guard ends."""

from contextlib import ExitStack

import pytest

from batchcrawl.errors import UsageError
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, RawServer
from tests.support.relay import Relay
from tests.support.tls import CERTIFICATE, server_context

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def _answer(client: Client, url: str) -> Answer:
    answer = client.get(url)
    assert isinstance(answer, Answer), answer
    return answer


def _failed(client: Client, url: str) -> NoAnswer:
    answer = client.get(url)
    assert isinstance(answer, NoAnswer), answer
    return answer


@pytest.mark.parametrize("tls_proxy", [False, True])
@pytest.mark.parametrize("tls_server", [False, True])
def test_an_http_proxy_carries_http_and_https(tls_proxy: bool, tls_server: bool) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(RawServer([PAGE], tls=server_context() if tls_server else None))
        relay = stack.enter_context(Relay("http", server.port, tls=server_context() if tls_proxy else None))
        client = local_client(ca_file=CERTIFICATE, proxy=f"{'https' if tls_proxy else 'http'}://127.0.0.1:{relay.port}")
        answer = _answer(client, f"{'https' if tls_server else 'http'}://secure.test/a|b")
    assert (answer.body, answer.address) == (b"hello", None)
    if tls_server:
        assert relay.asked == ["secure.test:443"]
        assert answer.request_head.startswith(b"GET /a|b HTTP/1.1\r\nHost: secure.test\r\n")
    else:
        assert relay.asked[0].startswith("GET http://secure.test/a|b HTTP/1.1\r\nHost: secure.test\r\n")


def test_the_certificate_of_a_proxy_is_verified_whatever_the_host_is() -> None:
    with RawServer([PAGE]) as server, Relay("http", server.port, tls=server_context()) as relay:
        client = local_client(proxy=f"https://127.0.0.1:{relay.port}", unverified_hosts=frozenset(["a.test"]))
        assert _failed(client, "http://a.test/").outcome is FetchOutcome.TLS_FAILED
        assert _failed(client, "https://a.test/").outcome is FetchOutcome.TLS_FAILED


@pytest.mark.parametrize("tls_server", [False, True])
def test_a_socks_proxy_is_told_the_name_where_it_resolves(tls_server: bool) -> None:
    with (
        RawServer([PAGE], tls=server_context() if tls_server else None) as server,
        Relay("socks5", server.port) as relay,
    ):
        client = local_client(ca_file=CERTIFICATE, proxy=f"socks5h://127.0.0.1:{relay.port}")
        answer = _answer(client, f"{'https' if tls_server else 'http'}://secure.test/")
        assert server.requests[0].startswith(b"GET / HTTP/1.1\r\nHost: secure.test\r\n")
    assert relay.asked == [f"secure.test:{443 if tls_server else 80}"]
    assert (answer.body, answer.address) == (b"hello", None)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1"])
def test_a_socks_proxy_is_told_the_judged_address_where_names_are_resolved_here(address: str) -> None:
    with RawServer([PAGE]) as server, Relay("socks5", server.port) as relay:
        client = local_client(
            proxy=f"socks5://127.0.0.1:{relay.port}", lookup=lambda host: ["10.0.0.1", address], allow_addresses=()
        )
        answer = _answer(client, "http://www.example.org:81/")
    assert relay.asked == [f"{address}:81"]
    assert answer.address == address


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "[::1]", "[::ffff:7f00:1]", "169.254.169.254"])
def test_no_proxy_is_sent_to_an_address_that_is_not_public(scheme: str, host: str) -> None:
    with RawServer([PAGE]) as server:
        client = local_client(proxy=f"{scheme}://127.0.0.1:{server.port}", allow_addresses=())
        for url in (f"http://{host}/", f"https://{host}/"):
            assert _failed(client, url).outcome is FetchOutcome.ADDRESS_REFUSED
        assert server.connections == 0


def test_names_at_addresses_that_are_not_public_are_refused_with_socks5() -> None:
    with RawServer([PAGE]) as server:
        client = local_client(
            proxy=f"socks5://127.0.0.1:{server.port}", lookup=lambda host: ["127.0.0.1"], allow_addresses=()
        )
        assert _failed(client, "http://www.example.org/").outcome is FetchOutcome.ADDRESS_REFUSED
        assert server.connections == 0


def test_a_socks_proxy_goes_by_the_table_of_names() -> None:
    with RawServer([PAGE]) as server, Relay("socks5", server.port) as relay:
        client = local_client(proxy=f"socks5h://127.0.0.1:{relay.port}", names={"a.test": "127.0.0.3:8080"})
        assert _answer(client, "http://a.test/").address == "127.0.0.3"
    assert relay.asked == ["127.0.0.3:8080"]


def test_a_socks_proxy_gets_user_and_password() -> None:
    with RawServer([PAGE]) as server, Relay("socks5", server.port, login=(b"user", b"se:cret@")) as relay:
        good = local_client(proxy=f"socks5h://user:se%3Acret%40@127.0.0.1:{relay.port}")
        assert _answer(good, "http://a.test/").body == b"hello"
        bad = local_client(proxy=f"socks5h://user:wrong@127.0.0.1:{relay.port}")
        none = local_client(proxy=f"socks5h://127.0.0.1:{relay.port}")
        for client in (bad, none):
            failed = _failed(client, "http://a.test/")
            assert failed.outcome is FetchOutcome.CONNECT_FAILED
            assert failed.detail.startswith("the proxy: ")
            assert "wrong" not in failed.detail


@pytest.mark.parametrize(
    "reply", [b"", b"\x05", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x05\x00\x05\x05\x00\x01" + bytes(6), b"\xff" * 99]
)
def test_a_socks_proxy_that_refuses_or_talks_rubbish_is_a_failed_connection(reply: bytes) -> None:
    with RawServer([reply], any_bytes=True) as server:
        failed = _failed(local_client(proxy=f"socks5h://127.0.0.1:{server.port}"), "http://a.test/")
    assert failed.outcome is FetchOutcome.CONNECT_FAILED


def test_a_socks_proxy_that_says_nothing_ends_in_time() -> None:
    with RawServer([Act.HANG], any_bytes=True) as server:
        failed = _failed(hasty_client(proxy=f"socks5h://127.0.0.1:{server.port}"), "http://a.test/")
    assert failed.outcome is FetchOutcome.TIMEOUT


@pytest.mark.parametrize("kind", ["http", "socks5", "socks5h"])
def test_a_proxy_that_is_not_there_is_a_failed_connection(kind: str) -> None:
    with RawServer([]) as server:
        port = server.port
    client = local_client(proxy=f"{kind}://127.0.0.1:{port}", lookup=lambda host: ["93.184.215.14"])
    assert _failed(client, "http://www.example.org/").outcome is FetchOutcome.CONNECT_FAILED


def test_a_proxy_of_another_kind_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="one of http, https, socks5, socks5h, not 'socks4'"):
        local_client(proxy="socks4://user:secret@127.0.0.1:9")
