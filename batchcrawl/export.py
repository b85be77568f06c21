"""Export: the latest version of each page, its links, or an index, in the forms of `exports`.

Reads: crawldb, files of the segments. Writes: the files that are asked for.
Commits by: the rename of each file; an index or manifest of several comes last.
If killed: what has its name is whole; the same command goes on where the form can, if the crawl is as it was.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from batchcrawl.engine.control import Control
from batchcrawl.errors import UsageError
from batchcrawl.exports.bulk import write_bulk
from batchcrawl.exports.cdxj import write_cdxj
from batchcrawl.exports.csv import write_csv
from batchcrawl.exports.graph import write_links, write_nodes
from batchcrawl.exports.jsonl import write_jsonl
from batchcrawl.exports.output import Output
from batchcrawl.exports.parquet import write_parquet
from batchcrawl.exports.place import CallKeeper, FileKeeper, Kept, Place, forget, keep, read_kept
from batchcrawl.exports.reading import Reading
from batchcrawl.exports.sitemap import write_sitemap
from batchcrawl.exports.sqlite import Table
from batchcrawl.exports.urls import write_list
from batchcrawl.exports.wanted import Exported, Wanted
from batchcrawl.exports.warc import Files, numbered, write_warc
from batchcrawl.job.crawl import Crawl
from batchcrawl.store.disk import Disk
from batchcrawl.store.sorted_lines import SortedLines
from batchcrawl.store.whole_file import WholeFile, temporary


@dataclass(frozen=True)
class Form:
    """A form of export."""

    sentence: str
    write: Callable[["_Export", Output], None] | None = None
    """Writes a row of bytes; None where the form has files of its own."""
    write_files: Callable[["_Export", Path], list[Path]] | None = None
    has_rows: bool = False
    """Fields may be chosen."""
    goes_on: bool = True
    """An export that was cut goes on where it had come to; else it begins anew."""


def export(crawl: Crawl, wanted: Wanted, target: Path | Output, *, disk: Disk, at: float, control: Control) -> Exported:
    """Write an export to a file, or to what takes bytes, and return what it holds.

    Memory is bounded by a chunk of a segment, whatever the crawl has. Raises UsageError for a form that needs a file,
    Interrupted when asked to stop.
    """
    form, work = FORMS[wanted.form], _Export(crawl, wanted, disk, at, control)
    if form.write_files is not None:
        if not isinstance(target, Path):
            raise UsageError(f"--to {wanted.form} needs a FILE to write to")
        work.done.files = form.write_files(work, target)
    elif form.write is not None:
        if isinstance(target, Path):
            _write_file(form, form.write, work, target)
        else:
            form.write(work, target)
    return work.done


class _Export(Reading):
    """Reads a crawl for the writers, and tells them where files may be."""

    def __init__(self, crawl: Crawl, wanted: Wanted, disk: Disk, at: float, control: Control) -> None:
        super().__init__(crawl, wanted, control)
        self.disk = disk
        self.at = at
        self.folder = crawl.layout.root
        """Where files without a name may be made."""


def _write_file(form: Form, write: Callable[[_Export, Output], None], work: _Export, path: Path) -> None:
    work.folder = path.parent
    key = work.key() if form.goes_on else ""
    kept = read_kept(path, key) if form.goes_on else None
    if kept is not None and _size(temporary(path)) < kept.bytes:
        kept = None
    if kept is None:
        forget(work.disk, path)
    with WholeFile(work.disk, path, kept_bytes=0 if kept is None else kept.bytes) as out:
        if kept is not None:
            work.begin_at(kept.place)
        if form.goes_on:
            work.keeper = FileKeeper(work.disk, out, key)
        write(work, out)
        out.finish()
    forget(work.disk, path)
    work.done.files = [path]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _bulk(work: _Export, out: Output) -> None:
    write_bulk(work.rows("fp", "gone"), out)


def _csv(work: _Export, out: Output) -> None:
    write_csv(work.rows(), work.wanted.fields, out, names=work.done.kept is None)


def _cdxj(work: _Export, out: Output) -> None:
    with SortedLines(work.disk, work.folder) as lines:
        work.done.counts["exchanges"] = write_cdxj(work.exchanges(), lines, out)


def _sqlite(work: _Export, path: Path) -> list[Path]:
    with Table(path, work.wanted.fields, work.disk, work.key()) as table:
        if table.kept is not None:
            work.begin_at(table.kept)
        work.keeper = table
        table.write(work.rows())
    return [path]


def _parquet(work: _Export, path: Path) -> list[Path]:
    with WholeFile(work.disk, path) as out:
        write_parquet(work.rows(), work.wanted.fields, out)
        out.finish()
    return [path]


def _warc(work: _Export, path: Path) -> list[Path]:
    key, at = work.key(), work.at
    kept = read_kept(path, key)
    if kept is not None and all(numbered(path, number).exists() for number in range(kept.files)):
        work.begin_at(kept.place)
        at = kept.at
    else:
        kept = None
        forget(work.disk, path)
    reached = Place()

    def reach(place: Place) -> None:
        nonlocal reached
        reached = place

    work.keeper = CallKeeper(reach)
    files = Files(
        path=path,
        job=work.crawl.job.name,
        at=at,
        bytes_max=work.wanted.file_bytes_max or work.crawl.job.settings.fetch.warc_bytes_max,
        first=0 if kept is None else kept.files,
        on_end=lambda done: keep(work.disk, path, Kept(key=key, place=reached, files=done, at=at)),
    )
    written = write_warc(work.stored(), files, work.disk)
    forget(work.disk, path)
    return written


def _sitemap(work: _Export, path: Path) -> list[Path]:
    return write_sitemap(work.items(), path, work.disk, canonical=work.crawl.canonical)


FORMS: Mapping[str, Form] = {
    "jsonl": Form("an object a page", write=lambda work, out: write_jsonl(work.rows(), out), has_rows=True),
    "csv": Form("a line a page, under a line of names", write=_csv, has_rows=True),
    "sqlite": Form("a database with full-text search, as Datasette opens it", write_files=_sqlite, has_rows=True),
    "parquet": Form("columns, with the extra parquet", write_files=_parquet, has_rows=True, goes_on=False),
    "bulk": Form("actions for OpenSearch and Elasticsearch", write=_bulk, has_rows=True),
    "list": Form("a URL a line", write=lambda work, out: write_list(work.items(), out)),
    "sitemap": Form("sitemap.xml of one site, with an index beyond 50,000 URLs", write_files=_sitemap, goes_on=False),
    "links": Form("an object a link, with its anchor", write=lambda work, out: write_links(work.links(), out)),
    "nodes": Form("an object a known URL", write=lambda work, out: write_nodes(work.records(), out)),
    "warc": Form("WARC files of the latest copies", write_files=_warc),
    "cdxj": Form("a sorted index of the segments' WARC files, for pywb", write=_cdxj, goes_on=False),
}
"""By name."""
