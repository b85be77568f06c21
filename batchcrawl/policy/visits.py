"""What one fetch changes in the record of its URL; pure, so that the whole of it is tested as a matrix."""

from collections.abc import Sequence

import msgspec

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.last_modified import changed_at
from batchcrawl.policy.page_rules import PageRule, own_intervals
from batchcrawl.policy.recrawl import (
    STORED,
    Change,
    Intervals,
    Prices,
    belief_of,
    interval_until,
    is_by_value,
    returned_place,
)
from batchcrawl.policy.schedule import DAY_S, Belief, adaptive_interval, bounded_interval, rare_interval, retry_wait
from batchcrawl.policy.transitions import Next, Transition, transition
from batchcrawl.policy.value import LEVEL_MIN
from batchcrawl.web.signature import NEAR_BITS, hamming

_VANISHED = frozenset({FetchOutcome.NOT_FOUND, FetchOutcome.GONE})
"""Outcomes that count as a change of the page that was there."""


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """What a segment says of one URL."""

    outcome: FetchOutcome
    at: int
    """When the answer came, in seconds since 1970."""
    segment: str
    depth: int = 0
    """By which its links were counted."""
    hops: int = 0
    """Likewise."""
    http_status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    digest: str | None = None
    content_type: str | None = None
    content_encoding: str | None = None
    body_at: float | None = None
    """Start of the exchange that has the body."""
    revisit: bool = False
    """What came is the stored copy: nothing of it was parsed."""
    redirect: str | None = None
    """Canonical target."""
    truncated: bool = False
    requests: int = 0
    """Requests sent for it."""
    body_bytes: int = 0
    kind: UrlKind | None = None
    """What was found; None where nothing was, or nothing that parse could read."""
    parsed: bool = True
    """Parse could read the page."""
    signature: bytes | None = None
    """None for a page without words."""
    simhash: bytes | None = None
    trapped: dict[str, int] = {}
    """Links of the page that traps kept out, by reason."""


def apply_visit(
    record: UrlRecord,
    visit: Visit,
    intervals: Intervals,
    prices: Prices,
    *,
    own: Sequence[PageRule] = (),
    dated: bool = False,
) -> Transition:
    """Change a leased record by a visit: status, counters, content, belief, and its new place.

    `own` are the job's rules for some URLs; those count that hold for the URL as it is found. `dated` says that the
    host's Last-Modified has proved right. Whether the page is a duplicate is for `seen` to judge.
    """
    failures = record.retries + 1
    cell = transition(record.status, visit.outcome, failures=failures, failures_max=intervals.failures_max)
    lease, record.lease = record.lease or 0, None
    if cell.next is Next.RETURN:
        record.place = returned_place(record, lease)
        return cell
    came_back, last_interval_s = record.status is PageStatus.GONE, _last_interval(record, cell)
    record.status, changed = cell.status, None
    record.outcome, record.http_status = visit.outcome, visit.http_status
    if cell.conclusive:
        if came_back and cell.status in STORED:
            record.rate_a = record.rate_b = 0.0  # it starts anew
        changed = _observe(record, visit, intervals, dated=dated)
        record.retries, record.last_fetch_at, record.signals = 0, visit.at, 0
        record.fetches += 1
    else:
        record.retries = failures
        if record.status is PageStatus.GONE:
            _forget_copy(record)
    record.place = Place.TIMER
    wait_s = _wait(record, cell, own_intervals(intervals, own, record), prices, last_s=last_interval_s, changed=changed)
    record.next_fetch_at = min(visit.at + wait_s, INSTANT_MAX)
    return cell


def _last_interval(record: UrlRecord, cell: Transition) -> int | None:
    """Return the interval that went before, where the URL is still what it was."""
    same = record.status is cell.status or {record.status, cell.status} <= STORED
    return record.interval_s if same else None


def _observe(record: UrlRecord, visit: Visit, intervals: Intervals, *, dated: bool) -> bool | None:
    """Take in what a conclusive answer brought; return whether the page had changed, None where that was not seen."""
    record.redirect = visit.redirect
    if visit.outcome is FetchOutcome.NOT_MODIFIED:
        record.not_modified += 1
        return _learn(record, visit.at, intervals.prior, changed=False)
    if visit.outcome is FetchOutcome.FETCHED and visit.revisit:
        record.etag, record.last_modified, record.not_modified = visit.etag, visit.last_modified, 0
        return _learn(record, visit.at, intervals.prior, changed=False)
    if visit.outcome is FetchOutcome.FETCHED:
        return _observe_page(record, visit, intervals, dated=dated)
    vanished = record.signature is not None and visit.outcome in _VANISHED
    changed = _learn(record, visit.at, intervals.prior, changed=True) if vanished else None
    _forget_copy(record)
    record.content_type = visit.content_type
    return changed


def _forget_copy(record: UrlRecord) -> None:
    """Validators must not outlive the copy: a 304 would then say nothing."""
    record.signature = record.simhash = record.digest = record.etag = record.last_modified = None
    record.duplicate_of = record.segment = record.content_type = record.content_encoding = record.body_at = None
    record.content_at = record.near_to = None
    record.not_modified = 0


def _observe_page(record: UrlRecord, visit: Visit, intervals: Intervals, *, dated: bool) -> bool | None:
    changed = _differs(record, visit, intervals.change)
    record.digest = visit.digest
    record.content_type, record.content_encoding = visit.content_type, visit.content_encoding
    record.segment, record.body_at, record.not_modified = visit.segment, visit.body_at, 0
    if visit.truncated or not visit.parsed:
        # Half a page must not be asked for by its validators, nor compared with a whole one.
        record.etag = record.last_modified = record.signature = record.simhash = record.digest = record.body_at = None
        record.content_at = record.near_to = None
        return None
    if visit.http_status != 200 or visit.depth > record.depth or visit.hops > record.hops:
        # What came may be a part (206) or altered on its way (203), or its links count as nearer by now.
        record.body_at = None
    if changed is not None:
        change_at = changed_at(record, visit.last_modified, at=visit.at) if changed and dated else None
        changed = _learn(record, visit.at, intervals.prior, changed=changed, change_at=change_at)
    if record.signature != visit.signature:
        record.content_at = None if visit.signature is None else visit.at
    record.etag, record.last_modified = visit.etag, visit.last_modified
    record.signature, record.simhash = visit.signature, visit.simhash
    return changed


def _differs(record: UrlRecord, visit: Visit, change: Change) -> bool | None:
    """Tell whether a whole page differs from the stored copy in what counts; None where there is nothing to compare."""
    if change == "payload" or record.signature is None or visit.signature is None:
        # A page without words is told by its bytes, too.
        return None if record.digest is None else record.digest != visit.digest
    near = change == "near" and record.simhash is not None and visit.simhash is not None
    if near and hamming(record.simhash or b"", visit.simhash or b"") <= NEAR_BITS:
        return False
    return record.signature != visit.signature


def _learn(record: UrlRecord, at: int, prior: Belief, *, changed: bool, change_at: float | None = None) -> bool | None:
    """Learn from an observation; `change_at` is when the content last changed, where that is known."""
    if record.last_fetch_at is None:
        return None
    tau = (at - record.last_fetch_at) / DAY_S
    belief = belief_of(record, prior)
    if change_at is not None:
        belief = belief.changed_at(tau=tau, age=(at - change_at) / DAY_S)
    else:
        belief = belief.changed(tau) if changed else belief.unchanged(tau)
    record.rate_a, record.rate_b = belief.a, belief.b
    if changed:
        record.changes += 1
        record.last_change_at = at
    return changed


def _wait(
    record: UrlRecord,
    cell: Transition,
    intervals: Intervals,
    prices: Prices,
    *,
    last_s: int | None,
    changed: bool | None,
) -> int:
    if cell.next is Next.RETRY:
        return retry_wait(record.retries, wait_s=intervals.retry_s, max_s=intervals.max_s)
    record.level = LEVEL_MIN
    own_s = record.seed_interval_s or intervals.own_s
    if cell.next is Next.RARELY and intervals.own_s is None:
        record.interval_s = rare_interval(last_s, min_s=intervals.gone_s, max_s=intervals.max_s)
    elif is_by_value(record, intervals):
        record.interval_s = interval_until(record, intervals, wanted=prices.floor)
    elif intervals.policy == "adaptive" and record.status in STORED and own_s is None:
        age_s = (record.last_fetch_at or 0) - (record.content_at or record.last_fetch_at or 0)
        record.interval_s, wait_s = adaptive_interval(
            last_s or intervals.first_s,
            changed=changed,
            since_change_s=max(age_s, 0),
            min_s=intervals.min_s,
            max_s=intervals.max_s,
        )
        return wait_s
    else:
        record.interval_s = bounded_interval(own_s or intervals.first_s, min_s=intervals.min_s, max_s=intervals.max_s)
    return record.interval_s
