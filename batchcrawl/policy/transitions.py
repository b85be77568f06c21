"""The status table: old page status x fetch outcome -> new status, and what becomes of the URL.

A conclusive outcome replaces the status. A failure keeps the old status until the job's tries are used
up; then the URL is gone. An outcome that says nothing of the page (host put off, time limit) changes nothing.
"""

from dataclasses import dataclass
from enum import Enum

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.status import PageStatus


class Next(Enum):
    """What becomes of a URL after an outcome."""

    RECRAWL = "recrawl"
    """Comes again after its fetch interval."""
    RARELY = "rarely"
    """Comes again after a growing interval, for a last look."""
    RETRY = "retry"
    """Comes again after the retry wait."""
    RETURN = "return"
    """Goes back to where it was, unblamed."""


@dataclass(frozen=True)
class Transition:
    """A cell of the table."""

    status: PageStatus
    next: Next
    conclusive: bool
    """The outcome says what is at the URL now."""

    @property
    def failure(self) -> bool:
        """The outcome counts as a failure of the URL."""
        return not self.conclusive and self.next is not Next.RETURN


_CONCLUSIVE = {
    FetchOutcome.FETCHED: (PageStatus.FETCHED, Next.RECRAWL),
    FetchOutcome.REDIRECT: (PageStatus.REDIRECT, Next.RECRAWL),
    FetchOutcome.NOT_FOUND: (PageStatus.GONE, Next.RARELY),
    FetchOutcome.GONE: (PageStatus.GONE, Next.RARELY),
    FetchOutcome.DENIED: (PageStatus.BLOCKED, Next.RARELY),
    FetchOutcome.ROBOTS_DENIED: (PageStatus.BLOCKED, Next.RECRAWL),
    FetchOutcome.ADDRESS_REFUSED: (PageStatus.BLOCKED, Next.RARELY),
    FetchOutcome.SKIPPED_TYPE: (PageStatus.SKIPPED, Next.RECRAWL),
}
_FAILURES = frozenset(
    {
        FetchOutcome.SERVER_ERROR,
        FetchOutcome.TIMEOUT,
        FetchOutcome.CONNECT_FAILED,
        FetchOutcome.DNS_FAILED,
        FetchOutcome.TLS_FAILED,
        FetchOutcome.PROTOCOL_ERROR,
        FetchOutcome.REDIRECT_INVALID,
    }
)
_SAYS_NOTHING = frozenset({FetchOutcome.DEFERRED, FetchOutcome.TIME_LIMIT})
_HAS_CONTENT = frozenset({PageStatus.FETCHED, PageStatus.DUPLICATE})


def transition(old: PageStatus, outcome: FetchOutcome, *, failures: int, failures_max: int) -> Transition:
    """Return the cell of the table for one fetch.

    `failures` counts the failures in a row, with this one if it is one; more than `failures_max` make the URL gone.
    """
    if outcome in _SAYS_NOTHING:
        return Transition(old, Next.RETURN, conclusive=False)
    if outcome is FetchOutcome.NOT_MODIFIED and old in _HAS_CONTENT:
        return Transition(old, Next.RECRAWL, conclusive=True)
    if outcome in _FAILURES or outcome is FetchOutcome.NOT_MODIFIED:
        # A 304 for a page of which no copy is stored answers a question that was not asked.
        return _failed(old, failures=failures, failures_max=failures_max)
    status, following = _CONCLUSIVE[outcome]
    return Transition(status, following, conclusive=True)


def _failed(old: PageStatus, *, failures: int, failures_max: int) -> Transition:
    if failures > failures_max:
        return Transition(PageStatus.GONE, Next.RARELY, conclusive=False)
    return Transition(old, Next.RETRY, conclusive=False)
