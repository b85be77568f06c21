"""Each fault is planted in a WARC file that is sound but for it."""

import base64
import gzip
import hashlib
import zlib
from pathlib import Path

import pytest

from tests.support.warc_judge import broken_rules, judge, unresolved_revisits

HTML = b"<title>hello</title>"
AT = "2026-11-30T12:00:00Z"
GZIPPED = gzip.compress(HTML, mtime=0)


def test_a_sound_file_has_no_fault(tmp_path: Path) -> None:
    assert judge([warc(tmp_path, info(), response(), request())]) == []


def test_bodies_under_their_own_codings_are_sound(tmp_path: Path) -> None:
    codings = {"gzip": GZIPPED, "x-gzip": GZIPPED, "deflate": zlib.compress(HTML), "unheard-of": HTML}
    records = [
        response(headers=f"Content-Encoding: {name}\r\n", body=body, identity=name) for name, body in codings.items()
    ]
    assert judge([warc(tmp_path, info(), *records)]) == []


def test_a_raw_deflate_body_is_sound(tmp_path: Path) -> None:
    body = zlib.compress(HTML)[2:-4]
    assert judge([warc(tmp_path, info(), response(headers="Content-Encoding: deflate\r\n", body=body))]) == []


def test_a_compressed_body_that_was_cut_and_says_so_is_sound(tmp_path: Path) -> None:
    cut = response(headers="Content-Encoding: gzip\r\n", body=GZIPPED[:-6], fields=[("WARC-Truncated", "length")])
    assert judge([warc(tmp_path, info(), cut)]) == []


def test_a_revisit_record_with_the_digest_of_another_body_is_sound(tmp_path: Path) -> None:
    assert judge([warc(tmp_path, info(), response(), revisit())]) == []


@pytest.mark.parametrize("name", ["WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Payload-Digest"])
def test_a_revisit_that_does_not_say_what_it_refers_to_is_found(tmp_path: Path, name: str) -> None:
    assert found(warc(tmp_path, info(), revisit(without=name)), f"is a revisit without {name}")


def test_a_revisit_of_an_unknown_profile_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), revisit(profile="guessed")), "has the profile http://netpreserve.org/")


def test_a_revisit_with_a_body_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), revisit(body=HTML)), "is a revisit with a body")


def test_a_page_that_came_whole_is_not_one_that_was_not_modified(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), revisit(profile="server-not-modified")), "has status 200 under the profile")
    assert found(warc(tmp_path, info(), revisit(head="304 Not Modified")), "has status 304 under the profile")


def test_a_revisit_is_resolved_by_the_response_that_it_names(tmp_path: Path) -> None:
    first, second = warc(tmp_path, info(), response()), warc(tmp_path, info(), revisit(), name="1.warc.gz")
    assert unresolved_revisits([first, second]) == []
    assert len(unresolved_revisits([second])) == 1
    other = warc(tmp_path, info(), revisit(of="2026-11-30T12:00:01Z"), name="2.warc.gz")
    assert len(unresolved_revisits([first, other])) == 1


def test_a_request_may_name_a_response_of_another_file(tmp_path: Path) -> None:
    first = warc(tmp_path, info(), response())
    second = warc(tmp_path, info("<urn:uuid:info2>"), request(), name="1.warc.gz")
    assert broken_rules([first, second]) == []
    assert broken_rules([second]) != []


def test_a_record_that_is_cut_at_the_end_of_the_file_is_found(tmp_path: Path) -> None:
    path = warc(tmp_path, info(), response())
    path.write_bytes(path.read_bytes()[:-10])
    faults = " ".join(judge([path]))
    assert "gzip: " in faults
    assert "is cut" in faults


def test_a_damaged_byte_is_found(tmp_path: Path) -> None:
    path = warc(tmp_path, info(), response())
    data = bytearray(path.read_bytes())
    data[-8] ^= 1  # in the checksum of the last member
    path.write_bytes(data)
    assert "is damaged" in " ".join(judge([path]))


def test_a_wrong_block_digest_is_found(tmp_path: Path) -> None:
    faults = judge([warc(tmp_path, info(), response(block_digest=digest(b"another")))])
    assert {fault.split(": ")[1] for fault in faults} >= {"warcio", "fastwarc"}


def test_a_wrong_payload_digest_is_found(tmp_path: Path) -> None:
    faults = judge([warc(tmp_path, info(), response(payload_digest=digest(b"another")))])
    assert {fault.split(": ")[1] for fault in faults} >= {"warcio", "fastwarc"}


def test_two_records_in_one_gzip_member_are_found(tmp_path: Path) -> None:
    path = tmp_path / "0.warc.gz"
    path.write_bytes(gzip.compress(info() + response()))
    assert found(path, "is not one whole record")


def test_a_payload_without_a_digest_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), response(payload_digest=None)), "has no WARC-Payload-Digest")


def test_a_record_id_that_is_used_twice_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), response(), response()), "has the id <urn:uuid:response>")


def test_a_record_id_that_is_used_again_in_another_file_is_found(tmp_path: Path) -> None:
    paths = [warc(tmp_path, info(f"<urn:uuid:{name}>"), response(), name=name) for name in ("0.warc.gz", "1.warc.gz")]
    assert [fault for fault in broken_rules(paths) if fault.startswith("1.warc.gz") and "has the id" in fault]


def test_a_missing_warcinfo_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, response()), "is a response; a file begins with a warcinfo")


def test_a_warcinfo_that_is_not_the_first_record_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, response(), info()), "is a warcinfo that is not the first")


def test_an_empty_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "0.warc.gz"
    path.write_bytes(b"")
    assert broken_rules([path]) == ["0.warc.gz: holds no record"]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br, gzip"])
def test_a_content_coding_kept_over_a_decoded_body_is_found(tmp_path: Path, coding: str) -> None:
    path = warc(tmp_path, info(), response(headers=f"Content-Encoding: {coding}\r\n"))
    assert found(path, f"keeps Content-Encoding {coding} over a body without it")


def test_a_compressed_body_that_was_cut_without_a_word_is_found(tmp_path: Path) -> None:
    path = warc(tmp_path, info(), response(headers="Content-Encoding: gzip\r\n", body=GZIPPED[:-6]))
    assert found(path, "keeps Content-Encoding gzip over a body without it")


@pytest.mark.parametrize("body", [HTML, b"", b"14\r\n" + HTML, b"4\r\n" + HTML + b"\r\n0\r\n\r\n"])
def test_a_transfer_coding_kept_over_an_undone_one_is_found(tmp_path: Path, body: bytes) -> None:
    path = warc(tmp_path, info(), response(headers="Transfer-Encoding: chunked\r\n", body=body))
    assert found(path, "keeps Transfer-Encoding chunked over a body without it")


def test_a_chunked_body_kept_as_it_was_sent_is_no_broken_rule(tmp_path: Path) -> None:
    body = b"14\r\n" + HTML + b"\r\n0\r\n\r\n"
    path = warc(tmp_path, info(), response(headers="Transfer-Encoding: chunked\r\n", body=body))
    assert not found(path, "keeps Transfer-Encoding")


def test_a_space_in_a_uri_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), response(uri="http://example.org/a b")), "has a space in its WARC-Target-URI")


def test_a_fragment_in_a_uri_is_found(tmp_path: Path) -> None:
    assert found(warc(tmp_path, info(), response(uri="http://example.org/#top")), "has a fragment")


def test_a_concurrent_record_that_is_nowhere_is_found(tmp_path: Path) -> None:
    path = warc(tmp_path, info(), response(), request(concurrent_to="<urn:uuid:lost>"))
    assert found(path, "WARC-Concurrent-To <urn:uuid:lost> is nowhere")


def test_a_missing_field_is_found(tmp_path: Path) -> None:
    path = warc(
        tmp_path, info(), record([("WARC-Type", "metadata"), ("WARC-Record-ID", "<urn:uuid:meta>")], b"", at="")
    )
    assert found(path, "has no WARC-Date")


def test_a_response_without_an_http_message_is_found(tmp_path: Path) -> None:
    fields = [("WARC-Type", "response"), ("WARC-Record-ID", "<urn:uuid:r>"), ("WARC-Payload-Digest", digest(b""))]
    path = warc(tmp_path, info(), record([*fields, ("WARC-Target-URI", "http://example.org/")], b"nothing of HTTP"))
    assert found(path, "is a response without an HTTP message")


def found(path: Path, what: str) -> bool:
    return any(what in fault for fault in broken_rules([path]))


def warc(directory: Path, *records: bytes, name: str = "0.warc.gz") -> Path:
    path = directory / name
    path.write_bytes(b"".join(gzip.compress(plain) for plain in records))
    return path


def info(identity: str = "<urn:uuid:info>") -> bytes:
    return record([("WARC-Type", "warcinfo"), ("WARC-Record-ID", identity)], b"software: by hand\r\n")


def response(
    *,
    headers: str = "",
    body: bytes = HTML,
    uri: str = "http://example.org/",
    identity: str = "response",
    payload_digest: str | None = "",
    block_digest: str | None = None,
    fields: list[tuple[str, str]] | None = None,
) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
    all_fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", f"<urn:uuid:{identity}>"),
        ("WARC-Target-URI", uri),
        ("Content-Type", "application/http;msgtype=response"),
        *(fields or []),
    ]
    if payload_digest is not None:
        all_fields.append(("WARC-Payload-Digest", payload_digest or digest(body)))
    return record(all_fields, block, block_digest=block_digest)


def request(*, concurrent_to: str = "<urn:uuid:response>") -> bytes:
    fields = [
        ("WARC-Type", "request"),
        ("WARC-Record-ID", "<urn:uuid:request>"),
        ("WARC-Target-URI", "http://example.org/"),
        ("Content-Type", "application/http;msgtype=request"),
        ("WARC-Concurrent-To", concurrent_to),
    ]
    return record(fields, b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")


def revisit(
    *,
    without: str = "",
    profile: str = "identical-payload-digest",
    body: bytes = b"",
    of: str = AT,
    head: str = "200 OK",
) -> bytes:
    fields = [
        ("WARC-Type", "revisit"),
        ("WARC-Record-ID", "<urn:uuid:revisit>"),
        ("WARC-Target-URI", "http://example.org/"),
        ("WARC-Profile", f"http://netpreserve.org/warc/1.1/revisit/{profile}"),
        ("WARC-Refers-To-Target-URI", "http://example.org/"),
        ("WARC-Refers-To-Date", of),
        ("Content-Type", "application/http;msgtype=response"),
        ("WARC-Payload-Digest", digest(HTML)),
    ]
    block = f"HTTP/1.1 {head}\r\nContent-Type: text/html\r\n\r\n".encode() + body
    return record([field for field in fields if field[0] != without], block)


def record(fields: list[tuple[str, str]], block: bytes, *, at: str = AT, block_digest: str | None = None) -> bytes:
    dated = [("WARC-Date", at)] if at else []
    ends = [("WARC-Block-Digest", block_digest or digest(block)), ("Content-Length", str(len(block)))]
    head = "".join(f"{name}: {value}\r\n" for name, value in [*fields, *dated, *ends])
    return f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()
