"""What one fetch changes in the record of its URL; pure, so that the whole of it is tested as a matrix."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.priority import COSTLY_LEVEL, RECRAWL_LEVEL, SEED_LEVEL
from batchcrawl.policy.schedule import DAY_S, Belief, bounded_interval, fresh_span_s, rare_interval, retry_wait
from batchcrawl.policy.transitions import Next, Transition, transition

_VANISHED = frozenset({FetchOutcome.NOT_FOUND, FetchOutcome.GONE})
"""Outcomes that count as a change of the page that was there."""


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """The job's settings of recrawling, in seconds."""

    first_s: float
    """Of a page of which nothing is known yet."""
    min_s: float
    max_s: float
    gone_s: float
    retry_s: float
    failures_max: int


@dataclass(frozen=True, kw_only=True)
class Visit:
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
    trapped: Mapping[str, int] = field(default_factory=dict)
    """Links of the page that traps kept out, by reason."""


def apply_visit(record: UrlRecord, visit: Visit, intervals: Intervals) -> Transition:
    """Change a leased record by a visit: status, counters, content, belief, and its new place.

    Whether the page is a duplicate is for `seen` to judge.
    """
    failures = record.retries + 1
    cell = transition(record.status, visit.outcome, failures=failures, failures_max=intervals.failures_max)
    record.lease = None
    if cell.next is Next.RETURN:
        record.place = Place.READY
        return cell
    last_interval_s = record.interval_s if record.status is cell.status else None
    record.status = cell.status
    record.outcome, record.http_status = visit.outcome, visit.http_status
    if cell.conclusive:
        _observe(record, visit)
        record.retries, record.last_fetch_at, record.signals = 0, visit.at, 0
        record.fetches += 1
    else:
        record.retries = failures
        if record.status is PageStatus.GONE:
            _forget_copy(record)
    record.place = Place.TIMER
    record.next_fetch_at = min(visit.at + _wait(record, cell, last_interval_s, intervals), INSTANT_MAX)
    return cell


def _observe(record: UrlRecord, visit: Visit) -> None:
    if visit.outcome is FetchOutcome.NOT_MODIFIED:
        _learn(record, visit.at, changed=False)
        record.not_modified += 1
    elif visit.outcome is FetchOutcome.FETCHED and visit.revisit:
        _learn(record, visit.at, changed=False)
        record.etag, record.last_modified, record.not_modified = visit.etag, visit.last_modified, 0
    elif visit.outcome is FetchOutcome.FETCHED:
        _observe_page(record, visit)
    else:
        if record.signature is not None and visit.outcome in _VANISHED:
            _learn(record, visit.at, changed=True)
        _forget_copy(record)
        record.content_type = visit.content_type
    record.redirect = visit.redirect


def _forget_copy(record: UrlRecord) -> None:
    """Validators must not outlive the copy: a 304 would then say nothing."""
    record.signature = record.simhash = record.digest = record.etag = record.last_modified = None
    record.duplicate_of = record.segment = record.content_type = record.content_encoding = record.body_at = None
    record.content_at = record.near_to = None
    record.not_modified = 0


def _observe_page(record: UrlRecord, visit: Visit) -> None:
    last_digest, record.digest = record.digest, visit.digest
    record.content_type, record.content_encoding = visit.content_type, visit.content_encoding
    record.segment, record.body_at, record.not_modified = visit.segment, visit.body_at, 0
    if visit.truncated or not visit.parsed:
        # Half a page must not be asked for by its validators, nor compared with a whole one.
        record.etag = record.last_modified = record.signature = record.simhash = record.digest = record.body_at = None
        record.content_at = record.near_to = None
        return
    if visit.http_status != 200 or visit.depth > record.depth or visit.hops > record.hops:
        # What came may be a part (206) or altered on its way (203), or its links count as nearer by now.
        record.body_at = None
    if record.signature is not None and visit.signature is not None:
        _learn(record, visit.at, changed=record.signature != visit.signature)
    elif last_digest is not None:
        # A page without words is told by its bytes.
        _learn(record, visit.at, changed=last_digest != visit.digest)
    if record.signature != visit.signature:
        record.content_at = None if visit.signature is None else visit.at
    record.etag, record.last_modified = visit.etag, visit.last_modified
    record.signature, record.simhash = visit.signature, visit.simhash


def _learn(record: UrlRecord, at: int, *, changed: bool) -> None:
    if record.last_fetch_at is None:
        return
    tau = (at - record.last_fetch_at) / DAY_S
    belief = belief_of(record)
    belief = belief.changed(tau) if changed else belief.unchanged(tau)
    record.rate_a, record.rate_b = belief.a, belief.b
    if changed:
        record.changes += 1
        record.last_change_at = at


def belief_of(record: UrlRecord) -> Belief:
    """Return what is believed of a record's change rate; the prior before the first observation."""
    return Belief(record.rate_a, record.rate_b) if record.rate_b > 0 else Belief()


def _wait(record: UrlRecord, cell: Transition, last_interval_s: int | None, intervals: Intervals) -> int:
    if cell.next is Next.RETRY:
        return retry_wait(record.retries, wait_s=intervals.retry_s, max_s=intervals.max_s)
    if cell.next is Next.RARELY:
        record.interval_s = rare_interval(last_interval_s, min_s=intervals.gone_s, max_s=intervals.max_s)
        return record.interval_s
    wanted_s = float(record.seed_interval_s or 0) or expected_interval_s(record, intervals.first_s)
    record.interval_s = bounded_interval(wanted_s, min_s=intervals.min_s, max_s=intervals.max_s)
    record.level = COSTLY_LEVEL if record.costly else SEED_LEVEL if record.seed else RECRAWL_LEVEL
    return record.interval_s


def expected_interval_s(record: UrlRecord, first_s: float) -> float:
    """Return the interval that the belief asks for, in seconds; `first_s` before the first observation."""
    return fresh_span_s(belief_of(record)) if record.rate_b > 0 else first_s
