"""The text of a job file: its values, and the line of each key, so that an error can say where.

TOML as in its specification 1.0.0; the reader is the standard library's.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from batchcrawl.errors import JobFileError

Key = tuple[str, ...]
"""The parts of a key from the top of the file, as ("politeness", "delay_min")."""

FILE_BYTES_MAX = 1_000_000


@dataclass(frozen=True)
class JobText:
    """A job file that is TOML."""

    shown: str
    """The file's name as messages give it."""
    document: dict[str, Any]
    lines: dict[Key, int]
    """The line of each key and section header, from 1."""
    items: dict[Key, list[int]] = field(default_factory=dict)
    """The line of each text in a list, by the list's key."""

    def place(self, key: Key, item: int | None = None) -> str:
        """Return `file:line` of a key, of the section around it if it has no line of its own, else the file.

        Of a list of texts, `item` names one by its index.
        """
        if item is not None and item < len(self.items.get(key, ())):
            return f"{self.shown}:{self.items[key][item]}"
        for end in range(len(key), 0, -1):
            if key[:end] in self.lines:
                return f"{self.shown}:{self.lines[key[:end]]}"
        return self.shown

    def error(self, key: Key, message: str, item: int | None = None) -> JobFileError:
        """Return the error of one line that says where the key or its item stands, its name and what is wrong."""
        return JobFileError(f"{self.place(key, item)}: {dotted(key)}: {message}")


def parse_job_text(data: bytes, shown: str) -> JobText:
    """Return the values and lines of a job file's bytes. Raises JobFileError when they are not TOML."""
    if len(data) > FILE_BYTES_MAX:
        raise JobFileError(
            f"{shown}: {len(data):,} bytes; a job file has at most {FILE_BYTES_MAX:,}: put seeds into seed_files"
        )
    try:
        # Universal newlines, as tomllib itself reads a file.
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise JobFileError(f"{shown}:{line}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    try:
        return JobText(shown, tomllib.loads(text), key_lines(text), item_lines(text))
    except RecursionError:
        raise JobFileError(f"{shown}: not TOML: lists or tables nested too deep") from None
    except ValueError as error:  # TOMLDecodeError, and whole numbers of thousands of digits
        raise JobFileError(_syntax_message(shown, text, str(error))) from None


def dotted(key: Key) -> str:
    """Return a key for a message, parts in quotes where TOML wants them."""
    return printable(".".join(part if _BARE.fullmatch(part) else f'"{part}"' for part in key))


def printable(text: str, length_max: int = 80) -> str:
    """Return text for a message: one line, no control characters, cut at a length."""
    shown = "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)
    return shown if len(shown) <= length_max else shown[: length_max - 3] + "..."


def key_lines(text: str) -> dict[Key, int]:
    """Return the line, from 1, of each key and header of a TOML text that is known to be right.

    Keys of inline tables have no entry of their own. A table that is named more than once, as by dotted keys, has
    its first line.
    """
    lines: dict[Key, int] = {}
    for key, line, _ in _keyed(text):
        for end in range(1, min(len(key), _PARTS_MAX) + 1):
            lines.setdefault(key[:end], line)
    return lines


def item_lines(text: str) -> dict[Key, list[int]]:
    """Return the lines, from 1, on which the texts of each list begin; of a list that holds anything else, nothing."""
    items: dict[Key, list[int]] = {}
    for key, line, value in _keyed(text):
        offsets = _item_offsets(value)
        if offsets:
            items[key] = [line + value.count("\n", 0, offset) for offset in offsets]
    return items


_PARTS_MAX = 3  # section, setting, entry: deeper there is nothing to be named
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DOTTED = rf"(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*{_DOTTED}[ \t]*\]")
_KEY_VALUE = re.compile(rf"[ \t]*{_DOTTED}[ \t]*=")
_TOKEN = re.compile(
    r"""
    "{3}(?:[^\\]|\\.)*?"{3,5}     # text over several lines; up to two quotes more may end it
    |'{3}.*?'{3,5}
    |"(?:[^"\\\n]|\\.)*"
    |'[^'\n]*'
    |\#[^\n]*
    |[\[\]{}\n]
    """,
    re.VERBOSE | re.DOTALL,
)


def _keyed(text: str) -> Iterator[tuple[Key, int, str]]:
    """Yield each key and header with its line and its value as the file spells it; that of a header is empty."""
    section: Key = ()
    line = 1
    for statement in _statements(text):
        match = _HEADER.match(statement) or _KEY_VALUE.match(statement)
        if match is not None and match.re is _HEADER:
            section = _key(match["key"])
            yield section, line, ""
        elif match is not None:
            # A key does not go over a line end, so the value begins on its line.
            yield section + _key(match["key"]), line, statement[match.end() :]
        line += statement.count("\n")


def _item_offsets(value: str) -> list[int]:
    """Return where in the spelling of a list of texts each of them begins."""
    if not value.lstrip(" \t").startswith("["):
        return []
    depth, offsets = 0, []
    for token in _TOKEN.finditer(value):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark[0] in "\"'":
            offsets.append(token.start())
        if depth > 1:
            return []
    return offsets


def _statements(text: str) -> Iterator[str]:
    """Yield the text in pieces that each end with the line end behind a whole statement."""
    start, depth = 0, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == "\n" and depth == 0:
            yield text[start : token.end()]
            start = token.end()
    if start < len(text):
        yield text[start:]


def _key(dotted: str) -> Key:
    # The standard library unquotes the parts, so that both readers agree.
    parts: list[str] = []
    inner: Any = tomllib.loads(f"{dotted} = 0")
    while isinstance(inner, dict):
        part, inner = next(iter(inner.items()))
        parts.append(part)
    return tuple(parts)


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _syntax_message(shown: str, text: str, reason: str) -> str:
    at = _AT.search(reason)
    if at is None:
        return f"{shown}: not TOML: {printable(reason)}"
    line = at[1] or str(text.rstrip("\n").count("\n") + 1)
    column = f" at column {at[2]}" if at[2] else " at the end of the file"
    return f"{shown}:{line}: not TOML{column}: {printable(reason[: at.start()])}"
