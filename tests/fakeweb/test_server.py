import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchcrawl.fakeweb.layout import Kind, Resource
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.truth import truth
from tests.support.webserver import ROOT, WebServer, serving

NOW = 1_790_000_000.0
SPEC = WebSpec(hosts=4, pages=150, seed=9, slow_s=0.0)
FRONT = "h0000.d000.test"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with serving(SPEC, at=NOW, log=tmp_path_factory.mktemp("web") / "requests.jsonl") as running:
        yield running


@pytest.fixture
def connection(server: WebServer) -> Iterator[http.client.HTTPConnection]:
    made = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    yield made
    made.close()


def test_each_url_of_the_truth_is_answered_as_expected_over_one_connection(
    server: WebServer, connection: http.client.HTTPConnection
) -> None:
    for line in truth(server.web, at=NOW):
        path = line.url.removeprefix(f"http://{line.host}")
        expected = server.web.answer(line.host, path, NOW)
        for target, host in ((line.url, "proxy.test"), (path, line.host)):
            connection.request("GET", target, headers={"Host": host})
            response = connection.getresponse()
            assert (response.status, response.read()) == (expected.status, expected.body)
            assert set(expected.headers) <= set(response.getheaders())
            assert line.status in (None, response.status)


def test_a_head_request_gets_the_fields_alone(connection: http.client.HTTPConnection) -> None:
    connection.request("HEAD", "/", headers={"Host": FRONT})
    response = connection.getresponse()
    assert (response.status, response.read()) == (200, b"")
    assert response.getheader("Date") is not None


def test_a_page_that_has_not_changed_is_not_sent_again(
    server: WebServer, connection: http.client.HTTPConnection
) -> None:
    pages = (Resource(0, Kind.PAGE, number) for number in range(50))
    page = next(page for page in pages if server.web.resource_answer(page, NOW).header("etag"))
    etag = server.web.resource_answer(page, NOW).header("etag") or ""
    connection.request("GET", server.web.layout.url(page), headers={"If-None-Match": etag})
    response = connection.getresponse()
    assert (response.status, response.read()) == (304, b"")
    assert response.getheader("ETag") == etag


def test_requests_sent_at_once_are_answered_in_order(server: WebServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as sock:
        sock.sendall(
            b"GET http://other.test/one HTTP/1.1\r\n\r\nGET http://other.test/two HTTP/1.1\r\nConnection: close\r\n\r\n"
        )
        received = b"".join(iter(lambda: sock.recv(65536), b""))
    assert 0 < received.index(b"/one") < received.index(b"/two")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 405),
        (b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
    ],
)
def test_what_is_no_request_for_a_page_is_refused(server: WebServer, sent: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as sock:
        sock.sendall(sent)
        assert sock.recv(65536).startswith(b"HTTP/1.1 %d " % status)


def test_a_request_is_in_the_log_when_its_answer_arrives(
    server: WebServer, connection: http.client.HTTPConnection
) -> None:
    connection.request("GET", f"http://{FRONT}/logged?once=1")
    connection.getresponse().read()
    hits = [hit for hit in server.hits() if hit.path == "/logged?once=1"]
    assert [(hit.host, hit.status) for hit in hits] == [(FRONT, 404)]
    assert hits[0].client_port == connection.sock.getsockname()[1]


def test_the_server_listens_on_loopback_only(server: WebServer) -> None:
    assert server.address == f"http://127.0.0.1:{server.port}"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), timeout=30)


def test_a_waiting_answer_holds_up_no_other_connection(tmp_path: Path) -> None:
    spec = WebSpec(hosts=100, pages=100, slow_s=3600.0)
    with serving(spec, log=tmp_path / "requests.jsonl") as slow:
        names = [slow.web.layout.host_name(host) for host in range(100) if slow.web.host_delay_s(host)]
        waiting, other = (http.client.HTTPConnection("127.0.0.1", slow.port, timeout=30) for _ in range(2))
        waiting.request("GET", f"http://{names[0]}/")
        other.request("GET", f"http://{FRONT}/")
        assert other.getresponse().status in (200, 304)
        other.close()
        waiting.close()


def test_workers_share_one_port(tmp_path: Path) -> None:
    with serving(SPEC, at=NOW, workers=2, log=tmp_path / "log") as pair:
        for _ in range(20):
            connection = http.client.HTTPConnection("127.0.0.1", pair.port, timeout=30)
            connection.request("GET", f"http://{FRONT}/")
            assert connection.getresponse().status == 200
            connection.close()
        assert len(pair.hits()) == 20


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, None])
def test_the_server_ends_cleanly_by_signal_or_with_its_standard_input(end: signal.Signals | None) -> None:
    process = _start("{}")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    if end is not None:
        process.send_signal(end)
        process.wait(timeout=30)
    process.communicate(timeout=30)  # which closes the standard input
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("argument", "exit_code"),
    [
        ("not json", 2),
        ('{"web": {"hosts": 0}}', 2),
        ('{"web": {"faults": ["weather"]}}', 2),
        ('{"serve": {"port": 70000}}', 2),
        ('{"serve": {"log": "/"}}', 2),
        ('{"web": {"pages": null}, "serve": {"warm": true}}', 2),
    ],
)
def test_a_wrong_argument_ends_with_the_exit_code_for_wrong_usage(argument: str, exit_code: int) -> None:
    process = _start(argument)
    assert process.communicate(timeout=30)[0] == ""
    assert process.returncode == exit_code


def test_a_port_that_is_taken_ends_with_the_exit_code_for_failure(server: WebServer) -> None:
    process = _start(f'{{"serve": {{"port": {server.port}}}}}')
    process.communicate(timeout=30)
    assert process.returncode == 1


def _start(argument: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "batchcrawl.fakeweb", argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
