"""A round: generate, fetch, parse and update, one after the other, on one segment.

Reads and writes: what its steps do. Commits by: their stamps.
If killed: the same command goes on with the step that was cut.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from batchcrawl.engine.control import Control
from batchcrawl.errors import CrawlError, NothingDue
from batchcrawl.fetch import fetch
from batchcrawl.generate import Plan, generate
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.model.clock import Clock
from batchcrawl.parse import parse
from batchcrawl.store.disk import Disk
from batchcrawl.store.segment import Segment, StepInfo
from batchcrawl.update import update

SOON_S = 60.0
"""How long a crawl that is to go on to the end waits for hosts that are put off."""


@dataclass(frozen=True)
class Steps:
    """What every step of a round is given, and who hears of its beginning and end."""

    crawl: Crawl
    disk: Disk
    clock: Clock
    control_of: Callable[[str], Control]
    """Gives the control of a step by its command's name, once it begins."""
    on_plan: Callable[[Plan], None]
    on_end: Callable[[str, Segment, StepInfo], None]
    """Hears of a step that has ended, by its stamp's name."""
    listing: bool = False
    """Parse lists the links that it does not take."""


def run_round(steps: Steps, *, wanted: GenerateSettings | None = None) -> Segment:
    """Finish the oldest unfinished segment, or make a new one and finish it.

    Raises NothingDue when there is neither a segment nor a URL, Interrupted when asked to stop.
    """
    segment = oldest_unfinished(steps.crawl)
    if segment is None or segment.next_step() == "generated":
        steps.on_plan(
            generate(
                steps.crawl,
                wanted=wanted,
                dry_run=False,
                disk=steps.disk,
                clock=steps.clock,
                control=steps.control_of("generate"),
            )
        )
        segment = oldest_unfinished(steps.crawl)
    while segment is not None and (step := segment.next_step()) is not None:
        run_step(steps, step, segment)
    if segment is None:
        raise CrawlError("the segment that was just made is not there any more; was it deleted?")
    return segment


def wait_for_due(steps: Steps, error: NothingDue) -> bool:
    """Wait until the next URL is due, if that is soon: hosts were put off for a moment. Return whether it was.

    Raises Interrupted when asked to stop.
    """
    wait_s = None if error.due_at is None else error.due_at - steps.clock.now()
    if wait_s is None or wait_s > SOON_S:
        return False
    control = steps.control_of("wait")
    end = steps.clock.monotonic() + max(wait_s, 0.0) + 1.0
    while (left := end - steps.clock.monotonic()) > 0:
        control.raise_if_stopping()
        time.sleep(min(left, 0.2))
    return steps.clock.now() >= (error.due_at or 0.0)  # a clock that stands still never gets there


def run_step(steps: Steps, step: str, segment: Segment) -> None:
    """Run the step whose stamp is `step` on a segment, which is ready for it."""
    functions: dict[str, tuple[Callable[..., object], str]] = {
        "fetched": (fetch, "fetch"),
        "parsed": (partial(parse, listing=steps.listing), "parse"),
        "updated": (update, "update"),
    }
    function, command = functions[step]
    control = steps.control_of(command)
    function(steps.crawl, segment, disk=steps.disk, clock=steps.clock, control=control)
    steps.on_end(step, segment, segment.manifest.steps[step])


def oldest_unfinished(crawl: Crawl) -> Segment | None:
    """Return the oldest segment that has a step left, or None."""
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        if segment.next_step() is not None:
            return segment
    return None
