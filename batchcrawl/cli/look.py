"""The commands that look at a crawl and change nothing."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import msgspec

from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import command_clock, held_crawl, speaking
from batchcrawl.cli.summaries import duration, echo_step
from batchcrawl.compare import compare
from batchcrawl.errors import ExitCode
from batchcrawl.job.crawl import Crawl, open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.report import CrawlStatus, crawl_status, segment_rows
from batchcrawl.show import (
    Located,
    body,
    dump,
    fetch_list,
    known_url,
    links_of,
    locate,
    outcome_of,
    outcomes,
    page_of,
    record_row,
    stored_response,
)
from batchcrawl.store.segment import COMMANDS, STEPS, Segment, open_segment

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


@click.command()
@job_argument
@json_option
@speaking
def status(job: str, as_json: bool) -> None:
    """Say how a crawl stands.

    \b
    Reads:   crawldb, manifests of the segments
    Writes:  nothing
    Example: batchcrawl status docs
    Exit codes: 0 done, 2 wrong usage, 5 crawl in use
    """
    with held_crawl(job) as crawl:
        now = command_clock().now()
        found = crawl_status(crawl, now=now)
        if as_json:
            _echo_json(msgspec.to_builtins(found))
        else:
            _echo_status(crawl, found, now)


@click.command()
@job_argument
@json_option
@speaking
def segments(job: str, as_json: bool) -> None:
    """List the segments of a crawl, oldest first.

    \b
    Reads:   manifests of the segments
    Writes:  nothing
    Example: batchcrawl segments docs
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    rows = segment_rows(_opened(job))
    if as_json:
        for row in rows:
            _echo_json(row)
        return
    click.echo(f"{'segment':<17} {'state':<10} {'URLs':>9} {'hosts':>7} {'fetched':>9} {'new':>9} {'MB':>9}")
    for row in rows:
        click.echo(
            f"{row['id']:<17} {row['state']:<10} {row['urls']:>9,} {row['hosts']:>7,} {row['fetched']:>9,} "
            f"{row['new']:>9,} {row['body_bytes'] / 1e6:>9,.1f}"
        )


@click.command()
@job_argument
@click.argument("segment_id", metavar="ID")
@click.option("--fetch-list", "shown", flag_value="fetch-list", help="Its URLs as JSON lines.")
@click.option("--outcomes", "shown", flag_value="outcomes", help="Its fetch log as JSON lines.")
@click.option("--page", "page", metavar="URL", help="What was fetched and parsed of one URL, as JSON.")
@click.option("--body", "body_of", metavar="URL", help="The body of one URL, its content coding undone.")
@click.option("--headers", "headers_of", metavar="URL", help="The status and headers of one URL.")
@click.option("--links", "links_from", metavar="URL", help="The links taken from one URL as JSON lines.")
@speaking
def segment(
    job: str,
    segment_id: str,
    shown: str | None,
    page: str | None,
    body_of: str | None,
    headers_of: str | None,
    links_from: str | None,
) -> None:
    """Look into a segment; ID may be `newest`.

    \b
    Reads:   files of the segment
    Writes:  nothing
    Example: batchcrawl segment docs newest --outcomes
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    crawl = _opened(job)
    ids = crawl.layout.segment_ids()
    opened = open_segment(crawl.layout, ids[-1] if segment_id == "newest" and ids else segment_id)
    if shown is not None:
        for line in fetch_list(opened) if shown == "fetch-list" else outcomes(opened):
            _echo_json(line)
    elif page is not None:
        _echo_page(opened, locate(crawl, page))
    elif links_from is not None:
        for link in links_of(opened, locate(crawl, links_from)):
            _echo_json(link)
    elif headers_of is not None:
        _echo_headers(opened, locate(crawl, headers_of))
    elif body_of is not None:
        line = outcome_of(opened, locate(crawl, body_of))
        sys.stdout.buffer.write(body(opened, line, bytes_max=crawl.job.settings.parse.decoded_bytes_max))
    else:
        _echo_segment(opened)


@click.command()
@job_argument
@click.argument("url", metavar="URL")
@speaking
def url(job: str, url: str) -> None:
    """Print what the crawldb knows of a URL and its host, as JSON.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl url docs https://docs.example.org/
    Exit codes: 0 done, 1 not known, 2 wrong usage, 5 crawl in use
    """
    with held_crawl(job) as crawl:
        located = locate(crawl, url)
        known = known_url(crawl, located)
        if known is None:
            click.echo(f"batchcrawl: {located.canonical} is not known to this crawl", err=True)
            sys.exit(int(ExitCode.FAILED))
        record, host = known
        _echo_pretty({"fp": located.fingerprint.hex(), "record": record_row(record), "host": host})


@click.command("dump")
@job_argument
@speaking
def dump_command(job: str) -> None:
    """Print the whole crawldb as JSON lines: URLs, then hosts, of one partition after the other.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl dump docs | jq -r 'select(.status=="gone").url'
    Exit codes: 0 done, 2 wrong usage, 5 crawl in use
    """
    with held_crawl(job) as crawl:
        for row in dump(crawl):
            _echo_json(row)


@click.command("compare")
@job_argument
@click.argument("truth", type=click.Path(path_type=Path), metavar="TRUTH")
@speaking
def compare_command(job: str, truth: Path) -> None:
    """Compare a crawl of a synthetic web with its ground truth, as `fakeweb --truth` writes it.

    \b
    Reads:   crawldb, the file TRUTH
    Writes:  nothing
    Example: batchcrawl compare demo data/demo/truth.jsonl
    Exit codes: 0 equal, 1 different, 2 wrong usage, 5 crawl in use
    """
    with held_crawl(job) as crawl:
        found = compare(crawl, truth)
    click.echo(f"{'outcome':<22} {'expected':>10} {'agreeing':>10}")
    for name, urls in sorted(found.expected.items()):
        click.echo(f"{name:<22} {urls:>10,} {found.agreeing[name]:>10,}")
    click.echo(f"{'all':<22} {found.expected.total():>10,} {found.agreeing.total():>10,}")
    for line in found.differences:
        click.echo(line)
    click.echo(f"{found.different:,} differences")
    if found.different:
        sys.exit(int(ExitCode.FAILED))


def _opened(job: str) -> Crawl:
    return open_crawl(load_job(job, cwd=Path.cwd()))


def _echo_status(crawl: Crawl, found: CrawlStatus, now: float) -> None:
    click.echo(f"{crawl.job.name}: {found.known:,} URLs known on {found.hosts:,} hosts, {crawl.partitions} partitions")
    for name, urls in sorted(found.statuses.items()):
        click.echo(f"  {name:<22} {urls:>14,}")
    click.echo(f"  {'ready now':<22} {found.ready:>14,}")
    later = ""
    if found.next_due_at is not None:
        later = f"   the first in {duration(max(0.0, found.next_due_at - now))}"
    click.echo(f"  {'due later':<22} {found.timers:>14,}{later}")
    click.echo(f"  {'hosts put off':<22} {found.put_off_hosts:>14,}")
    click.echo(f"  {'requests':<22} {found.requests:>14,}   {found.body_bytes / 1e6:,.1f} MB of bodies")
    click.echo(f"  {'segments':<22} {found.segments:>14,}")
    for name, step in found.unfinished.items():
        click.echo(f"  segment {name} is next to {COMMANDS[step]}")


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
    waiting = opened.next_step()
    if waiting is not None:
        click.echo(f"next: {COMMANDS[waiting]}")


def _echo_page(opened: Segment, located: Located) -> None:
    _echo_pretty({"outcome": outcome_of(opened, located), "page": page_of(opened, located)})


def _echo_headers(opened: Segment, located: Located) -> None:
    response = stored_response(opened, outcome_of(opened, located))
    _echo_lines([f"{response.status} {response.reason}", *(f"{name}: {value}" for name, value in response.headers)])


def _echo_lines(lines: Iterable[str]) -> None:
    """Print lines that come from the web: control characters must not reach the terminal."""
    for line in lines:
        click.echo("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))


def _echo_json(row: Any) -> None:
    click.echo(msgspec.json.encode(row))


def _echo_pretty(row: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(row), indent=2))
