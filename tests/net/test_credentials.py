"""Credentials and client certificates: sent where the job says, and seen nowhere else."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from batchcrawl.errors import UsageError
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from tests.support.clients import SETTINGS, local_client
from tests.support.rawserver import Act, RawServer
from tests.support.relay import Relay
from tests.support.tls import CERTIFICATE, DIRECTORY, server_context

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
SECRET = "planted-secret"


def test_credentials_go_to_the_host_key_that_they_are_for_and_to_no_other() -> None:
    with RawServer([PAGE]) as server:
        names = {"*": f"127.0.0.1:{server.port}"}
        client = local_client(names=names, authorization={"http://a.test": f"Bearer {SECRET}"})
        for url in ("http://a.test/", "http://a.test:80/x", "http://a.test:81/", "http://b.a.test/", "http://b.test/"):
            assert isinstance(client.get(url), Answer)
    assert [f"Authorization: Bearer {SECRET}\r\n".encode() in head for head in server.requests] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_credentials_of_a_page_cannot_replace_those_of_the_job() -> None:
    with RawServer([PAGE]) as server:
        url = server.url.removesuffix("/")
        client = local_client(authorization={url: f"Bearer {SECRET}"})
        client.get(f"{url.replace('//', '//user:other@')}/")
        client.get(url + "/", headers=[("authorization", "other")])
    for head in server.requests:
        assert head.lower().count(b"authorization:") == 1
        assert SECRET.encode() in head


@pytest.mark.parametrize("reply", [PAGE, b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", b"rubbish", b""])
def test_a_secret_is_in_no_answer_no_failure_no_log_and_no_settings(
    reply: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with RawServer([reply]) as server:
        authorization = {server.url.removesuffix("/"): f"Bearer {SECRET}"}
        result = local_client(authorization=authorization).get(server.url)
        assert SECRET.encode() in server.requests[0]
    with RawServer([reply]) as server:
        proxy = f"http://user:{SECRET}@127.0.0.1:{server.port}"
        by_proxy = [local_client(proxy=proxy).get(url) for url in ("http://a.test/", "https://a.test/")]
        assert b"Proxy-Authorization: Basic" in server.requests[0]
    with RawServer([reply], any_bytes=True) as server:
        proxy = f"socks5h://user:{SECRET}@127.0.0.1:{server.port}"
        by_proxy.append(local_client(proxy=proxy).get("http://a.test/"))
    settings = replace(SETTINGS, proxy=proxy, authorization=authorization)
    seen = repr([result, by_proxy, caplog.records, caplog.text, settings])
    assert SECRET not in seen
    assert "uthorization" not in repr([result, by_proxy])
    assert "dXNlcjpwbGFudGVk" not in seen  # the beginning of the same in base64


def test_the_rest_of_the_request_is_recorded_as_it_was_sent() -> None:
    with RawServer([PAGE]) as server:
        client = local_client(authorization={server.url.removesuffix("/"): f"Bearer {SECRET}"})
        answer = client.get(server.url, headers=[("If-None-Match", '"x"')])
    assert isinstance(answer, Answer)
    sent = server.requests[0].replace(f"Authorization: Bearer {SECRET}\r\n".encode(), b"")
    assert answer.request_head == sent


@pytest.fixture
def own_certificate(tmp_path: Path) -> str:
    path = tmp_path / "client.pem"
    path.write_bytes(Path(CERTIFICATE).read_bytes() + (DIRECTORY / "key.pem").read_bytes())
    return str(path)


@pytest.mark.parametrize("verified", [True, False])
def test_a_client_certificate_is_shown_to_a_server_that_asks(own_certificate: str, verified: bool) -> None:
    unverified = frozenset() if verified else frozenset(["127.0.0.1"])
    with RawServer([PAGE], tls=server_context(asks_for_certificate=True)) as server:
        with_one, without = (
            local_client(ca_file=CERTIFICATE, unverified_hosts=unverified, client_certificate=certificate).get(
                server.url
            )
            for certificate in (own_certificate, None)
        )
    assert isinstance(with_one, Answer)
    assert isinstance(without, NoAnswer)
    assert without.outcome in (FetchOutcome.TLS_FAILED, FetchOutcome.CONNECT_FAILED)


def test_a_client_certificate_is_off_unless_it_is_set() -> None:
    assert SETTINGS.client_certificate is None


@pytest.mark.parametrize("content", [None, b"", b"rubbish", Path(CERTIFICATE).read_bytes()])
def test_a_client_certificate_that_cannot_be_used_is_a_usage_error_of_one_line(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "client.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=r"\Athe client certificate \S+client\.pem cannot be used: [^\n]+\Z"):
        local_client(client_certificate=str(path))


def test_a_proxy_gets_its_own_credentials_in_the_tunnel_and_not_those_of_the_host() -> None:
    with RawServer([PAGE], tls=server_context()) as server:
        with RawServer([Act.RESET]) as spy:
            client = local_client(
                proxy=f"http://user:x@127.0.0.1:{spy.port}", authorization={"https://secure.test": f"Bearer {SECRET}"}
            )
            client.get("https://secure.test/")
            assert b"Proxy-Authorization: Basic" in spy.requests[0]
            assert SECRET.encode() not in spy.requests[0]
        with Relay("http", server.port) as relay:
            client = local_client(
                ca_file=CERTIFICATE,
                proxy=f"http://127.0.0.1:{relay.port}",
                authorization={"https://secure.test": f"Bearer {SECRET}"},
            )
            assert isinstance(client.get("https://secure.test/"), Answer)
        assert SECRET.encode() in server.requests[0]
