"""The command that hands a crawl on."""

import difflib
import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click

from batchcrawl.cli.completing import complete_segment
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, seen_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.errors import UsageError
from batchcrawl.export import FORMS, export
from batchcrawl.exports.rows import DEFAULT, FIELDS
from batchcrawl.exports.wanted import Exported, Wanted
from batchcrawl.job.units import SIZE_FORM, parse_size
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import SEGMENT_ID


class ExportOptions(TypedDict):
    """The options of `export` as click hands them over."""

    form: str
    fields: str | None
    since: str | None
    host: str | None
    duplicates: bool
    gone: bool
    size: str | None


@click.command("export")
@job_argument
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--to", "form", type=click.Choice(list(FORMS)), required=True, help="The form; see below.")
@click.option("--fields", metavar="NAMES", help="Fields of a page, with commas between; `all` takes all.")
@click.option(
    "--since", metavar="SEGMENT", shell_complete=complete_segment, help="Only what this segment or a later one brought."
)
@click.option("--host", metavar="HOST", help="Only what is on this host.")
@click.option("--duplicates", is_flag=True, help="Also pages whose text is known under another URL.")
@click.option("--gone", is_flag=True, help="Also tombstones: URLs that once were such a page and are none now.")
@click.option("--size", metavar="SIZE", help="Of a WARC file; default: fetch.warc_bytes_max.")
@quiet_option
def export_command(job: str, file: Path | None, quiet: bool, **options: Unpack[ExportOptions]) -> None:
    """Write out the latest version of each page, its links, or an index of all that is stored.

    Without FILE, or with -, a form that is a row of lines goes to standard output. A FILE that ends in .gz or .zst is
    compressed. docs/EXPORT.md tells of each form: jsonl, csv, sqlite, parquet, bulk, list, sitemap, links, nodes,
    warc, cdxj.

    An export to a FILE that is cut is gone on with by the same command, if the crawldb is as it was; but parquet,
    sitemap and cdxj begin anew.

    \b
    Reads:   crawldb, files of the segments
    Writes:  FILE, which appears whole and replaces one of that name
    Example: batchcrawl export mysite pages.jsonl.zst --to jsonl
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 5 FILE in use, 6 corrupt data, 11 interrupted
    """
    wanted = _wanted(**options)
    with seen_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        stdout = file is None or str(file) == "-"
        target = sys.stdout.buffer if stdout or file is None else file
        control, at = controls.of("export"), command_clock().now()
        done = export(crawl, wanted, target, disk=Disk(), at=at, control=control)
        controls.end()
    if not quiet:
        _echo_done(done)


def _wanted(
    form: str,
    *,
    fields: str | None,
    since: str | None,
    host: str | None,
    duplicates: bool,
    gone: bool,
    size: str | None,
) -> Wanted:
    if fields is not None and not FORMS[form].has_rows:
        raise UsageError(f"--fields is for forms that have any; --to {form} has none")
    if since is not None and not SEGMENT_ID.fullmatch(since):
        raise UsageError(f"--since {since}: no segment is called so; 'batchcrawl segments JOB' lists them")
    bytes_max = None if size is None else parse_size(size)
    if size is not None and not bytes_max:
        raise UsageError(f"--size {size}: it must be {SIZE_FORM}")
    return Wanted(
        form=form,
        fields=DEFAULT if fields is None else _fields(fields),
        since=since,
        host=None if host is None else host.lower().rstrip("/"),
        duplicates=duplicates,
        gone=gone,
        file_bytes_max=bytes_max,
    )


def _fields(text: str) -> tuple[str, ...]:
    names = tuple(FIELDS) if text == "all" else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
            raise UsageError(f"--fields: there is no field {name!r}; {advice}")
    return names


def _echo_done(done: Exported) -> None:
    told = [f"{number:,} {what}" for what, number in done.counts.items()] or ["nothing"]
    where = f" in {len(done.files):,} files" if len(done.files) > 1 else f" in {done.files[0]}" if done.files else ""
    kept = "" if done.kept is None else f"; {done.kept:,} of them were there from an export that was cut"
    click.echo(f"export: {', '.join(told)}{where}{kept}", err=True)
    if done.lost:
        click.echo(
            f"export: {done.lost:,} pages are left out: the segments that store them are not there any more", err=True
        )
