"""The commands that look into a crawl and change nothing."""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, TypedDict, Unpack

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import asked_url, opened_crawl, seen_crawl
from batchcrawl.cli.summaries import echo_step
from batchcrawl.errors import ExitCode, UsageError
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import RejectionLine
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
    stored_response,
)
from batchcrawl.store.portable import record_row
from batchcrawl.store.segment import COMMANDS, STEPS, Segment, open_segment

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
@click.argument("segment_id", metavar="ID")
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
def url(job: str, url: str) -> None:
    """Print what the crawldb knows of a URL and its host, as JSON.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl url mysite https://www.example.org/
    Exit codes: 0 done, 1 not known, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
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
    """Print the whole crawldb as JSON lines, URLs and hosts.

    Duplicates are left out unless asked for.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl dump mysite | jq -r 'select(.status=="gone").url'
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        for row in dump(crawl, duplicates=duplicates):
            _echo_json(row)


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
    click.echo(
        f"segment {opened.id}: {manifest.urls:,} URLs on {manifest.hosts:,} hosts, {bytes_on_disk / 1e6:,.1f} MB in "
        f"{len(manifest.files):,} files"
    )
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
