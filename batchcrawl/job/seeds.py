"""Seed files: one URL a line, then key=value pairs behind tabs.

    # a comment; empty lines are skipped
    https://example.org/
    example.org/news<TAB>score=2<TAB>interval=6h<TAB>topic=news

`score` is a number from 0, `interval` a fetch interval with its unit; other pairs are kept as the URL's metadata.
A host without a scheme is asked by https, this machine (localhost, 127.0.0.1) by http. UTF-8, with or without a
byte order mark; lines end with LF or CRLF.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from batchcrawl.job.addresses import is_loopback
from batchcrawl.job.source import printable
from batchcrawl.job.units import DURATION_FORM, YEAR, parse_duration
from batchcrawl.model.kind import UrlKind
from batchcrawl.web.urls import parse_url

LINE_BYTES_MAX = 65_536
INTERVAL_MAX_S = 10 * YEAR


class Seed(msgspec.Struct, frozen=True, kw_only=True):
    """One good line of a seed file."""

    url: str
    """As the WHATWG standard serialises it."""
    line: int
    kind: UrlKind = UrlKind.PAGE
    score: float | None = None
    interval_s: int | None = None
    metadata: dict[str, str] | None = None


class SeedFault(msgspec.Struct, frozen=True, kw_only=True):
    """One line that is no seed; as text it is the line to tell the user."""

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"


@dataclass(frozen=True)
class BadUrl:
    """Why a text is no URL to begin with."""

    reason: str


def parse_seed_lines(lines: Iterable[bytes], source: str) -> Iterator[Seed | SeedFault]:
    """Yield a seed or a fault for each line that is neither empty nor a comment, in order; never raises by itself.

    `source` is the name of the file in faults. Line ends may be there or not.
    """
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_BYTES_MAX:
            yield SeedFault(source=source, line=number, reason=f"longer than {LINE_BYTES_MAX:,} bytes")
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            yield SeedFault(source=source, line=number, reason=f"not UTF-8 at byte {error.start} of the line")
            continue
        if not text or text.startswith("#"):
            continue
        found = _seed(text, number)
        yield SeedFault(source=source, line=number, reason=found) if isinstance(found, str) else found


def parse_seed_url(text: str) -> str | BadUrl:
    """Return the serialised http or https URL of a seed, which may leave out its scheme, or why there is none."""
    shown = printable(text)
    if _SPACE_OR_CONTROL.search(text):
        return BadUrl(f"not a URL: '{shown}' has a space in it; key=value pairs stand behind a tab")
    scheme = _SCHEME.match(text)
    if scheme is None:
        bare = _BARE.match(text)
        if bare is None:
            return BadUrl(f"not a URL: '{shown}'")
        text = f"{'http' if is_loopback(bare[1]) else 'https'}://{text}"
    elif scheme[1].lower() not in ("http", "https"):
        return BadUrl(f"scheme '{printable(scheme[1])}' is neither http nor https: '{shown}'")
    url = parse_url(text)
    return BadUrl(f"not a URL: '{shown}'") if url is None else url


_SPACE_OR_CONTROL = re.compile(r"[\s\x00-\x20\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BARE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|localhost|[^\s/?#@:\[\]\\]+\.[^\s/?#@:\[\]\\]+)(?::[0-9]+)?(?:[/?#]|\Z)", re.I)


def _seed(text: str, line: int) -> Seed | str:
    first, *pairs = text.split("\t")
    url = parse_seed_url(first.strip())
    if isinstance(url, BadUrl):
        return url.reason
    if not pairs:
        return Seed(url=url, line=line)
    values: dict[str, str] = {}
    for pair in filter(None, map(str.strip, pairs)):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            return f"'{printable(pair)}' is not key=value"
        if key.strip() in values:
            return f"'{printable(key.strip())}' is given twice"
        values[key.strip()] = value.strip()
    return _with_values(url, line, values)


def _with_values(url: str, line: int, values: dict[str, str]) -> Seed | str:
    score_text, interval_text = values.pop("score", None), values.pop("interval", None)
    score = None if score_text is None else _score(score_text)
    if score_text is not None and score is None:
        return f"score '{printable(score_text)}' is not allowed; allowed: a number from 0 to 1,000,000"
    interval_s = None if interval_text is None else parse_duration(interval_text)
    if interval_text is not None and (interval_s is None or not 1 <= interval_s <= INTERVAL_MAX_S):
        return f"interval '{printable(interval_text)}' is not allowed; allowed: {DURATION_FORM}, from 1s to 3650d"
    return Seed(
        url=url,
        line=line,
        score=score,
        interval_s=None if interval_s is None else int(interval_s),
        metadata=values or None,
    )


_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,9})?")


def _score(text: str) -> float | None:
    score = float(text) if _NUMBER.fullmatch(text) else math.inf
    return score if score <= 1_000_000 else None
