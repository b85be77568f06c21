"""The commands that try out what the rules of a job say of URLs, and what parse makes of a page."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click
import msgspec

from batchcrawl.cli.completing import complete_file
from batchcrawl.cli.group import Group, Place
from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import asked_url, command_clock, files_of
from batchcrawl.cli.seeding import lines_of
from batchcrawl.cli.stopping import stoppable
from batchcrawl.errors import ExitCode, UsageError
from batchcrawl.job.crawl import Crawl, UnbornCrawl, open_or_plan
from batchcrawl.job.load import load_job
from batchcrawl.judge import judge
from batchcrawl.model.entries import LinkLine
from batchcrawl.peek import Peeked, peek, peek_at_body
from batchcrawl.show import locate
from batchcrawl.store.lock import CrawlLock
from batchcrawl.store.snapshot import snapshots


class PeekOptions(TypedDict):
    """The options of `parse test` as click hands them over."""

    url: str | None
    content_type: str | None
    as_json: bool


@click.group(
    cls=Group,
    places={"test": Place("trying", "scope_test", "Say of each URL of a list whether links to it are taken, and why.")},
)
def scope() -> None:
    """Try out the rules of a job.

    \b
    Reads:   a list of URLs
    Writes:  nothing
    Example: batchcrawl scope test mysite urls.txt
    Exit codes: 0 done, 2 wrong usage
    """


@click.command("test")
@job_argument
@click.argument("sources", nargs=-1, required=True, metavar="FILE|-|URL...", shell_complete=complete_file)
@click.option("--depth", type=click.IntRange(min=0), default=0, metavar="N", help="Links to a seed; default: 0.")
@click.option("--hops", type=click.IntRange(min=0), metavar="N", help="Of URLs on other hosts; default: 1.")
@json_option
def scope_test(job: str, sources: tuple[str, ...], depth: int, hops: int | None, as_json: bool) -> None:
    """Say of each URL of a list whether links to it are taken, and why.

    Prints a line for each: `taken` or the reason, the URL, and the rule with its file and line. Before the first inject
    the seeds' hosts are those of the job file. robots.txt and budgets are not asked; `explain` does that for one URL.

    \b
    Reads:   FILE (also gzipped), stdin (-) or the URLs given, one a line as seeds are
    Writes:  nothing
    Example: batchcrawl scope test mysite urls.txt
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    counts: Counter[str] = Counter()
    with _planned(job) as crawl:
        for told in judge(crawl, lines_of(crawl.job, sources), depth=depth, hops=hops):
            verdict = told.rejection or "taken"
            counts[verdict] += 1
            if as_json:
                click.echo(msgspec.json.encode(told))
            else:
                echo_lines([f"{verdict:<16} {told.url or '-'}  {told.place}: {told.rule}"])
    told_counts = ", ".join(f"{name} {times:,}" for name, times in counts.most_common())
    click.echo(f"scope test: {counts.total():,} URLs: {told_counts or 'none'}", err=True)


@click.command("parse test")
@job_argument
@click.argument("source", metavar="URL|FILE|-", shell_complete=complete_file)
@click.option("--url", metavar="URL", help="Of which URL FILE would be the answer.")
@click.option("--content-type", metavar="TYPE", help="Its Content-Type; default: none, so its bytes tell.")
@json_option
def parse_test(job: str, source: str, **given: Unpack[PeekOptions]) -> None:
    """Fetch or read one page, and print all that parse would write of it.

    A URL is asked for once, as fetch would: under robots.txt, the job's guards and the host's delay, which is kept in
    the end as well. A FILE is read as the answer to --url.

    \b
    Reads:   the network or FILE (- is stdin), crawldb
    Writes:  nothing
    Example: batchcrawl parse test mysite https://www.example.org/
    Exit codes: 0 done, 1 no page came, 2 wrong usage, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    is_url = "://" in source or not (source == "-" or Path(source).is_file())
    if is_url and (given["url"] or given["content_type"]):
        raise UsageError(f"--url and --content-type are for a FILE, and {source} is none")
    with _planned(job) as crawl, stoppable(quiet=True) as controls:
        control, clock = controls.of("parse test"), command_clock()
        with _held(crawl) if is_url else nullcontext():
            url = _url(source if is_url else given["url"])
            located = locate(crawl, url)
            if is_url:
                found = peek(crawl, located, url, clock=clock, control=control)
            else:
                body, type_ = _read(source, crawl.job.settings.fetch.body_bytes_max), given["content_type"]
                found = peek_at_body(crawl, located, url, body, content_type=type_, clock=clock, control=control)
            _echo(found, as_json=given["as_json"])
            if found.owed_s:  # who comes next does not know that the host was asked
                sys.stdout.flush()
                time.sleep(found.owed_s)
    if found.page is None or found.page.failed is not None:
        sys.exit(int(ExitCode.FAILED))


@contextmanager
def _planned(job: str) -> Iterator[Crawl]:
    """Open a crawl to look into it, or what inject would make of its job."""
    found = load_job(job, cwd=Path.cwd())
    crawl = open_or_plan(found)
    if isinstance(crawl, UnbornCrawl):
        yield crawl
        return
    with files_of(found.data_dir), snapshots(crawl.layout.crawldbs, range(crawl.partitions)) as folder:
        yield replace(crawl, layout=replace(crawl.layout, snapshot=folder))


@contextmanager
def _held(crawl: Crawl) -> Iterator[None]:
    """Keep steps away from the hosts: each gets one request at a time. A crawl that is not born has no steps."""
    if isinstance(crawl, UnbornCrawl):
        yield
        return
    with CrawlLock(crawl.layout.lock):
        yield


def _url(given: str | None) -> str:
    if given is None:
        raise UsageError("a FILE needs --url, which links are resolved against")
    return asked_url(given)


def _read(source: str, bytes_max: int) -> bytes:
    """Return a body, or one byte more than is taken of it."""
    if source != "-":
        with open(source, "rb") as file:
            return file.read(bytes_max + 1)
    if sys.stdin is None:
        raise UsageError("stdin is closed; pipe a page into it, or name a file")
    return sys.stdin.buffer.read(bytes_max + 1)


def _echo(found: Peeked, *, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {"outcome": found.line, "robots": found.robots, "page": found.page}
        told |= {"charset_evidence": found.charset_evidence, "links": _links(found), "rejected": found.links.listed}
        click.echo(msgspec.json.encode(told))
    else:
        echo_lines(_told(found))


def _links(found: Peeked) -> list[LinkLine]:
    return sorted((link for bucket in found.links.buckets for link in bucket), key=lambda link: link.position)


def _told(found: Peeked) -> Iterator[str]:
    line, page = found.line, found.page
    yield _row("url", line.url)
    yield _row("fingerprint", line.fp)
    if found.robots is not None:
        yield _row("robots.txt", found.robots)
    facts = [line.outcome.value, *([f"status {line.status}"] if line.status is not None else [])]
    facts += [f"{line.body_bytes:,} bytes"] if line.body_bytes is not None else []
    facts += [f"cut by {line.truncated}"] if line.truncated is not None else []
    if line.ended_at is not None and line.started_at is not None:
        facts.append(f"in {line.ended_at - line.started_at:.2f} s")
    yield _row("outcome", ", ".join([*facts, *filter(None, (line.redirect, line.detail))]))
    if page is None:
        return
    for name, text in _facts(found):
        if text:
            yield _row(name, text)
    yield from _links_told(found)
    if page.text:
        yield "text"
        yield from (f"  {part}" for part in page.text.splitlines())


def _facts(found: Peeked) -> Iterator[tuple[str, str | None]]:
    page = found.page
    if page is None:
        return
    charset = f"{page.charset}, by {found.charset_evidence}" if found.charset_evidence else page.charset
    yield from (("failed", page.failed), ("kind", page.kind.value), ("cut", page.cut))
    yield from (("content type", page.content_type), ("media type", page.media_type), ("charset", charset))
    yield from (("language", page.language), ("title", page.title), ("description", page.description))
    yield from (("canonical", page.canonical), ("robots", ", ".join(page.robots)))
    yield from (("words", f"{page.words:,}"), ("signature", page.signature), ("simhash", page.simhash))


def _links_told(found: Peeked) -> Iterator[str]:
    taken, rejected = _links(found), found.links.listed or []
    yield _row("links", f"{len(taken):,} taken, {sum(found.links.rejected.values()):,} not taken")
    for link in taken:
        rel = f", rel {' '.join(link.rel)}" if link.rel else ""
        anchor = f', "{link.anchor}"' if link.anchor else ""
        way = f"depth {link.depth}, hops {link.hops}" if link.hops else f"depth {link.depth}"
        yield f"  taken {link.url}"
        yield f"    {link.kind} {link.position}, {way}, {link.fp}{rel}{anchor}"
    for refused in rejected:
        yield f"  {refused.reason} {refused.url}"
        yield f"    {refused.place}: {refused.rule}"


def _row(name: str, text: str) -> str:
    return f"{name:<12} {text}"
