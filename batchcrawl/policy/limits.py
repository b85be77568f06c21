"""What limits a crawl now, in one sentence, with the setting to change; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

DISK_BYTES_MIN = 2_000_000_000
_ROOM_TIMES = 3
"""Disk for so many rounds is enough."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What the sentence follows from."""

    due: int
    """URLs that may be taken now, those of hosts put off included."""
    due_hosts: int
    """Hosts that have such URLs."""
    due_hosts_put_off: int
    later: int
    """URLs that come due later."""
    next_due_s: float | None
    """Until the first of them does."""
    threads: int
    delay_s: float
    """The job's least politeness delay."""
    free_bytes: int
    floor_bytes: int = 0
    """With less free space fetch ends."""
    round_bytes: int = 0
    """What the last round took of the disk."""
    unfetched: int = 0
    """URLs that were never fetched, due or not; only refetches are held by a budget."""
    refetches_today: int = 0
    budget: float | None = None
    """Refetches a day; None without a budget."""
    bytes_today: int = 0
    bytes_day_max: int | None = None
    """Bytes of bodies a day; None without a limit."""
    steps_s: Mapping[str, float] = field(default_factory=dict)
    """Of the last round, by step."""
    unfinished: str | None = None
    """The step that a segment waits for while nobody works on it, as a command."""


def limit_of(load: Load) -> str:
    """Return what limits the crawl now."""
    for find in (_disk, _waiting, _nothing_due, _day_bytes, _budget, _put_off, _slow_step):
        if (limit := find(load)) is not None:
            return limit
    return _hosts(load)


def _disk(load: Load) -> str | None:
    if load.free_bytes >= max(DISK_BYTES_MIN, load.floor_bytes + _ROOM_TIMES * load.round_bytes):
        return None
    return (
        f"The disk: {load.free_bytes / 1e9:.1f} GB are free, and fetch ends at {load.floor_bytes / 1e9:.1f} "
        "([fetch] disk_free_min); make space ('batchcrawl gc' tells what nothing needs) or name another disk by `data`."
    )


def _waiting(load: Load) -> str | None:
    if load.unfinished is None:
        return None
    return f"A segment that nobody works on: run '{load.unfinished}'."


def _nothing_due(load: Load) -> str | None:
    if load.due:
        return None
    if not load.later or load.next_due_s is None:
        return "Nothing is left: inject more seeds, or widen what [scope] takes."
    return (
        f"Nothing is due: the first URL comes in {_time(load.next_due_s)}; shorter intervals ([recrawl] interval, "
        "interval_max) or a wider [scope] bring more."
    )


def _day_bytes(load: Load) -> str | None:
    if load.bytes_day_max is None or load.bytes_today < load.bytes_day_max:
        return None
    return (
        f"The bytes of the day: {load.bytes_today / 1e6:,.1f} of {load.bytes_day_max / 1e6:,.1f} MB are used "
        "([generate] bytes_day_max); it goes on at midnight, UTC."
    )


def _budget(load: Load) -> str | None:
    if load.budget is None or load.unfetched or load.refetches_today < load.budget:
        return None
    return (
        f"The budget of refetches: {load.refetches_today:,} of {load.budget:,.0f} a day are used, and no page is new; "
        "[recrawl] budget sets it, and 'batchcrawl simulate' tells what another one would buy."
    )


def _put_off(load: Load) -> str | None:
    if not load.due_hosts or load.due_hosts_put_off < load.due_hosts:
        return None
    return (
        f"The hosts: all {load.due_hosts:,} that have URLs due are put off, since they refuse or fail; "
        "'batchcrawl hosts' tells why, and a longer [politeness] delay_min may spare it."
    )


def _slow_step(load: Load) -> str | None:
    fetch_s = load.steps_s.get("fetch", 0.0)
    step, step_s = max(load.steps_s.items(), key=lambda entry: entry[1], default=("fetch", 0.0))
    if step == "fetch" or step_s <= fetch_s or step_s < 60:
        return None
    advice = "[parse] page_cpu and links_max bound it" if step == "parse" else "more memory or a faster disk helps"
    return f"The step {step}: {_time(step_s)} of the last round, fetch {_time(fetch_s)}; {advice}, as do more cores."


def _hosts(load: Load) -> str:
    hosts = load.due_hosts - load.due_hosts_put_off
    if load.delay_s > 0 and hosts / load.delay_s < load.threads * 2:
        who = "1 host has" if hosts == 1 else f"{hosts:,} hosts have"
        return (
            f"The politeness delay: {who} URLs due, and one request in {load.delay_s:g} s to each makes at most "
            f"{hosts / load.delay_s:.1f} a second; more hosts ([scope]) or, on hosts of your own, a shorter "
            "[politeness] delay_min bring more."
        )
    return (
        f"The requests under way at once: {load.threads:,} of [fetch] threads, with {hosts:,} hosts that have URLs due."
    )


def _time(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
