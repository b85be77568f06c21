"""The commands that look into a crawl and change nothing."""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click
import msgspec

from batchcrawl.cli.completing import complete_newest_segment
from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import asked_url, opened_crawl, seen_crawl
from batchcrawl.cli.summaries import echo_step
from batchcrawl.errors import ExitCode, UsageError
from batchcrawl.find import all_seen, is_segment, segment_at
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.units import instant
from batchcrawl.model.entries import FetchLogLine, RejectionLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.show import (
    Located,
    body,
    body_of,
    dump,
    fetch_list,
    known_url,
    links_of,
    locate,
    outcome_of,
    outcomes,
    page_of,
    rejections,
    stays,
    stored_response,
)
from batchcrawl.store.disk import Disk
from batchcrawl.store.portable import record_row
from batchcrawl.store.segment import COMMANDS, STEPS, Segment, open_segment
from batchcrawl.store.whole_file import WholeFile

HOSTS_SHOWN = 3
"""Of each reason for which links were not taken."""


class Looks(TypedDict):
    """The options of `segment` as click hands them over."""

    fetch_list: bool
    outcomes: bool
    rejected: bool
    page: str | None
    body: str | None
    headers: str | None
    links: str | None


@click.command()
@job_argument
@click.argument("segment_id", metavar="ID", shell_complete=complete_newest_segment)
@click.option("--fetch-list", is_flag=True, help="Its URLs as JSON lines.")
@click.option("--outcomes", is_flag=True, help="Its fetch log as JSON lines.")
@click.option("--rejected", is_flag=True, help="Its links that were not taken, by reason and host, as JSON lines.")
@click.option("--page", metavar="URL", help="What was fetched and parsed of one URL, as JSON.")
@click.option("--body", metavar="URL", help="The body of one URL, its content coding undone.")
@click.option("--headers", metavar="URL", help="The status and headers of one URL.")
@click.option("--links", metavar="URL", help="The links taken from one URL as JSON lines.")
def segment(job: str, segment_id: str, **looks: Unpack[Looks]) -> None:
    """Look into a segment; ID may be `newest`.

    Of the options at most one is taken.

    \b
    Reads:   files of the segment
    Writes:  nothing
    Example: batchcrawl segment mysite newest --outcomes
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    given = [f"--{name.replace('_', '-')}" for name, value in looks.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} exclude each other; give one of them")
    with opened_crawl(job) as crawl:
        opened = open_segment(crawl.layout, _newest(crawl) if segment_id == "newest" else segment_id)
        if looks["fetch_list"] or looks["outcomes"] or looks["rejected"]:
            for line in _lines(opened, looks):
                _echo_json(line)
        elif given:
            _echo_of_url(crawl, opened, looks)
        else:
            _echo_segment(opened)


@click.command()
@job_argument
@click.argument("url", metavar="URL")
@click.option("--history", is_flag=True, help="Its outcomes in all segments, and whether its body had changed.")
@click.option("--body", is_flag=True, help="Its latest body, the content coding undone.")
@click.option("--open", "file", metavar="FILE", type=click.Path(path_type=Path), help="Write that body into FILE.")
def url(job: str, url: str, history: bool, body: bool, file: Path | None) -> None:
    """Print what the crawldb knows of a URL and its host, as JSON.

    With --history a line for each segment that the URL was handed to, then a strip: N a new body, = the same one, x no
    page, . no conclusive answer. It reads the fetch lists of all segments.

    \b
    Reads:   crawldb; with an option, files of the segments
    Writes:  nothing, or FILE
    Example: batchcrawl url mysite https://www.example.org/ --history
    Exit codes: 0 done, 1 not known, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        if history:
            echo_lines(_history(crawl, _located(crawl, url)))
            return
        if body or file is not None:
            _give_body(crawl, _located(crawl, url), file)
            return
        located = _located(crawl, url)
        known = known_url(crawl, located)
        if known is None:
            click.echo(f"batchcrawl: {located.canonical} is not known to this crawl", err=True)
            sys.exit(int(ExitCode.FAILED))
        record, host = known
        _echo_pretty({"fp": located.fingerprint.hex(), "record": record_row(record), "host": host})


@click.command("dump")
@job_argument
@click.option("--duplicates", is_flag=True, help="Also pages whose text is known under another URL.")
def dump_command(job: str, duplicates: bool) -> None:
    """Print the whole crawldb as JSON lines, URLs and hosts; of a segment's directory, its URLs and pages.

    Duplicates are left out unless asked for. Where JOB is the directory of a segment, its crawl need not be there.

    \b
    Reads:   crawldb, or files of the segment
    Writes:  nothing
    Example: batchcrawl dump mysite | jq -r 'select(.status=="gone").url'
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    if is_segment(Path(job)):
        for seen in all_seen(segment_at(Path(job))):
            _echo_json(seen)
        return
    with seen_crawl(job) as crawl:
        for row in dump(crawl, duplicates=duplicates):
            _echo_json(row)


def _history(crawl: Crawl, located: Located) -> Iterator[str]:
    """Yield a line for each segment that a URL was handed to, then the strip of what it brought."""
    strip, digest = "", None
    for segment, line in stays(crawl, located):
        if line is None:
            yield f"{segment.id}  no outcome yet"
            continue
        mark = _mark(line, digest)
        strip += mark
        digest = line.digest if mark in "N=" else None if mark == "x" else digest
        at = "" if line.ended_at is None else instant(line.ended_at)
        told = [
            line.outcome.value,
            *([] if line.status is None else [str(line.status)]),
            line.detail or line.redirect or "",
        ]
        yield f"{segment.id}  {at}  {mark}  {' '.join(told).rstrip()}"
    if not strip:
        raise UsageError(f"no segment has had {located.canonical}")
    yield strip


def _mark(line: FetchLogLine, last_digest: str | None) -> str:
    if line.outcome is FetchOutcome.NOT_MODIFIED or line.revisit is not None:
        return "="
    if line.outcome is FetchOutcome.FETCHED:
        return "=" if line.digest == last_digest and last_digest is not None else "N"
    gone = {FetchOutcome.NOT_FOUND, FetchOutcome.GONE, FetchOutcome.REDIRECT, FetchOutcome.DENIED}
    return "x" if line.outcome in gone else "."


def _give_body(crawl: Crawl, located: Located, file: Path | None) -> None:
    """Print the latest body of a URL, or write it into a file."""
    known = known_url(crawl, located)
    if known is None or known[0].segment is None:
        raise UsageError(f"no body is stored of {located.canonical}")
    stored = open_segment(crawl.layout, known[0].segment)
    data = body(stored, outcome_of(stored, located), bytes_max=crawl.job.settings.parse.decoded_bytes_max)
    if file is None:
        click.echo(data, nl=False)
    else:
        with WholeFile(Disk(), file, compress=False) as out:
            out.write(data)
            out.finish()


def _lines(opened: Segment, looks: Looks) -> Iterable[msgspec.Struct]:
    if looks["rejected"]:
        return rejections(opened)
    return fetch_list(opened) if looks["fetch_list"] else outcomes(opened)


def _newest(crawl: Crawl) -> str:
    ids = crawl.layout.segment_ids()
    if not ids:
        raise UsageError(f"there is no segment yet; run 'batchcrawl generate {crawl.job.argument}'")
    return ids[-1]


def _echo_of_url(crawl: Crawl, opened: Segment, looks: Looks) -> None:
    if looks["page"] is not None:
        _echo_page(crawl, opened, _located(crawl, looks["page"]))
    elif looks["links"] is not None:
        located = _located(crawl, looks["links"])
        for link in links_of(body_of(crawl, opened, outcome_of(opened, located)).segment, located):
            _echo_json(link)
    elif looks["headers"] is not None:
        _echo_headers(opened, _located(crawl, looks["headers"]))
    elif looks["body"] is not None:
        stored = body_of(crawl, opened, outcome_of(opened, _located(crawl, looks["body"])))
        bytes_max = crawl.job.settings.parse.decoded_bytes_max
        click.echo(body(stored.segment, stored.line, bytes_max=bytes_max), nl=False)


def _located(crawl: Crawl, url: str) -> Located:
    return locate(crawl, asked_url(url))


def _echo_segment(opened: Segment) -> None:
    manifest = opened.manifest
    bytes_on_disk = sum(file.bytes for file in manifest.files.values())
    held = f"{manifest.urls:,} URLs on {manifest.hosts:,} hosts"
    size = f"{bytes_on_disk / 1e6:,.1f} MB in {len(manifest.files):,} files"
    echo_lines([f"segment {opened.id}: {held}, {size}"])
    for step in STEPS:
        if step in manifest.steps and step != "generated":
            echo_step(step, opened, manifest.steps[step])
    echo_lines(_rejected(rejections(opened)))
    waiting = opened.next_step()
    if waiting is not None:
        click.echo(f"next: {COMMANDS[waiting]}")


def _rejected(counts: list[RejectionLine]) -> Iterator[str]:
    """Yield a line for each reason for which links were not taken, with the hosts that most of them led to."""
    if counts:
        yield "links not taken, and most of them by host:"
    for reason, lines in groupby(counts, key=attrgetter("reason")):
        of_reason = list(lines)
        hosts = [f"{line.host} {line.links:,}" for line in of_reason if line.host is not None]
        more = len(of_reason) > HOSTS_SHOWN
        shown = ", ".join(hosts[:HOSTS_SHOWN]) + (", ..." if more else "")
        yield f"  {reason:<22} {sum(line.links for line in of_reason):>14,}   {shown}"


def _echo_page(crawl: Crawl, opened: Segment, located: Located) -> None:
    outcome = outcome_of(opened, located)
    try:
        page = page_of(body_of(crawl, opened, outcome).segment, located)
    except UsageError:
        page = None  # the outcome is here, and says where the rest was
    _echo_pretty({"outcome": outcome, "page": page})


def _echo_headers(opened: Segment, located: Located) -> None:
    response = stored_response(opened, outcome_of(opened, located))
    echo_lines([f"{response.status} {response.reason}", *(f"{name}: {value}" for name, value in response.headers)])


def _echo_json(row: Any) -> None:
    click.echo(msgspec.json.encode(row))


def _echo_pretty(row: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(row), indent=2))
