"""The commands that run the steps of a crawl, in the order of the flow."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import click
import msgspec

from batchcrawl.cli.options import job_argument, log_format_option, metrics_option, quiet_option, segment_option
from batchcrawl.cli.progress import log_json
from batchcrawl.cli.running import asked_instant, command_clock, held_crawl
from batchcrawl.cli.stopping import stoppable
from batchcrawl.cli.summaries import echo_plan, echo_step
from batchcrawl.engine.control import Control
from batchcrawl.errors import NothingDue, TimeLimitReached, UsageError
from batchcrawl.generate import Choice, Plan
from batchcrawl.generate import generate as generate_step
from batchcrawl.job.condition_text import parse_condition
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.policy.conditions import Compare, Comparison, Condition, Every
from batchcrawl.round import Steps, run_overlapped, run_round, run_step, wait_for_due
from batchcrawl.store.disk import Disk
from batchcrawl.store.metrics import write_metrics
from batchcrawl.store.segment import COMMANDS, Segment, StepInfo, newest_needing, open_segment, require_turn

COUNT = click.IntRange(min=1)


class GenerateOptions(TypedDict):
    """What a segment is to hold, as click hands it over."""

    top: int | None
    max_per_host: int | None
    max_per_domain: int | None
    hosts_per_domain: int | None
    min_score: float | None
    only: tuple[str, ...]
    at: str | None


class SaidOptions(TypedDict):
    """The options of what a step tells, as click hands them over."""

    quiet: bool
    metrics: Path | None
    log_format: str


@dataclass(frozen=True)
class Saying:
    """What a step tells, and where."""

    quiet: bool
    as_json: bool
    metrics: Path | None

    @classmethod
    def of(cls, said: SaidOptions) -> "Saying":
        """Return it by the options of a command."""
        return cls(said["quiet"], said["log_format"] == "json" and not said["quiet"], said["metrics"])

    @property
    def silent(self) -> bool:
        """Nothing is to be printed for people."""
        return self.quiet or self.as_json


@click.command()
@job_argument
@click.option("--top", type=COUNT, metavar="N", help="At most N URLs; default: generate.urls_max.")
@click.option("--max-per-host", type=COUNT, metavar="N", help="At most N of a host; default: generate.host_urls_max.")
@click.option("--max-per-domain", type=COUNT, metavar="N", help="At most N of a registered domain.")
@click.option("--hosts-per-domain", type=COUNT, metavar="N", help="At most N hosts of a registered domain.")
@click.option("--min-score", type=click.FloatRange(min=0), metavar="N", help="Only URLs of that score: seeds.")
@click.option("--only", multiple=True, metavar="CONDITION", help="Only URLs for which it holds, as 'depth <= 2'.")
@click.option("--at", metavar="TIME", help="Take what is due then, as 2026-12-24, 2026-12-24T18:00Z or +7d.")
@click.option("--segments", "count", type=COUNT, default=1, metavar="N", help="Make up to N, which share no URL.")
@click.option("--dry-run", is_flag=True, help="Print the plan and change nothing.")
@quiet_option
def generate(job: str, count: int, dry_run: bool, quiet: bool, **given: Unpack[GenerateOptions]) -> None:
    """Make a segment of the best URLs that may be taken now.

    CONDITION compares fields of a URL's record: "status = unfetched and (depth <= 2 or domain = example.org)". Signs
    are = != < <= > >= and, of a text, ~ for "contains"; times are dates, or from now as -90d. More than one: all hold.

    \b
    Reads:   crawldb
    Writes:  segments/ID with fetch list and host sheet, leases in the crawldb
    Example: batchcrawl generate mysite --top 1000 --max-per-domain 100
    Exit codes: 0 done, 2 wrong usage, 3 disk full, 4 nothing due, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    with held_crawl(job) as crawl, stoppable(quiet=quiet) as controls:
        clock = command_clock()
        choice = _choice(given, now=clock.now())
        if dry_run and count > 1:
            raise UsageError("--dry-run plans one segment; leave out --segments")
        for number in range(count):
            try:
                plan = generate_step(
                    crawl,
                    wanted=_wanted(
                        crawl,
                        top=given["top"],
                        max_per_host=given["max_per_host"],
                        max_per_domain=given["max_per_domain"],
                        hosts_per_domain=given["hosts_per_domain"],
                    ),
                    choice=choice,
                    dry_run=dry_run,
                    disk=Disk(),
                    clock=clock,
                    control=controls.of("generate"),
                )
            except NothingDue:
                if number == 0:
                    raise
                return
            if not quiet:
                echo_plan(plan, threads=crawl.job.settings.fetch.threads)


def _choice(given: GenerateOptions, *, now: float) -> Choice:
    at = None if given["at"] is None else asked_instant(given["at"], now=now)
    only: list[Condition] = [parse_condition(text, now=now) for text in given["only"]]
    if given["min_score"] is not None:
        only.append(Compare("score", Comparison.AT_LEAST, given["min_score"]))
    return Choice(at=at, only=Every(tuple(only)) if only else None)


def _wanted(
    crawl: Crawl,
    *,
    top: int | None,
    max_per_host: int | None = None,
    max_per_domain: int | None = None,
    hosts_per_domain: int | None = None,
) -> GenerateSettings:
    """Return what the job says of a segment, but for what the command line says."""
    said = {
        "urls_max": top,
        "host_urls_max": max_per_host,
        "domain_urls_max": max_per_domain,
        "domain_hosts_max": hosts_per_domain,
    }
    given = {name: number for name, number in said.items() if number is not None}
    return msgspec.structs.replace(crawl.job.settings.generate, **given)


@click.command()
@job_argument
@segment_option
@metrics_option
@log_format_option
@quiet_option
def fetch(job: str, segment_id: str | None, **said: Unpack[SaidOptions]) -> None:
    """Fetch the URLs of a segment; an interrupted fetch goes on.

    \b
    Reads:   fetch list, host sheet, the network
    Writes:  WARC files, fetch log, host log
    Example: batchcrawl fetch mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage or order, 3 disk full, 5 crawl in use, 6 corrupt data,
                11 interrupted, 15 time limit
    """
    info = _step(job, segment_id, "fetched", Saying.of(said))
    if info is not None and info.reason is not None:
        raise TimeLimitReached(f"fetch: {info.reason} reached; update gives the rest back to the crawldb")


@click.command()
@job_argument
@segment_option
@click.option("--trace", is_flag=True, help="List each link that is not taken, with the rule, in the segment.")
@metrics_option
@log_format_option
@quiet_option
def parse(job: str, segment_id: str | None, trace: bool, **said: Unpack[SaidOptions]) -> None:
    """Turn the pages of a segment into text, signatures and links.

    A parse that goes on with --trace lists no links of what was parsed without it.

    \b
    Reads:   fetch log, WARC files
    Writes:  pages and links of the segment
    Example: batchcrawl parse mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage or order, 3 disk full, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    _step(job, segment_id, "parsed", Saying.of(said), listing=trace)


@click.command()
@job_argument
@segment_option
@metrics_option
@log_format_option
@quiet_option
def update(job: str, segment_id: str | None, **said: Unpack[SaidOptions]) -> None:
    """Bring what a segment saw into the crawldb.

    \b
    Reads:   fetch log, host log, pages, links
    Writes:  crawldb
    Example: batchcrawl update mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage or order, 3 disk full, 5 crawl in use, 6 corrupt data, 11 interrupted
    """
    _step(job, segment_id, "updated", Saying.of(said))


@click.command("round")
@job_argument
@click.option("--top", type=COUNT, metavar="N", help="At most N URLs; default: generate.urls_max.")
@metrics_option
@log_format_option
@quiet_option
def round_(job: str, top: int | None, **said: Unpack[SaidOptions]) -> None:
    """Run one round: finish the segment under way, or make one and finish it.

    \b
    Reads and writes: as generate, fetch, parse and update do
    Example: batchcrawl round mysite
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 4 nothing due, 5 crawl in use, 6 corrupt data,
                11 interrupted
    """
    saying = Saying.of(said)
    with held_crawl(job) as crawl, stoppable(quiet=saying.quiet, as_json=saying.as_json) as controls:
        run_round(_steps(crawl, controls.of, saying), wanted=_wanted(crawl, top=top))


@click.command()
@job_argument
@click.option("--rounds", type=COUNT, metavar="N", help="So many rounds; default: 1.")
@click.option("--until-done", is_flag=True, help="Rounds until nothing is due, nor soon.")
@click.option("--top", type=COUNT, metavar="N", help="At most N URLs a round.")
@click.option("--overlap", is_flag=True, help="Fetch a segment while others are parsed, brought in and made.")
@metrics_option
@log_format_option
@quiet_option
def crawl(
    job: str, rounds: int | None, until_done: bool, top: int | None, overlap: bool, **said: Unpack[SaidOptions]
) -> None:
    """Run rounds one after the other; an interrupted crawl goes on.

    With --overlap the network is busy all the time: what a fetch finds is taken into account one segment later.

    \b
    Reads and writes: as generate, fetch, parse and update do
    Example: batchcrawl crawl mysite --until-done
    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 4 nothing due, 5 crawl in use, 6 corrupt data,
                11 interrupted
    """
    saying = Saying.of(said)
    with held_crawl(job) as opened, stoppable(quiet=saying.quiet, as_json=saying.as_json) as controls:
        steps = _steps(opened, controls.of, saying)
        done, wanted = 0, None if until_done and rounds is None else rounds or 1
        while wanted is None or done < wanted:
            left = None if wanted is None else wanted - done
            try:
                done += _run(steps, _wanted(opened, top=top), rounds_max=left, overlap=overlap)
            except NothingDue as error:
                if until_done and wait_for_due(steps, error):
                    continue
                if done == 0:
                    raise
                _echo_rounds(done, f"; {error}", quiet=saying.silent)
                return
        _echo_rounds(done, quiet=saying.silent)


def _run(steps: Steps, wanted: GenerateSettings, *, rounds_max: int | None, overlap: bool) -> int:
    """Run a round, or as many as there are where they overlap; return how many."""
    if overlap:
        return run_overlapped(steps, wanted=wanted, rounds_max=rounds_max)
    run_round(steps, wanted=wanted)
    return 1


def _echo_rounds(done: int, why: str = "", *, quiet: bool) -> None:
    if not quiet:
        click.echo(f"crawl: {done} {'round' if done == 1 else 'rounds'}{why}")


def _steps(opened: Crawl, control_of: Callable[[str], Control], saying: Saying) -> Steps:
    disk = Disk()

    def on_plan(plan: Plan) -> None:
        if not saying.silent:
            echo_plan(plan, threads=opened.job.settings.fetch.threads)

    def on_end(step: str, segment: Segment, info: StepInfo) -> None:
        if saying.metrics is not None:
            write_metrics(disk, saying.metrics, segment)
        if saying.as_json:
            log_json(COMMANDS[step], segment=segment.id, ended=info.reason or "all done", counts=info.counts)
        elif not saying.quiet:
            echo_step(step, segment, info)

    return Steps(opened, disk, command_clock(), control_of, on_plan, on_end)


def _step(job: str, segment_id: str | None, step: str, saying: Saying, *, listing: bool = False) -> StepInfo | None:
    """Run one step on a segment; say so when there is nothing to do."""
    with held_crawl(job) as opened, stoppable(quiet=saying.quiet, as_json=saying.as_json) as controls:
        segment = _segment(opened, segment_id, step)
        if segment is None or not require_turn(segment, step, job):
            if not saying.silent:
                what = "no segment needs it" if segment is None else f"segment {segment.id} is {step} already"
                click.echo(f"{COMMANDS[step]}: nothing to do; {what}")
            return None
        run_step(replace(_steps(opened, controls.of, saying), listing=listing), step, segment)
        return segment.manifest.steps[step]


def _segment(opened: Crawl, segment_id: str | None, step: str) -> Segment | None:
    """Return the named segment, or the newest that needs the step.

    Raises WrongOrder when no segment needs it but the newest needs a step before it.
    """
    if segment_id is not None:
        return open_segment(opened.layout, segment_id)
    segment = newest_needing(opened.layout, step)
    if segment is not None:
        return segment
    ids = opened.layout.segment_ids()
    return open_segment(opened.layout, ids[-1]) if ids else None
