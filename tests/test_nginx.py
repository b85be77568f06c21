from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from tests.support.nginx import Nginx, NginxFailed, Site, find_nginx, serving

pytestmark = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")
LONG = "<p>hello</p>" * 100


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(LONG)
    (tmp_path / "dir").mkdir()
    return tmp_path


def test_sites_are_told_apart_by_host_name(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "index.html").write_text("other")
    with serving([Site(host="a.test", root=root), Site(host="b.test", root=other)]) as nginx:
        assert get(nginx, "a.test", "/")[1] == LONG.encode()
        assert get(nginx, "b.test", "/")[1] == b"other"
        assert get(nginx, "c.test", "/")[0].status == 404


def test_a_site_may_be_compressed_and_then_is_chunked(root: Path) -> None:
    with serving([Site(host="a.test", root=root, gzip=True)]) as nginx:
        answer, body = get(nginx, "a.test", "/")
    assert answer.getheader("Content-Encoding") == "gzip"
    assert answer.getheader("Transfer-Encoding") == "chunked"
    assert body.startswith(b"\x1f\x8b")


def test_a_site_has_the_robots_txt_that_it_is_given(root: Path) -> None:
    text = "User-agent: *\nDisallow: /\n"
    with serving([Site(host="a.test", root=root, robots=text), Site(host="b.test", root=root)]) as nginx:
        assert get(nginx, "a.test", "/robots.txt")[1] == text.encode()
        assert get(nginx, "b.test", "/robots.txt")[0].status == 404


def test_a_directory_redirects_under_its_own_host_name(root: Path) -> None:
    with serving([Site(host="a.test", root=root)]) as nginx:
        assert get(nginx, "a.test", "/dir")[0].getheader("Location") == "http://a.test/dir/"


def test_the_access_log_tells_every_request(root: Path) -> None:
    with serving([Site(host="a.test", root=root)]) as nginx:
        get(nginx, "a.test", "/?q=%22x%22")
        get(nginx, "a.test", "/nowhere")
        hits = nginx.hits()
    assert [(hit.host, hit.uri, hit.status) for hit in hits] == [
        ("a.test", "/?q=%22x%22", 200),
        ("a.test", "/nowhere", 404),
    ]


def test_a_port_in_use_is_said_in_one_line(root: Path) -> None:
    with serving([Site(host="a.test", root=root)]) as nginx:
        with pytest.raises(NginxFailed) as failed, serving([Site(host="b.test", root=root)], port=nginx.port):
            pass
        assert str(failed.value) == f"port {nginx.port} of 127.0.0.1 cannot be had: Address already in use"


def test_a_configuration_that_nginx_refuses_is_said_in_one_line(root: Path) -> None:
    with pytest.raises(NginxFailed) as failed, serving([Site(host="two names; nonsense", root=root)]):
        pass
    assert 'unknown directive "nonsense"' in str(failed.value)
    assert "\n" not in str(failed.value)


def test_nothing_is_left_running(root: Path) -> None:
    with serving([Site(host="a.test", root=root)]) as nginx:
        pass
    with pytest.raises(ConnectionRefusedError):
        get(nginx, "a.test", "/")
    assert not nginx.access_log.parent.exists()


def get(nginx: Nginx, host: str, target: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", nginx.port, timeout=10)
    try:
        connection.request("GET", target, headers={"Host": host, "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()
