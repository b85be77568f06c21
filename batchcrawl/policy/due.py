"""When a known URL may be taken next, and what it waits for."""

from typing import NamedTuple

from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.domain_state import put_off_until


class Due(NamedTuple):
    """Since when, or from when on, a URL may be taken; None where that is not known."""

    at: float | None
    why: str


def due_of(record: UrlRecord, host: HostRecord, domain: DomainRecord | None, *, now: float) -> Due:
    """Return when a URL may be taken by generate, and what sets that instant.

    Who shall be taken of the URLs that may be is another matter (`selection`).
    """
    if record.place is Place.NONE:
        return Due(None, "nothing brings it back by itself")
    if record.place is Place.LEASED:
        return Due(None, "a segment holds it, and says what becomes of it")
    at, host_until = float(record.next_fetch_at or 0), put_off_until(host, domain)
    if record.place is Place.RISING:
        at = min(at, now)
    if host_until > max(at, now):
        return Due(host_until, "its host is put off")
    return Due(at, _reason(record))


def _reason(record: UrlRecord) -> str:
    outcome = "" if record.outcome is None else record.outcome.value
    if record.last_fetch_at is None and not record.retries and record.status is PageStatus.UNFETCHED:
        return "it has never been fetched"
    if record.retries and record.status is not PageStatus.GONE:
        return f"it is tried again: {outcome}, {record.retries} times in a row"
    if record.status in (PageStatus.GONE, PageStatus.BLOCKED):
        return f"{outcome}: it is looked at again now and then"
    return f"its fetch interval, set by the outcome {outcome}"
