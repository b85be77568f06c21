"""The one thing that has to be known of a LevelDB manifest: from which number on its next owner names new files.

A manifest is a log of version edits. A log consists of blocks of 32 KiB, these of records with a head of seven bytes
(checksum, length, type); an edit is a row of tagged fields of variable length.
(LevelDB, doc/log_format.md, and the tags of db/version_edit.cc.)
"""

from collections.abc import Iterator

_BLOCK_BYTES = 32_768
_HEAD_BYTES = 7
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_NEXT_FILE = 3
_FIELDS = {1: "s", 2: "n", 3: "n", 4: "n", 5: "ns", 6: "nn", 7: "nnnss", 9: "n"}
"""By tag, what follows it: numbers and strings, which begin with their length."""


def next_file_number(manifest: bytes) -> int | None:
    """Return the number that the last edit tells; every file that counts has a lower one.

    A record that was cut at the end is passed over, as LevelDB does. None for a manifest that tells none.
    """
    found = None
    for edit in _edits(manifest):
        for tag, first in _fields(edit):
            if tag == _NEXT_FILE:
                found = first
    return found


def _edits(log: bytes) -> Iterator[bytes]:
    whole, at = b"", 0
    while at + _HEAD_BYTES <= len(log):
        left = _BLOCK_BYTES - at % _BLOCK_BYTES
        if left < _HEAD_BYTES:  # filled with zeros
            at += left
            continue
        size, kind = int.from_bytes(log[at + 4 : at + 6], "little"), log[at + 6]
        data = log[at + _HEAD_BYTES : at + _HEAD_BYTES + size]
        if len(data) < size:
            return
        at += _HEAD_BYTES + size
        whole = data if kind in (_FULL, _FIRST) else whole + data
        if kind in (_FULL, _LAST):
            yield whole


def _fields(edit: bytes) -> Iterator[tuple[int, int]]:
    """Yield each tag with the first number behind it; stops at what is no edit, which LevelDB then refuses."""
    at = 0
    while at < len(edit):
        tag, at = _number(edit, at)
        first = None
        for kind in _FIELDS.get(tag, ""):
            number, at = _number(edit, at)
            first = number if first is None else first
            at += number if kind == "s" else 0
        if first is None:
            return
        yield tag, first


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the lowest first, and where the next begins."""
    value = shift = 0
    while at < len(data):
        octet = data[at]
        value, shift, at = value | (octet & 0x7F) << shift, shift + 7, at + 1
        if octet < 0x80:
            break
    return value, at
