"""A round: generate, fetch, parse and update, one after the other, on one segment.

Reads and writes: what its steps do. Commits by: their stamps.
If killed: the same command goes on with the step that was cut.

Rounds that overlap keep the network busy: while a segment is fetched, the one before it is parsed and brought into the
crawldb, and the one after it is made. What is done when depends on the stamps alone, not on which step is quicker:

    fetch    | 1 | 2          | 3          |
    the rest |2  |1  1   3    |2  2   4    |      a segment is made once the one before the last is in the crawldb
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from batchcrawl.engine.control import Control
from batchcrawl.engine.lanes import Ended, Lanes
from batchcrawl.errors import CrawlError, NothingDue
from batchcrawl.fetch import fetch
from batchcrawl.generate import Plan, generate
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.model.clock import Clock
from batchcrawl.parse import parse
from batchcrawl.store.disk import Disk
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.segment import COMMANDS, STEPS, Segment, StepInfo, open_segment
from batchcrawl.update import update

SOON_S = 60.0
"""How long a crawl that is to go on to the end waits for hosts that are put off."""


AHEAD = 2
"""So many segments are out at once when rounds overlap: one that is fetched, and the one before or after it."""


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


def run_overlapped(steps: Steps, *, wanted: GenerateSettings | None = None, rounds_max: int | None = None) -> int:
    """Run rounds that overlap, until so many are done or nothing is due; return how many were.

    Raises NothingDue when there was neither a segment nor a URL, Interrupted when asked to stop.
    """
    with Lanes[_Turn, Plan | None](_take_turn) as lanes:
        return _Overlap(steps, lanes, wanted, rounds_max).run()


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
    control = steps.control_of(COMMANDS[step])
    _functions(listing=steps.listing)[step](steps.crawl, segment, disk=steps.disk, clock=steps.clock, control=control)
    steps.on_end(step, segment, segment.manifest.steps[step])


def oldest_unfinished(crawl: Crawl) -> Segment | None:
    """Return the oldest segment that has a step left, or None."""
    return next(_unfinished(crawl), None)


def _unfinished(crawl: Crawl) -> Iterator[Segment]:
    """Yield the segments that have a step left, oldest first."""
    for name in crawl.layout.segment_ids():
        if not SegmentPaths(crawl.layout.segment(name)).stamp(STEPS[-1]).exists():
            yield Segment(crawl.layout.segment(name))


def _functions(*, listing: bool) -> dict[str, Callable[..., object]]:
    """Return the functions of the steps that work on a segment that is there, by their stamps."""
    return {"fetched": fetch, "parsed": partial(parse, listing=listing), "updated": update}


@dataclass(frozen=True)
class _Turn:
    """A step that runs beside another; it needs to know nothing else."""

    crawl: Crawl
    disk: Disk
    clock: Clock
    step: str
    """Its stamp."""
    segment_id: str | None = None
    """None for the one that is to be made."""
    wanted: GenerateSettings | None = None
    listing: bool = False


def _take_turn(turn: _Turn, control: Control) -> Plan | None:
    if turn.step == "generated":
        return generate(
            turn.crawl, wanted=turn.wanted, dry_run=False, disk=turn.disk, clock=turn.clock, control=control
        )
    segment = open_segment(turn.crawl.layout, turn.segment_id or "")
    function = _functions(listing=turn.listing)[turn.step]
    function(turn.crawl, segment, disk=turn.disk, clock=turn.clock, control=control)
    return None


class _Overlap:
    """Two lanes: one fetches, the other does the rest."""

    _FETCH, _REST = "fetch", "rest"

    def __init__(
        self,
        steps: Steps,
        lanes: Lanes[_Turn, Plan | None],
        wanted: GenerateSettings | None,
        rounds_max: int | None,
    ) -> None:
        self._steps = steps
        self._lanes = lanes
        self._wanted = wanted
        self._rounds_max = rounds_max
        self._done = 0
        self._error: Exception | None = None
        self._nothing_due: NothingDue | None = None
        """Why no segment could be made, until an update may have changed that."""
        self._shown = ""
        self._control = Control()

    def run(self) -> int:
        """Run to the end; return how many segments were finished."""
        self._begin()
        while self._lanes.busy:
            self._show()
            self._lanes.ask_to_stop(2 if self._control.dropping else 1 if self._is_stopping else 0)
            for ended in self._lanes.listen():
                self._end(ended)
                self._begin()
        if self._error is not None:
            raise self._error
        self._control.raise_if_stopping()
        if self._nothing_due is not None and not self._done:
            raise self._nothing_due
        return self._done

    @property
    def _is_stopping(self) -> bool:
        return self._error is not None or self._control.stopping

    def _begin(self) -> None:
        """Begin what has its turn in the lanes that are free."""
        if self._is_stopping:
            return
        unfinished = list(_unfinished(self._steps.crawl))
        for lane, turn in ((self._FETCH, self._next_fetch(unfinished)), (self._REST, self._next_of_rest(unfinished))):
            if turn is not None and lane not in self._lanes.busy:
                self._lanes.start(lane, turn)

    def _next_fetch(self, unfinished: list[Segment]) -> _Turn | None:
        waiting = [segment for segment in unfinished if segment.next_step() == "fetched"]
        return self._turn("fetched", waiting[0]) if waiting else None

    def _next_of_rest(self, unfinished: list[Segment]) -> _Turn | None:
        if any(segment.next_step() == "generated" for segment in unfinished):
            return self._turn("generated")
        if unfinished and unfinished[0].paths.half_applied:  # nothing is to be chosen by half of what it found
            return self._turn("updated", unfinished[0])
        is_wanted = self._rounds_max is None or self._done + len(unfinished) < self._rounds_max
        if len(unfinished) < AHEAD and is_wanted and self._nothing_due is None:
            return self._turn("generated")
        step = unfinished[0].next_step() if unfinished else None
        return self._turn(step, unfinished[0]) if step in ("parsed", "updated") else None

    def _turn(self, step: str, segment: Segment | None = None) -> _Turn:
        steps, segment_id = self._steps, None if segment is None else segment.id
        return _Turn(steps.crawl, steps.disk, steps.clock, step, segment_id, self._wanted, steps.listing)

    def _show(self) -> None:
        """Show the progress of the fetch, or of what runs without one."""
        lane = self._FETCH if self._FETCH in self._lanes.busy else self._REST
        turn = self._lanes.task(lane)
        if turn is not None and self._shown != f"{turn.step} {turn.segment_id}":
            self._shown = f"{turn.step} {turn.segment_id}"
            self._control = self._steps.control_of(COMMANDS[turn.step])
        self._control.report(self._lanes.progress(lane))

    def _end(self, ended: Ended[_Turn, Plan | None]) -> None:
        turn = ended.task
        if isinstance(ended.error, NothingDue):
            self._nothing_due = ended.error
        elif ended.error is not None:
            self._error = self._error or ended.error
        elif turn.segment_id is None:
            if ended.result is not None:
                self._steps.on_plan(ended.result)
        else:
            segment = open_segment(self._steps.crawl.layout, turn.segment_id)
            self._steps.on_end(turn.step, segment, segment.step(turn.step))
            if turn.step == "updated":
                self._done += 1
                self._nothing_due = None
