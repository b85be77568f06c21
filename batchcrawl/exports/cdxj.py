"""A CDXJ index of all exchanges of a crawl, sorted, by which a replay tool such as pywb serves them from the segments.

A line is the key of the URL (`web.surt`), the instant to the second, and an object of JSON: url, mime, status, digest,
length, offset, filename. File names are seen from the crawl's directory, which pywb's `archive_paths` must name.

Answers 304 are left out: pywb would serve each as it came, without a page, in the place of the copy that it speaks of,
which is the nearest before it.
"""

import time
from collections.abc import Iterator

import msgspec

from batchcrawl.exports.output import Output
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.segment import Segment
from batchcrawl.store.sorted_lines import SortedLines
from batchcrawl.web.surt import surt


class _Place(msgspec.Struct, kw_only=True, omit_defaults=True):
    url: str
    mime: str
    status: str
    digest: str | None = None
    length: str
    offset: str
    filename: str


_NOT_MODIFIED = 304
_encode = msgspec.json.Encoder().encode


def write_cdxj(exchanges: Iterator[tuple[Segment, FetchLogLine]], lines: SortedLines, out: Output) -> int:
    """Write a line for each exchange that is stored, and return how many there are. `lines` sorts them."""
    for segment, line in exchanges:
        if line.warc is not None and line.status != _NOT_MODIFIED:
            lines.add(_line(segment, line))
    count = 0
    for count, text in enumerate(lines, start=1):  # noqa: B007 - the last number is the count
        out.write(text + b"\n")
    return count


def _line(segment: Segment, line: FetchLogLine) -> bytes:
    at = time.strftime("%Y%m%d%H%M%S", time.gmtime(int(line.started_at or 0)))
    place = _Place(
        url=line.url,
        mime="warc/revisit" if line.revisit is not None else _mime(line.content_type),
        status=str(line.status),
        digest=None if line.digest is None else line.digest.removeprefix("sha1:"),
        length=str(line.length),
        offset=str(line.offset),
        filename=f"segments/{segment.id}/fetch/{line.warc}",
    )
    return f"{surt(line.url)} {at} ".encode() + _encode(place)


def _mime(content_type: str | None) -> str:
    mime = (content_type or "").partition(";")[0].strip().lower()
    return mime if mime and mime.isascii() and mime.isprintable() and " " not in mime else "unk"
