"""Records and visits for tests of what a fetch changes, in a few words."""

from typing import Any

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.recrawl import Intervals, fixed_prices
from batchcrawl.policy.transitions import Transition
from batchcrawl.policy.visits import Visit, apply_visit

DAY = 86_400
T = 1_796_040_000
INTERVALS = Intervals(first_s=DAY, min_s=3600, max_s=365 * DAY, gone_s=30 * DAY, retry_s=7200, failures_max=3)
PRICES = fixed_prices(DAY)
A, B = b"a" * 16, b"b" * 16


def leased(**changes: Any) -> UrlRecord:
    """Return the record of a URL that a segment holds."""
    facts: dict[str, Any] = {"place": Place.LEASED, "lease": T - 100, "level": 4, "next_fetch_at": T - 500, "depth": 2}
    return UrlRecord("http://example.org/", **(facts | changes))


def applied(record: UrlRecord, visit: Visit, intervals: Intervals) -> Transition:
    """Let a visit change a record under the prices of a crawl without a budget."""
    return apply_visit(record, visit, intervals, PRICES)


def stored(**changes: Any) -> UrlRecord:
    """Return the same of a page that was stored a day ago."""
    facts: dict[str, Any] = {
        "status": PageStatus.FETCHED,
        "outcome": FetchOutcome.FETCHED,
        "fetches": 1,
        "last_fetch_at": T - DAY,
        "signature": A,
        "content_at": T - 9 * DAY,
        "simhash": b"s" * 8,
        "digest": "sha1:A",
        "etag": '"a"',
        "last_modified": "yesterday",
        "segment": "20261129T000000Z",
        "content_type": "text/html",
        "content_encoding": "gzip",
        "body_at": T - DAY + 0.25,
        **changes,
    }
    return leased(**facts)


def visit(outcome: FetchOutcome, **changes: Any) -> Visit:
    """Return a visit that ended so."""
    return Visit(**{"outcome": outcome, "at": T, "segment": "20261130T000000Z", **changes})


def page(signature: bytes | None = A, **changes: Any) -> Visit:
    """Return the visit of a whole page."""
    """Let a visit change a record under the prices of a crawl without a budget."""
    """Return the visit of a whole page."""
    """Return a visit that ended so."""
    """Return the same of a page that was stored a day ago."""
    """Return the record of a URL that a segment holds."""
    facts = {"http_status": 200, "etag": '"new"', "last_modified": "now", "digest": "sha1:N", "content_type": "text/x"}
    facts |= {"signature": signature, "simhash": b"n" * 8, "content_encoding": "br", "body_at": T + 0.5}
    return visit(FetchOutcome.FETCHED, **{**facts, **changes})
