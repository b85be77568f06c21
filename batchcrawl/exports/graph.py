"""The link graph as JSON lines: an edge a link that was taken from a page, or a node a URL that is known."""

from collections.abc import Iterator

import msgspec

from batchcrawl.exports.output import Output
from batchcrawl.model.entries import LinkLine
from batchcrawl.model.record import UrlRecord


class Edge(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A link."""

    source: str
    """Canonical URL of the page."""
    target: str
    """Canonical URL that it leads to."""
    kind: str
    """What holds it: a, area, frame, ..., as in docs/FORMAT.md."""
    anchor: str | None = None
    rel: tuple[str, ...] = ()


class Node(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A URL."""

    url: str
    fp: str
    status: str
    depth: int
    level: int
    """Priority level."""
    score: float | None = None
    """The seed's own score."""
    redirect: str | None = None
    duplicate_of: str | None = None
    """Fingerprint of the first page with the same text."""


_encode = msgspec.json.Encoder().encode


def write_links(links: Iterator[tuple[UrlRecord, LinkLine]], out: Output) -> None:
    """Write an edge for each link; its record is that of the page that has it."""
    for record, link in links:
        edge = Edge(source=record.url, target=link.url, kind=link.kind, anchor=link.anchor, rel=link.rel)
        out.write(_encode(edge) + b"\n")


def write_nodes(records: Iterator[tuple[bytes, UrlRecord]], out: Output) -> None:
    """Write a node for each record, which comes with its fingerprint."""
    for fingerprint, record in records:
        node = Node(
            url=record.url,
            fp=fingerprint.hex(),
            status=record.status.name.lower(),
            depth=record.depth,
            level=record.level,
            score=record.score,
            redirect=record.redirect,
            duplicate_of=None if record.duplicate_of is None else record.duplicate_of.hex(),
        )
        out.write(_encode(node) + b"\n")
