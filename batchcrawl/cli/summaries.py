"""One block at the end of every step: what was done, in words and numbers."""

import sys

import click

from batchcrawl.generate import Plan
from batchcrawl.inject import InjectSummary
from batchcrawl.store.segment import Segment, StepInfo

_VERBS = {"generated": "generate", "fetched": "fetch", "parsed": "parse", "updated": "update"}


def echo_inject(summary: InjectSummary) -> None:
    """Say what became of the seeds."""
    rejected = sum(summary.rejected.values())
    click.echo(
        f"inject: {summary.added:,} new, {summary.changed:,} changed, {summary.known:,} known, {rejected:,} rejected"
    )
    for reason, times in sorted(summary.rejected.items()):
        click.echo(f"  {reason:<22} {times:>10,}")


def echo_plan(plan: Plan, *, threads: int) -> None:
    """Say what the segment holds and how long it will take."""
    if plan.resumed:
        click.echo(f"generate: segment {plan.segment} was being made; its {plan.urls:,} leases are finished")
        return
    name = f"segment {plan.segment}" if plan.segment is not None else "would make a segment"
    click.echo(f"generate: {name} of {plan.urls:,} URLs on {plan.hosts:,} hosts")
    click.echo(f"  {'levels':<22} " + ", ".join(f"{level}: {urls:,}" for level, urls in plan.levels.items()))
    if plan.longest_s > 0:
        click.echo(f"  {'longest host':<22} {plan.longest_host} ({duration(plan.longest_s)})")
    click.echo(f"  {'at least':<22} {duration(plan.predicted_s(threads=threads))} by {threads} threads")


def echo_step(step: str, segment: Segment, info: StepInfo) -> None:
    """Say what a finished step counted."""
    why = f", ended by its {info.reason}" if info.reason else ""
    click.echo(f"{_VERBS[step]}: segment {segment.id}{why}")
    for name, number in info.counts.items():
        click.echo(f"  {name:<22} {number:>14,}")


def echo_nothing(text: str) -> None:
    """Say that there was nothing to do."""
    click.echo(text)
    sys.stdout.flush()


def duration(seconds: float) -> str:
    """Return a time as people say it: `45 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
