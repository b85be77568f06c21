"""What a round did, as the manifest of its segment tells it."""

import msgspec

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.segment import COMMANDS, Segment

_OUTCOMES = frozenset(outcome.value for outcome in FetchOutcome)


class Round(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The steps of one segment."""

    segment: str
    created_at: float
    urls: int
    """Of its fetch lists."""
    hosts: int
    outcomes: dict[str, int] = {}
    """How many URLs ended how; empty until it is fetched."""
    pages: int = 0
    """Pages that came or were found unchanged."""
    pages_per_s: float = 0.0
    """The rate of the fetch step."""
    body_bytes: int = 0
    links: int = 0
    """Links taken."""
    new: int = 0
    """URLs that it made known."""
    seconds: dict[str, float] = {}
    """By step, from the end of the step before it to its own, pauses and kills included."""
    duration_s: float = 0.0
    """How long the steps have taken that are done."""
    why: str = ""
    """Why fetch ended, or what comes next."""


def round_of(segment: Segment) -> Round:
    """Return what a segment's manifest tells of its steps so far."""
    manifest = segment.manifest
    steps = sorted(manifest.steps.items(), key=lambda step: step[1].ended_at)
    fetched = manifest.steps.get("fetched")
    told = Round(segment=segment.id, created_at=manifest.created_at, urls=manifest.urls, hosts=manifest.hosts)
    began_at = manifest.created_at
    for name, info in steps:
        told.seconds[COMMANDS.get(name, name)] = max(0.0, info.ended_at - began_at)
        began_at = info.ended_at
    if fetched is not None:
        told.outcomes = {name: number for name, number in fetched.counts.items() if name in _OUTCOMES}
        told.body_bytes = fetched.counts.get("body_bytes", 0)
        told.pages = told.outcomes.get("fetched", 0) + told.outcomes.get("not_modified", 0)
        told.pages_per_s = told.pages / max(told.seconds.get("fetch", 0.0), 0.001)
    told.duration_s = sum(told.seconds.values())
    for name, count in (("parsed", "links"), ("updated", "new")):
        if name in manifest.steps:
            setattr(told, count, manifest.steps[name].counts.get(count, 0))
    waiting = segment.next_step()
    ended = "" if fetched is None else fetched.reason or "all done"
    told.why = ended if waiting is None else ", ".join(filter(None, (ended, f"next is {COMMANDS[waiting]}")))
    return told
