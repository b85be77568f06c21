"""The commands that look at hosts and their robots.txt."""

import sys
from itertools import chain

import click
import msgspec

from batchcrawl.cli.group import Group, Place
from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import asked_url, command_clock, seen_crawl
from batchcrawl.errors import ExitCode
from batchcrawl.job.units import about, instant
from batchcrawl.show import known_robots
from batchcrawl.standing import HostRow, host_rows


@click.command()
@job_argument
@json_option
def hosts(job: str, as_json: bool) -> None:
    """List the hosts of a crawl: URLs due and waiting, delay and why, and until when a host is put off.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl hosts mysite
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        rows = host_rows(crawl, now=now)
        if as_json:
            for row in rows:
                click.echo(msgspec.json.encode(row))
            return
        head = f"{'known':>9} {'fetched':>9} {'due':>9} {'waiting':>9} {'delay':>8} {'answer':>8}  host, and why"
        echo_lines(chain([head], (_line(row, now) for row in rows)))


@click.group(
    cls=Group,
    places={
        "test": Place(
            "hosts",
            "robots_test",
            "Say whether a URL may be fetched, which line decides, and where the copy comes from.",
        )
    },
)
def robots() -> None:
    """Look at what robots.txt files say.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl robots test mysite https://www.example.org/private/
    Exit codes: 0 done, 2 wrong usage
    """


@click.command("test")
@job_argument
@click.argument("url", metavar="URL")
def robots_test(job: str, url: str) -> None:
    """Say whether a URL may be fetched, which line decides, and where the copy comes from.

    A URL that the crawl knows is judged as it was linked, which is how it is asked for.

    \b
    Reads:   the copy of robots.txt in the crawldb
    Writes:  nothing
    Example: batchcrawl robots test mysite https://www.example.org/private/
    Exit codes: 0 allowed, 1 not allowed or not known yet, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        found = known_robots(crawl, asked_url(url), now=now)
    if found is None:
        click.echo("not known: the host's robots.txt has not been fetched yet; the fetch step asks for it first")
        sys.exit(int(ExitCode.FAILED))
    age = about(max(0.0, now - found.copy.fetched_at))
    until = (
        "to be asked for anew before the next page" if found.is_old else f"good until {instant(found.copy.expires_at)}"
    )
    echo_lines(
        [
            f"{'allowed' if found.allowed else 'not allowed'} for {crawl.job.product_token}: {found.why}",
            found.url,
            f"{found.source}, fetched {age} ago, status {found.copy.status or 'none'}, {until}",
        ]
    )
    if not found.allowed:
        sys.exit(int(ExitCode.FAILED))


def _line(row: HostRow, now: float) -> str:
    delay = "" if row.delay_s is None else f"{row.delay_s:.1f} s" if row.delay_s < 1e6 else "for ever"
    answer = "" if row.response_s is None else f"{row.response_s:.2f} s"
    until = ""
    if row.put_off_until is not None:
        until = f", until {instant(row.put_off_until)}, in {about(row.put_off_until - now)}"
    return (
        f"{row.known:>9,} {row.fetched:>9,} {row.due:>9,} {row.waiting:>9,} {delay:>8} {answer:>8}  "
        f"{row.host}  {row.reason}{until}"
    )
