"""One block at the end of every step: what was done, in words and numbers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from batchcrawl.cli.lines import echo_lines
from batchcrawl.job.units import about
from batchcrawl.policy.value import LEVEL_MIN, level_value
from batchcrawl.store.segment import COMMANDS, Segment, StepInfo

if TYPE_CHECKING:  # the steps are loaded by the commands that run them
    from batchcrawl.generate import Plan
    from batchcrawl.inject import InjectSummary


def echo_inject(summary: "InjectSummary") -> None:
    """Say what became of the seeds."""
    rejected = sum(summary.rejected.values())
    known = f"{summary.changed:,} changed, {summary.known:,} known"
    echo_lines([f"inject: {summary.added:,} new, {known}, {rejected:,} rejected"])
    echo_lines(f"  {reason:<22} {times:>10,}" for reason, times in sorted(summary.rejected.items()))


def echo_plan(plan: "Plan", *, threads: int) -> None:
    """Say what the segment holds and how long it will take."""
    if plan.resumed:
        click.echo(f"generate: segment {plan.segment} was being made; its {plan.urls:,} leases are finished")
    else:
        echo_lines(_planned(plan, threads))


def _planned(plan: "Plan", threads: int) -> Iterator[str]:
    name = f"segment {plan.segment}" if plan.segment is not None else "would make a segment"
    yield f"generate: {name} of {plan.urls:,} URLs on {plan.hosts:,} hosts"
    fresh = {level: urls for level, urls in plan.levels.items() if level < LEVEL_MIN}
    known = {level: urls for level, urls in plan.levels.items() if level >= LEVEL_MIN}
    if fresh:
        yield f"  {'new, by level':<22} " + ", ".join(f"{level}: {urls:,}" for level, urls in fresh.items())
    if known:
        least = f", worth {level_value(min(known)):.3g} weighted days at least"
        yield f"  {'refetches':<22} {sum(known.values()):,}{least}"
    if plan.longest_s > 0:
        yield f"  {'longest host':<22} {plan.longest_host} ({about(plan.longest_s)})"
    yield f"  {'at least':<22} {about(plan.predicted_s(threads=threads))} by {threads} threads"


def echo_step(step: str, segment: Segment, info: StepInfo) -> None:
    """Say what a finished step counted."""
    why = f", ended by its {info.reason}" if info.reason else ""
    click.echo(f"{COMMANDS[step]}: segment {segment.id}{why}")
    for name, number in info.counts.items():
        click.echo(f"  {name:<22} {number:>14,}")
    if info.counts.get("names_asked"):
        rate = info.counts.get("names_cached", 0) / info.counts["names_asked"]
        click.echo(f"  {'names from the cache':<22} {rate:>14.1%}")
