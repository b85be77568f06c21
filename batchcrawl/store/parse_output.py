"""What the parse step of one partition writes: chunks, each of pages and of their links by target partition.

The pages of a chunk are written as they come, its links are held until its end, since they are sorted. The links get
their names first, then what tells of links that were not taken, and the pages last: a chunk whose pages file is there
is whole.
"""

from collections.abc import Sequence
from operator import attrgetter, itemgetter
from pathlib import Path
from types import TracebackType

from msgspec import Struct

from batchcrawl.model.entries import LinkLine, PageLine, RejectedLink, RejectionLine
from batchcrawl.model.kind import UrlKind
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.page_links import Buckets, PageLinks, RejectionCounts
from batchcrawl.store.records import FRAME_BYTES, SMALL_FRAME_BYTES, FileInfo, LineWriter, line_file_info, read_lines

LINK_BYTES = 500
"""What a held link takes beside its URLs, about."""


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

    def __init__(
        self, disk: Disk, paths: SegmentPaths, partition: int, number: int, *, partitions: int, listing: bool = False
    ) -> None:
        """`listing`: the links that were not taken are listed, and not only counted."""
        self.pages = 0
        self.held_bytes = 0
        """About what the links take that are not written yet."""
        self._disk = disk
        self._paths = [paths.links(partition, number, target) for target in range(partitions)]
        self._taken: list[tuple[str, Buckets]] = []
        self._rejections = RejectionCounts()
        self._rejections_path = paths.rejections(partition, number)
        rejected = paths.rejected_links(partition, number)
        disk.remove(rejected)  # of a killed process, which may have been asked for it
        self._rejected = LineWriter(disk, rejected, RejectedLink) if listing else None
        self._pages = LineWriter(disk, paths.pages(partition, number), PageLine)

    def add(self, page: PageLine, links: PageLinks) -> None:
        """Add a page and its links, in their order."""
        self._pages.write(page)
        self.pages += 1
        self._taken.append((page.fp, links.buckets))
        for bucket in links.buckets:
            self.held_bytes += sum([LINK_BYTES + len(link.url) + len(link.linked or "") for link in bucket])
        self._rejections.add(links.rejected)
        if self._rejected is not None:
            self._rejected.write_all(links.listed or [])

    def finish(self) -> dict[str, FileInfo]:
        """Write the links, then commit the chunk by naming its pages; return the files by their path in the segment."""
        files = {}
        self._taken.sort(key=itemgetter(0))  # then the links of a target, too, come in the order of their sources
        for target, path in enumerate(self._paths):
            links = [link for _, buckets in self._taken for link in buckets[target]]
            links.sort(key=attrgetter("fp"))
            files[_name(path)] = _written(self._disk, path, LinkLine, links)
        path = self._rejections_path
        files[_name(path)] = _written(self._disk, path, RejectionLine, self._rejections.lines())
        if self._rejected is not None:
            files[_name(self._rejected.path)] = self._rejected.finish()
        failpoint("parse.links_written")
        files[_name(self._pages.path)] = self._pages.finish()
        return files

    def __enter__(self) -> "ChunkWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pages.abandon()
        if self._rejected is not None:
            self._rejected.abandon()


def named_links_files(disk: Disk, paths: SegmentPaths, partition: int, buckets: Buckets) -> dict[str, FileInfo]:
    """Write the links to sitemaps that robots.txt files name; return the files by their path in the segment."""
    named = ((paths.named_links(partition, target), links) for target, links in enumerate(buckets) if links)
    return {_name(path): _written(disk, path, LinkLine, links) for path, links in named}


def chunk_pages(paths: SegmentPaths, partition: int, number: int) -> list[PageBrief]:
    """Return the pages of a chunk in their order; none when it is not written yet."""
    path = paths.pages(partition, number)
    return list(read_lines(path, PageBrief)) if path.exists() else []


def chunk_files(paths: SegmentPaths, partition: int, number: int, *, partitions: int) -> dict[str, FileInfo]:
    """Return the files of a chunk that is written, by their path in the segment."""
    links = (paths.links(partition, number, target) for target in range(partitions))
    rejected = paths.rejected_links(partition, number)
    written = [*links, paths.rejections(partition, number), paths.pages(partition, number)]
    written += [rejected] if rejected.exists() else []
    return {_name(path): line_file_info(path) for path in written}


def _written(disk: Disk, path: Path, line_type: type[Struct], lines: Sequence[Struct]) -> FileInfo:
    frame_bytes = SMALL_FRAME_BYTES if line_type is LinkLine else FRAME_BYTES
    with LineWriter(disk, path, line_type, frame_bytes=frame_bytes) as writer:
        writer.write_all(lines)
        return writer.finish()


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
