"""Matching of robots.txt rules (RFC 9309 sections 2.2.2 and 2.2.3): the longest rule wins, allow wins a tie.

Rule and path are compared in one form: unreserved characters decoded, other octets percent-encoded with upper-case
digits, and a literal * or $ as %2A or %24. The length of a rule is that of its text so written, wildcards included.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class _Rule(NamedTuple):
    length: int
    allow: bool
    line_number: int


class _Pattern(NamedTuple):
    rule: _Rule
    pieces: list[str]
    anchored: bool


class RuleSet:
    """The rules that bind one robot. Each is (line number, allow, pattern as in the file)."""

    def __init__(self, rules: Iterable[tuple[int, bool, str]]) -> None:
        self._prefixes: dict[str, _Rule] = {}
        self._exact: dict[str, _Rule] = {}
        self._wild: list[_Pattern] = []
        for line_number, allow, text in rules:
            self._add(line_number, allow, text)
            folder, slash, page = text.rpartition("/")
            if allow and slash and page.startswith("index.htm"):
                # Google's: who allows the index page allows the folder.
                self._add(line_number, allow, folder + "/$")
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wild.sort(key=lambda pattern: pattern.rule[:2], reverse=True)

    def decide(self, path: str) -> tuple[bool, int | None]:
        """Return whether a path in matching form is allowed, and the number of the line that says so."""
        best = self._exact.get(path)
        for length in self._lengths:
            found = self._prefixes.get(path[:length]) if length <= len(path) else None
            if found is not None:
                best = found if best is None or _beats(found, best) else best
                break
        for pattern in self._wild:
            if best is not None and not _beats(pattern.rule, best):
                break
            if _matches(pattern, path):
                best = pattern.rule
                break
        return (True, None) if best is None else (best.allow, best.line_number)

    def _add(self, line_number: int, allow: bool, text: str) -> None:
        anchored = text.endswith("$")
        pieces = [matching_form(piece) for piece in (text[:-1] if anchored else text).split("*")]
        length = len(_recoded(text))
        if length == 0:
            return  # an empty rule matches nothing
        rule = _Rule(length, allow, line_number)
        if len(pieces) > 1:
            self._wild.append(_Pattern(rule, [pieces[0], *filter(None, pieces[1:-1]), pieces[-1]], anchored))
            return
        table = self._exact if anchored else self._prefixes
        known = table.get(pieces[0])
        if known is None or _beats(rule, known):
            table[pieces[0]] = rule


def path_of(url: str) -> str:
    """Return path and query of a URL, with a slash in front; for text that is no URL, what Google's matcher takes."""
    start = 2 if url.startswith("//") else 0
    early = _PATH_START.search(url, start)
    scheme_end = url.find("://", start)
    if scheme_end >= 0 and (early is None or early.start() >= scheme_end):
        start = scheme_end + 3
    found = _PATH_START.search(url, start)
    if found is None:
        return "/"
    path = url[found.start() :].partition("#")[0]
    if "#" in url[: found.start()]:
        return "/"
    return path if path.startswith("/") else "/" + path


_PATH_START = re.compile(r"[/?;]")


def matching_form(text: str) -> str:
    """Return a path, or a piece of a rule between wildcards, in the form in which both are compared."""
    if _PLAIN.match(text):
        return text
    return _recoded(text).replace("*", "%2A").replace("$", "%24")


_PLAIN = re.compile(r"[A-Za-z0-9._~/?&=+,;:@!'()-]*\Z")
_RECODABLE = re.compile(r"%[0-9A-Fa-f]{2}|[^\x00-\x7f]+")


def _recoded(text: str) -> str:
    return _RECODABLE.sub(_recode, text)


def _recode(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] != "%":
        return "".join(f"%{octet:02X}" for octet in found.encode("utf-8", "surrogatepass"))
    character = chr(int(found[1:], 16))
    return character if character in _UNRESERVED else found.upper()


def _beats(rule: _Rule, other: _Rule) -> bool:
    return rule[:2] > other[:2]


def _matches(pattern: _Pattern, path: str) -> bool:
    first, *middle, last = pattern.pieces
    if not path.startswith(first):
        return False
    at = len(first)
    for piece in middle:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    if pattern.anchored:
        return len(path) - at >= len(last) and path.endswith(last)
    return path.find(last, at) >= 0
