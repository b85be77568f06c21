"""HTTP/1.1 as far as a test server needs it: request heads read, answers put into bytes (RFC 9112)."""

from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus

from batchcrawl.fakeweb.web import FakeAnswer

HEAD_BYTES_MAX = 65_536
_CHUNK_BYTES = 1_000


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request without body."""

    method: str
    host: str
    """Of the request target if that is absolute, else of the Host field; may have a port."""
    path_query: str
    keep_alive: bool
    headers: dict[str, str]
    """By lower-case name; of a repeated field the last."""


def parse_head(head: bytes) -> Request | None:
    """Return the request of a head without its empty line, or None when it cannot be read."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            return None
        headers[name.lower()] = value.strip(" \t")
    target = _split_target(parts[1], headers.get("host", ""))
    if target is None:
        return None
    connection = headers.get("connection", headers.get("proxy-connection", "")).lower()
    keep_alive = connection != "close" if parts[2] == "HTTP/1.1" else connection == "keep-alive"
    return Request(method=parts[0], host=target[0], path_query=target[1], keep_alive=keep_alive, headers=headers)


def answer_head(answer: FakeAnswer) -> bytes:
    """Return the status line and fields of an answer, without Date, Connection and the empty line."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if answer.chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.status != 304:
        lines.append(f"Content-Length: {len(answer.body)}")
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")


def head_end(*, now: float, keep_alive: bool) -> bytes:
    """Return the fields that depend on the moment and the connection, with the empty line."""
    connection = "keep-alive" if keep_alive else "close"
    return f"Date: {formatdate(now, usegmt=True)}\r\nConnection: {connection}\r\n\r\n".encode("latin-1")


def framed(answer: FakeAnswer) -> bytes:
    """Return the body of an answer as it goes over the wire."""
    if not answer.chunked:
        return answer.body
    cuts = range(0, len(answer.body), _CHUNK_BYTES)
    chunks = (answer.body[cut : cut + _CHUNK_BYTES] for cut in cuts)
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _split_target(target: str, host_field: str) -> tuple[str, str] | None:
    if target.startswith("/"):
        return (host_field, target) if host_field else None
    if target[:7].lower() != "http://":
        return None
    rest = target[7:]
    end = min((rest.find(mark) for mark in "/?" if mark in rest), default=len(rest))
    host, path_query = rest[:end], rest[end:]
    return (host, path_query if path_query.startswith("/") else f"/{path_query}") if host else None
