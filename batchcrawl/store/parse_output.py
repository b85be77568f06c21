"""What the parse step of one partition writes: chunks, each of pages and of their links by target partition.

The pages of a chunk are written as they come, its links are held until its end, since they are sorted. The links get
their names first and the pages last: a chunk whose pages file is there is whole.
"""

from operator import attrgetter, itemgetter
from pathlib import Path
from types import TracebackType

from msgspec import Struct

from batchcrawl.model.entries import LinkLine, PageLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.records import FileInfo, LineWriter, line_file_info, read_lines

LINK_BYTES = 500
"""What a held link takes beside its URLs, about."""

Buckets = list[list[LinkLine]]
"""Links by target partition."""


class PageBrief(Struct, gc=False):
    """The part of a page line that is counted."""

    fp: str
    redirect: str | None = None
    kind: UrlKind = UrlKind.PAGE
    failed: str | None = None
    links: int = 0
    rejected: dict[str, int] = {}


class ChunkWriter:
    """Writes one chunk. Used as a context it abandons the chunk unless `finish` was reached."""

    def __init__(self, disk: Disk, paths: SegmentPaths, partition: int, number: int, *, partitions: int) -> None:
        self.pages = 0
        self.held_bytes = 0
        """About what the links take that are not written yet."""
        self._disk = disk
        self._paths = [paths.links(partition, number, target) for target in range(partitions)]
        self._taken: list[tuple[str, Buckets]] = []
        self._pages = LineWriter(disk, paths.pages(partition, number), PageLine)

    def add(self, page: PageLine, links: Buckets) -> None:
        """Add a page and the links that were taken from it, in their order."""
        self._pages.write(page)
        self.pages += 1
        self._taken.append((page.fp, links))
        for bucket in links:
            self.held_bytes += sum([LINK_BYTES + len(link.url) + len(link.linked or "") for link in bucket])

    def finish(self) -> dict[str, FileInfo]:
        """Write the links, then commit the chunk by naming its pages; return the files by their path in the segment."""
        files = {}
        self._taken.sort(key=itemgetter(0))  # then the links of a target, too, come in the order of their sources
        for target, path in enumerate(self._paths):
            links = [link for _, buckets in self._taken for link in buckets[target]]
            links.sort(key=attrgetter("fp"))
            with LineWriter(self._disk, path, LinkLine) as writer:
                writer.write_all(links)
                files[_name(path)] = writer.finish()
        failpoint("parse.links_written")
        files[_name(self._pages.path)] = self._pages.finish()
        return files

    def __enter__(self) -> "ChunkWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pages.abandon()


def named_links_files(disk: Disk, paths: SegmentPaths, partition: int, buckets: Buckets) -> dict[str, FileInfo]:
    """Write the links to sitemaps that robots.txt files name; return the files by their path in the segment."""
    files = {}
    for target, links in enumerate(buckets):
        if links:
            path = paths.named_links(partition, target)
            with LineWriter(disk, path, LinkLine) as writer:
                writer.write_all(links)
                files[_name(path)] = writer.finish()
    return files


def chunk_pages(paths: SegmentPaths, partition: int, number: int) -> list[PageBrief]:
    """Return the pages of a chunk in their order; none when it is not written yet."""
    path = paths.pages(partition, number)
    return list(read_lines(path, PageBrief)) if path.exists() else []


def chunk_files(paths: SegmentPaths, partition: int, number: int, *, partitions: int) -> dict[str, FileInfo]:
    """Return the files of a chunk that is written, by their path in the segment."""
    links = (paths.links(partition, number, target) for target in range(partitions))
    return {_name(path): line_file_info(path) for path in (*links, paths.pages(partition, number))}


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
