"""What goes out over the wire and what comes back as an Answer."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ipaddress import ip_network

import pytest

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from tests.support.black_hole import black_hole
from tests.support.clients import hasty_client, local_client
from tests.support.rawserver import Act, RawServer

PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"


def _answer(client: Client, url: str, **options: object) -> Answer:
    answer = client.get(url, **options)  # type: ignore[arg-type]  # passed through
    assert isinstance(answer, Answer), answer
    return answer


def test_a_page_comes_with_the_bytes_that_were_sent_for_it() -> None:
    with RawServer([PAGE]) as server:
        answer = _answer(local_client(), server.url)
        assert answer.request_head == server.requests[0]
    assert (answer.status, answer.body, answer.address) == (200, b"hello", "127.0.0.1")
    assert answer.response_head + answer.whole_body() == PAGE
    assert answer.headers == (("Content-Type", "text/html"), ("Content-Length", "5"))
    assert (answer.truncated, answer.unwanted) == (None, False)
    assert answer.started_at <= answer.first_byte_at <= answer.ended_at


def test_the_request_is_what_a_crawler_says() -> None:
    with RawServer([PAGE]) as server:
        _answer(local_client(accept="text/html"), server.url + "a", headers=[("If-None-Match", '"x"')])
        assert server.requests[0].decode() == (
            f"GET /a HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUser-Agent: batchcrawl-test\r\n"
            'Accept: text/html\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nIf-None-Match: "x"\r\n\r\n'
        )


def test_a_field_is_sent_once_however_its_name_is_written() -> None:
    with RawServer([PAGE]) as server:
        _answer(local_client(accept="text/html"), server.url, headers=[("accept", "text/plain")])
        assert server.requests[0].lower().count(b"accept: ") == 1
        assert b"Accept: text/plain\r\n" in server.requests[0]


@pytest.mark.parametrize("target", ["/a|b^c", "/%zz%2f%C3%a9", "/[x]?q={}[]|^`", "/a//..//b;c=1", "/?", "/?a?b=/../"])
def test_the_target_is_sent_byte_for_byte(target: str) -> None:
    with RawServer([PAGE]) as server:
        _answer(local_client(), server.url.removesuffix("/") + target)
        assert server.requests[0].startswith(f"GET {target} HTTP/1.1\r\n".encode())


def test_fragment_and_credentials_stay_at_home() -> None:
    with RawServer([PAGE]) as server:
        _answer(local_client(), f"http://user:secret@127.0.0.1:{server.port}/a#frag")
        assert server.requests[0].startswith(f"GET /a HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode())
        assert b"secret" not in server.requests[0]


def test_a_chunked_body_is_undone_and_its_header_renamed() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nContent-Length: 99\r\nA: b\r\n\r\n"
    with RawServer([head, b"3\r\nabc\r\n", b"2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n"]) as server:
        answer = _answer(local_client(), server.url)
    assert answer.body == b"abcde"
    assert answer.response_head == (
        b"HTTP/1.1 200 OK\r\nX-Crawler-transfer-encoding: chunked\r\nX-Crawler-Content-Length: 99\r\nA: b\r\n\r\n"
    )
    assert answer.header("transfer-encoding") == "chunked"


def test_a_content_coding_is_kept() -> None:
    body = gzip.compress(b"x" * 1_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    with RawServer([head, body]) as server:
        assert _answer(local_client(), server.url).body == body


def test_a_gzip_transfer_coding_is_undone_within_the_limit() -> None:
    body = gzip.compress(b"x" * 1_000_000)
    with RawServer([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", body]) as server:
        answer = _answer(local_client(body_bytes_max=5000), server.url)
    assert (answer.body, answer.truncated) == (b"x" * 5000, "length")


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_body_keeps_the_connection(status: int) -> None:
    head = b"HTTP/1.1 %d X\r\nContent-Length: 10\r\n\r\n" % status
    with RawServer([head, Act.READ, PAGE]) as server, closing(local_client()) as client:
        assert _answer(client, server.url).body == b""
        assert _answer(client, server.url).body == b"hello"
        assert server.connections == 1


def test_interim_answers_are_passed_over() -> None:
    with RawServer([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + PAGE]) as server:
        answer = _answer(local_client(), server.url)
    assert (answer.status, answer.response_head + answer.whole_body()) == (200, PAGE)


def test_redirects_are_answers() -> None:
    with RawServer([b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"]) as server:
        answer = _answer(local_client(), server.url)
        assert len(server.requests) == 1
    assert (answer.status, answer.header("location")) == (301, "/b")


def test_an_unwanted_body_is_not_read() -> None:
    asked = []

    def wants(status: int, content_type: str | None, content_length: int | None) -> bool:
        asked.append((status, content_type, content_length))
        return False

    with RawServer([PAGE]) as server:
        answer = _answer(local_client(), server.url, wants=wants)
    assert asked == [(200, "text/html", 5)]
    assert (answer.body, answer.unwanted) == (b"", True)


def test_a_folded_field_is_one_value() -> None:
    with RawServer([b"HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nContent-Length: 0\r\n\r\n"]) as server:
        assert _answer(local_client(), server.url).headers[0] == ("A", "b c")


def test_header_values_are_latin_1() -> None:
    with RawServer([b"HTTP/1.1 200 OK\r\nLocation: /\xe9\r\nContent-Length: 0\r\n\r\n"]) as server:
        assert _answer(local_client(), server.url).header("location") == "/\u00e9"


@pytest.mark.parametrize("beyond", [b"x", PAGE])
def test_bytes_beyond_an_answer_are_no_answer_to_the_next_request(beyond: bytes) -> None:
    other = PAGE.replace(b"hello", b"world")
    with RawServer([PAGE + beyond, Act.READ], [other]) as server, closing(local_client()) as client:
        assert _answer(client, server.url).body == b"hello"
        assert _answer(client, server.url).body == b"world"


def test_a_kept_connection_that_died_is_replaced_once() -> None:
    with RawServer([PAGE, Act.READ], [PAGE]) as server, closing(local_client()) as client:
        _answer(client, server.url)
        assert _answer(client, server.url).body == b"hello"
        assert server.connections == 2


def test_a_new_connection_that_dies_is_not_tried_again() -> None:
    with RawServer([Act.RESET], [PAGE]) as server:
        answer = local_client().get(server.url)
        assert server.connections == 1
    assert isinstance(answer, NoAnswer)


def test_silence_on_a_kept_connection_is_not_tried_again() -> None:
    with RawServer([PAGE, Act.READ, Act.HANG], [PAGE]) as server, closing(hasty_client()) as client:
        _answer(client, server.url)
        answer = client.get(server.url)
        assert server.connections == 1
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT


def test_a_refused_connection_is_named() -> None:
    with RawServer([]) as server:
        url = server.url
    answer = local_client().get(url)
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.CONNECT_FAILED
    assert "127.0.0.1 port" in answer.detail


def test_a_connection_that_is_not_accepted_ends_in_time() -> None:
    with black_hole() as port:
        answer = hasty_client(connect_timeout_s=0.1).get(f"http://127.0.0.1:{port}/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.TIMEOUT


def test_a_server_that_closes_silently_is_survived_by_many_threads() -> None:
    client = local_client(host_connections=8)
    with RawServer([PAGE]) as server, closing(client), ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: client.get(f"{server.url}{number}"), range(200)))
    assert [answer.url for answer in answers if isinstance(answer, Answer)] == [f"{server.url}{n}" for n in range(200)]
    assert all(f"/{number} ".encode() in a.request_head for number, a in enumerate(answers) if isinstance(a, Answer))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://",
        "ftp://a/",
        "http://a b/",
        "http://a:99999/",
        "http://é/",
        "http://[::1/",
        "/a",
        "http://127.0.0.1/a b",
    ],
)
def test_what_is_no_url_is_no_exception(url: str) -> None:
    answer = local_client().get(url)
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.PROTOCOL_ERROR


@pytest.mark.parametrize(("name", "value"), [("A", "b\r\nC: d"), ("A", "secret\n"), ("A\r\nB", "c"), ("A", "\u20ac")])
def test_a_header_that_cannot_be_sent_is_no_exception(name: str, value: str) -> None:
    with RawServer([PAGE]) as server:
        answer = local_client().get(server.url, headers=[(name, value)])
        assert server.requests == []
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.PROTOCOL_ERROR
    assert "secret" not in answer.detail


def test_an_address_that_is_not_public_is_refused() -> None:
    with RawServer([PAGE]) as server:
        answer = local_client(allow_addresses=()).get(server.url)
        assert server.connections == 0
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.ADDRESS_REFUSED


def test_a_name_of_the_table_leads_to_its_address_and_port() -> None:
    with RawServer([PAGE]) as server:
        client = local_client(names={"*.example.org": f"127.0.0.1:{server.port}"})
        answer = _answer(client, "http://www.example.org/a")
        assert server.requests[0].startswith(b"GET /a HTTP/1.1\r\nHost: www.example.org\r\n")
    assert answer.address == "127.0.0.1"


def test_a_name_of_the_table_is_guarded_too() -> None:
    client = local_client(names={"*": "10.0.0.1"}, allow_addresses=(ip_network("127.0.0.0/8"),))
    answer = client.get("http://www.example.org/")
    assert isinstance(answer, NoAnswer)
    assert answer.outcome is FetchOutcome.ADDRESS_REFUSED


def test_a_proxy_gets_the_whole_url_and_its_credentials_stay_out_of_the_record() -> None:
    with RawServer([PAGE]) as server:
        client = local_client(proxy=f"http://user:secret@127.0.0.1:{server.port}", allow_addresses=())
        answer = _answer(client, "http://www.example.org/a|b?c#d")
        assert server.requests[0].startswith(b"GET http://www.example.org/a|b?c HTTP/1.1\r\nHost: www.example.org\r\n")
        assert b"Proxy-Authorization: Basic" in server.requests[0]
    assert b"Proxy-Authorization" not in answer.request_head
    assert answer.address is None
