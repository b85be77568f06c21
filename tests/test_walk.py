"""The walk is a judge, so it is tested against a site whose links are all known."""

import gzip
import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.walk import Visit, absolute, walk


@dataclass(frozen=True)
class Answer:
    body: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),)


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ('<a href="b">', "a"),
        ('<map><area href="b"></map>', "area"),
        ('<iframe src="b"></iframe>', "iframe"),
        ('<frameset><frame src="b"></frameset>', "frame"),
        ('<link rel="next" href="b">', "link next"),
        ('<META HTTP-EQUIV="Refresh" CONTENT="0; URL=b">', "meta"),
    ],
)
def test_an_element_that_links_is_followed(element: str, kind: str) -> None:
    visits = walked({"/": Answer(element), "/b": Answer()})
    assert visits["http://a.test/b"].sources == {"http://a.test/"}
    assert visits["http://a.test/b"].kinds == {kind}


def test_a_redirect_is_followed_and_keeps_its_own_status() -> None:
    visits = walked({"/": Answer(status=301, headers=(("Location", "/b"),)), "/b": Answer()})
    assert {url: visit.status for url, visit in visits.items()} == {"http://a.test/": 301, "http://a.test/b": 200}


def test_a_base_element_moves_the_links_of_its_page() -> None:
    assert "http://a.test/dir/b" in walked({"/": Answer('<base href="/dir/"><a href="b">')})


def test_links_in_comments_and_scripts_are_none() -> None:
    assert list(walked({"/": Answer("<!-- <a href=b> --><script>'<a href=c>'</script>")})) == ["http://a.test/"]


def test_a_link_to_another_host_is_left_alone() -> None:
    assert list(walked({"/": Answer('<a href="http://other.test/">')})) == ["http://a.test/"]


def test_all_the_links_to_a_page_are_known_and_it_is_asked_for_once() -> None:
    pages = {"/": Answer('<a href="b"><a href="c">'), "/b": Answer('<a href="c#part"><a href="/">'), "/c": Answer()}
    with site(pages) as (port, asked):
        visits = walk(["http://a.test/"], hosts=["a.test"], address=("127.0.0.1", port))
    assert visits["http://a.test/c"].sources == {"http://a.test/", "http://a.test/b"}
    assert asked == ["/", "/b", "/c"]


def test_a_compressed_page_is_read_and_its_digest_is_of_the_bytes_as_sent() -> None:
    with site({"/": Answer('<a href="b">', headers=(("Content-Type", "text/html"), ("Content-Encoding", "gzip")))}) as (
        port,
        _,
    ):
        visits = walk(["http://a.test/"], hosts=["a.test"], address=("127.0.0.1", port))
    assert list(visits) == ["http://a.test/", "http://a.test/b"]
    sent = gzip.compress(b'<a href="b">', mtime=0)
    assert visits["http://a.test/"].digest == hashlib.sha1(sent).hexdigest()


def test_links_are_taken_of_html_alone() -> None:
    visits = walked({"/": Answer('<a href="b">', headers=(("Content-Type", "text/plain; charset=utf-8"),))})
    assert list(visits) == ["http://a.test/"]
    assert visits["http://a.test/"].media_type == "text/plain"


def test_a_page_that_is_not_there_is_a_visit_too() -> None:
    assert walked({"/": Answer('<a href="b">')})["http://a.test/b"].status == 404


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("b#part", "http://a.test/dir/b"),
        ("", "http://a.test/dir/page"),
        ("../../../b", "http://a.test/b"),
        (" b\n", "http://a.test/dir/b"),
        ("a b?c d", "http://a.test/dir/a%20b?c%20d"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}%20", "http://a.test/dir/%C3%A9%20"),
        ("//B.test", "http://b.test/"),
        ("mailto:a@b.test", None),
        ("https://a.test/", None),
        ("http://[", None),
    ],
)
def test_a_link_becomes_a_url_that_can_be_asked_for(reference: str, url: str | None) -> None:
    assert absolute("http://a.test/dir/page", reference) == url


def walked(pages: Mapping[str, Answer]) -> dict[str, Visit]:
    with site(pages) as (port, _):
        return walk(["http://a.test/"], hosts=["a.test"], address=("127.0.0.1", port))


@contextmanager
def site(pages: Mapping[str, Answer]) -> Iterator[tuple[int, list[str]]]:
    """Serve pages by path; gives the port and the paths asked for so far."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            answer = pages.get(self.path, Answer(status=404))
            body = answer.body.encode()
            if ("Content-Encoding", "gzip") in answer.headers:
                body = gzip.compress(body, mtime=0)
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1], asked
        server.shutdown()
        thread.join()
