"""The commands that take URLs out of the crawldb."""

import sys
from collections.abc import Iterable
from typing import TypedDict, Unpack

import click

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, quiet_option
from batchcrawl.cli.running import command_clock, held_crawl, seen_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.errors import ExitCode, UsageError
from batchcrawl.job.condition_text import WORDS, parse_condition
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.seeds import Seed, parse_seed_lines
from batchcrawl.job.units import DURATION_FORM, parse_duration
from batchcrawl.policy.conditions import Compare, Comparison, Condition, Every, Not, Some, fields_of
from batchcrawl.purge import Found, Wanted, finish_purge, preview, purge
from batchcrawl.store.disk import Disk


class PurgeOptions(TypedDict):
    """What is to go, as click hands it over."""

    status: tuple[str, ...]
    older: str | None
    only: tuple[str, ...]
    out_of_scope: bool


@click.command("purge")
@job_argument
@click.option("--status", multiple=True, type=click.Choice(WORDS["status"]), help="With that status, or another given.")
@click.option("--older", metavar="TIME", help="Neither found nor fetched for so long, as 180d; gone pages stay.")
@click.option(
    "--only", multiple=True, metavar="CONDITION", help="For which it holds; see 'batchcrawl generate --help'."
)
@click.option("--out-of-scope", is_flag=True, help="Which the rules of the job would not take any more.")
@click.option("--dry-run", is_flag=True, help="Print how many would go, and some of them; change nothing.")
@quiet_option
def purge_command(job: str, dry_run: bool, quiet: bool, **asked: Unpack[PurgeOptions]) -> None:
    """Take URLs out of the crawldb: by status, age, scope or any condition.

    What is asked for must hold together. Seeds stay, and URLs that a segment has. Gone pages stay, so that no link
    finds them anew, unless their status or what is out of scope is asked for. Without options, a purge that was cut is
    ended. Segments keep what they have.

    \b
    Reads:   crawldb
    Writes:  crawldb
    Example: batchcrawl purge mysite --out-of-scope --dry-run
    Exit codes: 0 done, 1 failed, 2 wrong usage or order, 3 disk full, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    now = command_clock().now()
    wanted = _wanted(asked, now=now)
    if dry_run:
        if wanted is None:
            raise UsageError("say what would go: --status, --older, --only or --out-of-scope")
        with seen_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
            _echo_found("would take out", preview(crawl, wanted, control=controls.of("purge")), examples=True)
        return
    with held_crawl(job, purging=True) as crawl, stoppable(quiet=quiet) as controls:
        ended = finish_purge(crawl, disk=Disk(), control=controls.of("purge"))
        _echo_ended(ended, quiet=quiet)
        if wanted is None and ended is None:
            raise UsageError("say what is to go: --status, --older, --only or --out-of-scope; --dry-run shows it")
        if wanted is not None:
            found = purge(crawl, wanted, now=now, disk=Disk(), control=controls.of("purge"))
            if not quiet:
                _echo_found("took out", found, examples=False)


@click.command()
@job_argument
@click.argument("urls", nargs=-1, required=True, metavar="URL...|-")
@quiet_option
def delete(job: str, urls: tuple[str, ...], quiet: bool) -> None:
    """Take URLs out of the crawldb by their names.

    Seeds, too; a link or inject brings a URL back that the rules of the job let in. URLs that a segment has stay.

    \b
    Reads:   the URLs given, or a URL a line on stdin (-)
    Writes:  crawldb
    Example: batchcrawl delete mysite https://www.example.org/old
    Exit codes: 0 done, 1 a segment has some of them (the others are out), 2 wrong usage or order, 3 disk full,
                5 crawl in use, 6 corrupt data, 11 interrupted
    """
    with held_crawl(job, purging=True) as crawl, stoppable(quiet=quiet) as controls:
        named = Wanted(named=tuple(_fingerprints(crawl, urls)))
        _echo_ended(finish_purge(crawl, disk=Disk(), control=controls.of("purge")), quiet=quiet)
        found = purge(crawl, named, now=command_clock().now(), disk=Disk(), control=controls.of("delete"))
    if not quiet:
        _echo_found("took out", found, examples=False, command="delete")
    if found.leased:
        click.echo(
            f"batchcrawl: {found.leased:,} of the URLs stay: a segment has them; update or drop it first", err=True
        )
        sys.exit(int(ExitCode.FAILED))


def _wanted(asked: PurgeOptions, *, now: float) -> Wanted | None:
    """Return what is to go, or None where nothing is asked for."""
    every: list[Condition] = [parse_condition(text, now=now) for text in asked["only"]]
    if asked["status"]:
        every.append(Some(tuple(Compare("status", Comparison.EQUAL, name) for name in asked["status"])))
    names_status = any("status" in fields_of(condition) for condition in every)
    if asked["older"] is not None:
        age_s = parse_duration(asked["older"])
        if age_s is None:
            raise UsageError(f"--older {asked['older']!r} is not allowed; allowed: {DURATION_FORM}")
        every.append(Compare("first_seen_at", Comparison.BELOW, now - age_s))
        every.append(Not(Compare("last_fetch_at", Comparison.AT_LEAST, now - age_s)))
    if not every and not asked["out_of_scope"]:
        return None
    return Wanted(
        only=Every(tuple(every)) if every else None,
        out_of_scope=asked["out_of_scope"],
        keep_gone=not (names_status or asked["out_of_scope"]),
    )


def _fingerprints(crawl: Crawl, urls: tuple[str, ...]) -> Iterable[bytes]:
    fingerprinter = crawl.fingerprinter()
    for text in urls:
        lines = sys.stdin.buffer if text == "-" else [text.encode()]
        for line in parse_seed_lines(lines, "stdin" if text == "-" else "argument"):
            if not isinstance(line, Seed):
                raise UsageError(f"{line}; nothing is deleted")
            yield fingerprinter.of(crawl.canonical(line.url))


def _echo_ended(urls: int | None, *, quiet: bool) -> None:
    if urls is not None and not quiet:
        click.echo(f"purge: the one that was cut is ended; it took out {urls:,} URLs")


def _echo_found(did: str, found: Found, *, examples: bool, command: str = "purge") -> None:
    click.echo(f"{command}: {did} {found.urls:,} URLs")
    counted = [*sorted(found.statuses.items()), *sorted(found.reasons.items())]
    more = [("unknown", found.unknown), ("out in a segment", found.leased)]
    for name, urls in [*counted, *((name, urls) for name, urls in more if urls)]:
        click.echo(f"  {name:<22} {urls:>14,}")
    echo_lines(f"  {url}" for url in (found.examples if examples else ()))
