"""Content codings of HTTP (RFC 9110 section 8.4.1) undone, with a limit that holds for every step of the decoding."""

import io
import zlib
from collections.abc import Callable

import brotli
import zstandard

ACCEPTED = "gzip, deflate, br, zstd"
"""What can be undone here, as the value of Accept-Encoding."""

_CODINGS_MAX = 3
_CHUNK_BYTES = 8192
_SMALL_CHUNK_BYTES = 64
_PART_BYTES = 262_144
_OVERHEAD_BYTES = 65_536
"""By how much, with a 512th, what is still coded may be longer than what it codes."""
_WINDOW_BYTES_MAX = 8 * 1024 * 1024
"""Largest zstd window that a receiver must support (RFC 9659)."""


def decode_body(body: bytes, coding: str | None, *, bytes_max: int) -> bytes | None:
    """Return a body without its content codings, at most `bytes_max` bytes of it.

    `coding` is the Content-Encoding header, at most three codings. A body that is cut short or damaged gives what could
    be decoded; one that is not in the coding that it names is taken as not coded, and so is a name that is no coding
    (`utf-8`). None where a coding cannot be undone here: compress, a shared dictionary, or more than three.
    """
    names = [name.strip().lower() for name in (coding or "").split(",")]
    if any(name in _NOT_SUPPORTED for name in names):
        return None
    decoders = [_DECODERS[name] for name in names if name in _DECODERS]
    if len(decoders) > _CODINGS_MAX:
        return None
    for decode in reversed(decoders[1:]):
        body = decode(body, bytes_max + bytes_max // 512 + _OVERHEAD_BYTES)
    return decoders[0](body, bytes_max)[:bytes_max] if decoders else body[:bytes_max]


def _gunzip(body: bytes, bytes_max: int) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    return _inflate(body, bytes_max, zlib.MAX_WBITS | 16)


def _undeflate(body: bytes, bytes_max: int) -> bytes:
    # RFC 9110 says zlib's format, and some servers send the raw one.
    if len(body) >= 2 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0:
        decoded = _inflate(body, bytes_max, zlib.MAX_WBITS)
        if decoded:
            return decoded
    return _inflate(body, bytes_max, -zlib.MAX_WBITS) or body


def _unbrotli(body: bytes, bytes_max: int) -> bytes:
    decoded, damaged = _unbrotli_chunks(body, bytes_max, _CHUNK_BYTES)
    if damaged:
        decoded, _ = _unbrotli_chunks(body, bytes_max, _SMALL_CHUNK_BYTES)
    # The format has no mark to be known by (RFC 7932): what breaks off and did not grow is taken as something else.
    return body if damaged and len(decoded) <= len(body) else decoded


def _unbrotli_chunks(body: bytes, bytes_max: int, chunk_bytes: int) -> tuple[bytes, bool]:
    """Return a body decoded, and whether damage or its cut ended that early."""
    view, at = memoryview(body), 0
    parts: list[bytes] = []
    left = bytes_max
    decompressor = brotli.Decompressor()
    try:
        while left > 0 and not decompressor.is_finished():
            chunk = b""
            if decompressor.can_accept_more_data():
                if at >= len(view):
                    return b"".join(parts), True
                chunk = bytes(view[at : at + chunk_bytes])
                at += len(chunk)
            parts.append(decompressor.process(chunk, output_buffer_limit=min(left, _PART_BYTES)))
            left -= len(parts[-1])
    except brotli.error:
        return b"".join(parts), True
    return b"".join(parts), False


def _unzstd(body: bytes, bytes_max: int) -> bytes:
    if not body.startswith(b"\x28\xb5\x2f\xfd") and body[1:4] != b"\x2a\x4d\x18":
        return body
    parts: list[bytes] = []
    left = bytes_max
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES_MAX)
    try:
        with decompressor.stream_reader(io.BytesIO(body), read_across_frames=True) as reader:
            while left and (part := reader.read(min(left, _WINDOW_BYTES_MAX))):
                parts.append(part)
                left -= len(part)
    except zstandard.ZstdError:
        pass  # what was decoded before the damage counts
    return b"".join(parts)


def _inflate(body: bytes, bytes_max: int, window_bits: int) -> bytes:
    decoded, damaged = _inflate_chunks(body, bytes_max, window_bits, _CHUNK_BYTES)
    if damaged:
        # zlib gives nothing of the chunk in which it meets the damage, so the chunks are made small.
        decoded, _ = _inflate_chunks(body, bytes_max, window_bits, _SMALL_CHUNK_BYTES)
    return decoded


def _inflate_chunks(body: bytes, bytes_max: int, window_bits: int, chunk_bytes: int) -> tuple[bytes, bool]:
    """Return the members of a body, decoded and joined, and whether damage ended them early."""
    view, at = memoryview(body), 0
    parts: list[bytes] = []
    left = bytes_max
    inflater = zlib.decompressobj(window_bits)
    rest = b""
    while left > 0 and (rest or at < len(view)):
        if not rest:
            rest = bytes(view[at : at + chunk_bytes])
            at += len(rest)
        try:
            part = inflater.decompress(rest, left)
        except zlib.error:
            return b"".join(parts), True
        parts.append(part)
        left -= len(part)
        rest = inflater.unconsumed_tail
        if inflater.eof:
            rest = inflater.unused_data or bytes(view[at : at + chunk_bytes])
            at += 0 if inflater.unused_data else len(rest)
            if window_bits <= zlib.MAX_WBITS or not rest.startswith(b"\x1f"):
                break  # one member is all, or what follows is no other member
            inflater = zlib.decompressobj(window_bits)
    return b"".join(parts), False


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "x-deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
_NOT_SUPPORTED = frozenset({"compress", "x-compress", "dcb", "dcz"})
