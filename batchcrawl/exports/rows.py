"""What is told of a page in rows: its fields by name, each with its type and meaning."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from batchcrawl.model.entries import PageLine
from batchcrawl.model.record import UrlRecord
from batchcrawl.store.latest_pages import LatestPage

Row = dict[str, Any]
"""Values by the name of their field; those that are absent are left out."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A tombstone: a URL that was a page of such an export at some time and is none now."""

    fp: str
    record: UrlRecord


Item = LatestPage | Gone


@dataclass(frozen=True)
class Field:
    """A field of a row."""

    type: type
    """str, int, float, bool, list (of str) or dict (of str to str)."""
    meaning: str
    of_page: Callable[[LatestPage], Any]
    of_record: Callable[[UrlRecord], Any] | None = None
    """Gives the value of a tombstone; None for what a tombstone has not."""


def _record(type_: type, meaning: str, get: Callable[[UrlRecord], Any]) -> Field:
    return Field(type_, meaning, lambda latest: get(latest.record), get)


def _found(type_: type, meaning: str, get: Callable[[PageLine], Any]) -> Field:
    return Field(type_, meaning, lambda latest: None if latest.page is None else get(latest.page))


def _line(type_: type, meaning: str, name: str) -> Field:
    return Field(type_, meaning, lambda latest: getattr(latest.line, name))


FIELDS: Mapping[str, Field] = {
    "url": _record(str, "canonical URL", lambda r: r.url),
    "fp": Field(str, "fingerprint of the URL, hex", lambda latest: latest.line.fp),
    "status": _record(
        str, "page status: fetched or duplicate; of a tombstone, what it became", lambda r: r.status.name.lower()
    ),
    "host": _line(str, "host key", "host"),
    "title": _found(str, "title", lambda page: page.title),
    "description": _found(str, "meta description", lambda page: page.description),
    "language": _found(str, "language that the page declares", lambda page: page.language),
    "text": _found(str, "text", lambda page: page.text),
    "words": _found(int, "words of the text", lambda page: page.words),
    "http_status": _line(int, "HTTP status of the answer that brought the body", "status"),
    "content_type": _line(str, "Content-Type as sent", "content_type"),
    "media_type": _found(str, "what the body was taken for", lambda page: page.media_type),
    "charset": _found(str, "name of the encoding", lambda page: page.charset),
    "canonical": _found(str, "URL that the page names as its canonical one", lambda page: page.canonical),
    "robots": _found(list, "directives of meta robots and X-Robots-Tag", lambda page: page.robots),
    "unavailable_at": _found(int, "the instant of an unavailable_after among them", lambda page: page.unavailable_at),
    "failed": _found(str, "why the page could not be parsed", lambda page: page.failed),
    "fetched_at": _line(float, "when the body came", "ended_at"),
    "checked_at": _record(int, "when the URL last gave a conclusive answer", lambda r: r.last_fetch_at),
    "changed_at": _record(int, "when the content was last seen to have changed", lambda r: r.last_change_at),
    "first_seen_at": _record(int, "when the URL entered the crawl", lambda r: r.first_seen_at),
    "next_fetch_at": _record(int, "when the URL is due again", lambda r: r.next_fetch_at),
    "depth": _record(int, "links from the nearest seed", lambda r: r.depth),
    "seed": _record(bool, "the URL is a seed", lambda r: r.seed),
    "fetches": _record(int, "conclusive answers", lambda r: r.fetches),
    "changes": _record(int, "how many of them differed from the one before", lambda r: r.changes),
    "links": _found(int, "links taken from the page", lambda page: page.links),
    "body_bytes": _line(int, "bytes of the body as sent", "body_bytes"),
    "truncated": _line(str, "length or time, where the body was cut", "truncated"),
    "digest": _line(str, "payload digest", "digest"),
    "signature": _found(str, "exact signature of the text, hex", lambda page: page.signature),
    "simhash": _found(str, "near-duplicate signature of the text, hex", lambda page: page.simhash),
    "duplicate_of": _record(
        str,
        "of a duplicate: fingerprint of the first page with its text, hex",
        lambda r: None if r.duplicate_of is None else r.duplicate_of.hex(),
    ),
    "near_to": _record(
        str,
        "fingerprint of an earlier page whose text is near to its own, hex",
        lambda r: None if r.near_to is None else r.near_to.hex(),
    ),
    "etag": _line(str, "ETag as sent", "etag"),
    "last_modified": _line(str, "Last-Modified as sent", "last_modified"),
    "redirect": Field(str, "of a tombstone: where the URL points now", lambda latest: None, lambda r: r.redirect),
    "metadata": _record(dict, "other key=value pairs of the seed line", lambda r: r.metadata),
    "segment": Field(str, "the segment that stores the body", lambda latest: latest.segment.id),
    "warc": _line(str, "WARC file in its fetch/", "warc"),
    "offset": _line(int, "where the gzip member of the response begins in it", "offset"),
    "length": _line(int, "bytes of that member", "length"),
    "gone": Field(bool, "this is a tombstone", lambda latest: None, lambda _: True),
}
"""In the order in which they stand in a row."""

DEFAULT = (
    *("url", "fp", "status", "host", "title", "description", "language", "text", "words", "http_status"),
    *("content_type", "media_type", "fetched_at", "checked_at", "changed_at", "depth", "duplicate_of", "redirect"),
    *("segment", "gone"),
)
"""Fields of a row unless others are asked for."""

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def rows(items: Iterator[Item], fields: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each page and tombstone."""
    taken = [(name, FIELDS[name]) for name in fields]
    for item in items:
        row: Row = {}
        for name, field in taken:
            value = _value(item, name, field)
            if value is not None and value != [] and value is not False:
                row[name] = value
        yield row


def plain(value: str) -> str:
    """Return a text without control characters but tab and line feed; each becomes U+FFFD."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", value)


def _value(item: Item, name: str, field: Field) -> Any:
    if isinstance(item, LatestPage):
        return field.of_page(item)
    if name == "fp":
        return item.fp
    return None if field.of_record is None else field.of_record(item.record)
