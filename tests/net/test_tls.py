"""TLS: what is verified, what is not, and what fails by name."""

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, RawServer
from tests.support.tls import CERTIFICATE, server_context

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def test_a_certificate_of_the_jobs_authority_is_accepted() -> None:
    with RawServer([PAGE], tls=server_context()) as server:
        answer = local_client(ca_file=CERTIFICATE).get(server.url)
    assert isinstance(answer, Answer)
    assert (answer.body, answer.address) == (b"hello", "127.0.0.1")


def test_the_name_of_the_url_is_verified_wherever_the_table_leads() -> None:
    with RawServer([PAGE], [PAGE], tls=server_context()) as server:
        client = local_client(ca_file=CERTIFICATE, names={"*.test": f"127.0.0.1:{server.port}"})
        good, bad = client.get("https://secure.test/"), client.get("https://other.test/")
    assert isinstance(good, Answer)
    assert isinstance(bad, NoAnswer)
    assert bad.outcome is FetchOutcome.TLS_FAILED


def test_an_unknown_certificate_is_refused() -> None:
    with RawServer([PAGE], tls=server_context()) as server:
        answer = local_client().get(server.url)
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TLS_FAILED
    assert "certificate" in answer.detail


def test_an_unknown_certificate_is_accepted_for_a_host_that_the_job_names() -> None:
    with RawServer([PAGE], tls=server_context()) as server:
        answer = local_client(unverified_hosts=frozenset(["127.0.0.1"])).get(server.url)
    assert isinstance(answer, Answer)


def test_a_server_without_tls_is_a_tls_failure() -> None:
    with RawServer([PAGE]) as server:
        answer = local_client().get(server.url.replace("http:", "https:"))
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TLS_FAILED


def test_silence_in_the_handshake_ends_in_time() -> None:
    with RawServer([Act.HANG]) as server:
        answer = hasty_client().get(server.url.replace("http:", "https:"))
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT


def test_silence_within_tls_ends_in_time() -> None:
    with RawServer([b"HTTP/1.1 200 OK\r\n", Act.HANG], tls=server_context()) as server:
        answer = hasty_client(ca_file=CERTIFICATE).get(server.url)
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT


def test_a_proxy_is_tunnelled_through_for_https() -> None:
    established = b"HTTP/1.1 200 Connection established\r\n\r\n"
    with RawServer([established, Act.TLS, Act.READ, PAGE], tls=server_context(), tls_at_once=False) as server:
        client = local_client(ca_file=CERTIFICATE, proxy=server.url)
        answer = client.get("https://secure.test/a|b")
        assert server.requests[0].startswith(b"CONNECT secure.test:443 HTTP/1.")
        assert server.requests[1].startswith(b"GET /a|b HTTP/1.1\r\nHost: secure.test\r\n")
    assert isinstance(answer, Answer)
    assert answer.request_head == server.requests[1]
    assert answer.body == b"hello"


def test_a_proxy_that_refuses_the_tunnel_is_a_failed_connection() -> None:
    with RawServer([b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"]) as server:
        answer = local_client(proxy=server.url).get("https://secure.test/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.CONNECT_FAILED
    assert "403" in answer.detail


def test_a_proxy_that_drips_its_tunnel_ends_in_time() -> None:
    with RawServer([Act.HANG]) as server:
        answer = hasty_client(proxy=server.url).get("https://secure.test/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT
