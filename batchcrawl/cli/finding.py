"""The commands that look into the directory of a segment, wherever it lies."""

import sys
from pathlib import Path

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import json_option
from batchcrawl.errors import ExitCode, UsageError
from batchcrawl.find import PLACES, Seen, find_links, find_url, find_words, segment_at
from batchcrawl.show import body, stored_response
from batchcrawl.store.segment import Segment

DECODED_BYTES_MAX = 50_000_000
"""Of a body, as the default of parse.decoded_bytes_max; there is no job to ask."""
SHOWN_CHARACTERS_MAX = 300

segment_argument = click.argument("path", metavar="SEGMENT", type=click.Path(path_type=Path))


@click.command("get")
@segment_argument
@click.argument("url", metavar="URL")
@click.option("--body", "what", flag_value="body", help="Its body, the content coding undone.")
@click.option("--headers", "what", flag_value="headers", help="Its status and headers.")
@click.option("--text", "what", flag_value="text", help="The text that parse found.")
@click.option("--links", "what", flag_value="links", help="The links taken from it as JSON lines.")
def get_command(path: Path, url: str, what: str | None) -> None:
    """Print what a segment has of a URL, as JSON; it needs no crawl, only the directory SEGMENT.

    \b
    Reads:   files of the segment
    Writes:  nothing
    Example: batchcrawl get data/mysite/segments/20261130T101500Z https://www.example.org/ --text
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    segment = segment_at(path)
    seen = find_url(segment, url)
    if what is None:
        click.echo(msgspec.json.format(msgspec.json.encode(seen), indent=2))
    elif what == "links":
        for link in find_links(segment, seen):
            click.echo(msgspec.json.encode(link))
    elif what == "text":
        echo_lines(_page_text(seen).splitlines())
    else:
        _echo_stored(segment, seen, what)


@click.command("grep")
@segment_argument
@click.argument("pattern", metavar="PATTERN")
@click.option("--in", "places", type=click.Choice(PLACES), multiple=True, help="Only there; may be given again.")
@json_option
def grep_command(path: Path, pattern: str, places: tuple[str, ...], as_json: bool) -> None:
    """Search the URLs, titles, descriptions and texts of a segment; it needs no crawl, only the directory SEGMENT.

    PATTERN is a regular expression; (?i) at its beginning lets case count for nothing.

    \b
    Reads:   files of the segment
    Writes:  nothing
    Example: batchcrawl grep data/mysite/segments/20261130T101500Z '(?i)crawl'
    Exit codes: 0 found, 1 not found, 2 wrong usage, 6 corrupt data
    """
    found = False
    for hit in find_words(segment_at(path), pattern, places=places or PLACES):
        found = True
        if as_json:
            click.echo(msgspec.json.encode(hit))
        else:
            echo_lines([f"{hit.url} {hit.place}: {hit.line[:SHOWN_CHARACTERS_MAX]}"])
    if not found:
        sys.exit(int(ExitCode.FAILED))


def _page_text(seen: Seen) -> str:
    if seen.page is None or seen.page.text is None:
        raise UsageError(f"there is no text of {seen.outcome.url}: {seen.outcome.outcome.value}")
    return seen.page.text


def _echo_stored(segment: Segment, seen: Seen, what: str) -> None:
    line = seen.outcome
    if what == "headers":
        response = stored_response(segment, line)
        echo_lines([f"{response.status} {response.reason}", *(f"{name}: {value}" for name, value in response.headers)])
        return
    if line.revisit is not None:
        raise UsageError(f"{line.url} was found unchanged: its body is in segment {line.body_segment}")
    click.echo(body(segment, line, bytes_max=DECODED_BYTES_MAX), nl=False)
