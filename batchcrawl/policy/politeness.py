"""How long a host is left alone: the delay between requests, and the wait after failures.

The delay is the largest of the job's minimum, the host's Crawl-delay and a multiple of its last response
time. It rises at once and comes down by averaging; an error answer never lowers it. The job's maximum
bounds what we add by ourselves, never what the host asks for.
"""

import math
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Protocol

import msgspec
from msgspec.structs import replace

from batchcrawl.model.outcome import FetchOutcome

WAIT_MAX_S = 86400.0
"""Nothing that a server says or does puts it off for longer than a day at a time."""


@dataclass(frozen=True, kw_only=True)
class Reaction:
    """What follows a failure of one cause."""

    wait: float
    """Until the host may be contacted again after the first failure, in the job's least back-off; it doubles with
    each failure in a row."""
    tries: int
    """Requests for one URL in one segment before the outcome counts."""
    patience: float
    """Failures in a row after which the host is put off and its waiting URLs are given back, in the job's number."""


REACTIONS = {
    FetchOutcome.TIMEOUT: Reaction(wait=0.5, tries=2, patience=1),
    FetchOutcome.CONNECT_FAILED: Reaction(wait=0.5, tries=2, patience=1),
    FetchOutcome.DNS_FAILED: Reaction(wait=1, tries=2, patience=0.5),
    FetchOutcome.TLS_FAILED: Reaction(wait=1, tries=1, patience=0.5),
    FetchOutcome.PROTOCOL_ERROR: Reaction(wait=0.1, tries=1, patience=3),
    FetchOutcome.SERVER_ERROR: Reaction(wait=0.1, tries=1, patience=3),
    FetchOutcome.DEFERRED: Reaction(wait=1, tries=1, patience=0),
}
"""By fetch outcome; DEFERRED stands for 429 and 503. Outcomes that are not named are no failure of the host."""


@dataclass(frozen=True, kw_only=True)
class DelayRules:
    """The job's delays."""

    delay_min_s: float
    delay_max_s: float
    response_factor: float
    """Delay in multiples of the last response time."""
    backoff_min_s: float = 60.0
    """Wait after a 429, 503 or failed connection; others are measured by it, see REACTIONS."""
    backoff_max_s: float = WAIT_MAX_S
    host_failures_max: int = 3
    """Failures in a row that put a host off, see REACTIONS; refusals in a row that put a domain off."""

    def backoff_s(self, reaction: Reaction, failures: int) -> float:
        """Return the pause after so many failures in a row, of which the last had this reaction."""
        return min(reaction.wait * self.backoff_min_s * 2.0 ** min(failures - 1, 20), self.backoff_max_s)


class Known(Protocol):
    """What is remembered of a host from one step to the next: host sheets and host log lines have it."""

    delay_s: float | None
    crawl_delay_s: float | None
    response_s: float | None
    failures: int
    deferred_until: float | None


class HostPoliteness(msgspec.Struct, frozen=True, kw_only=True):
    """What one host is owed now. Instants are seconds since 1970 UTC."""

    rules: DelayRules
    crawl_delay_s: float | None = None
    delay_s: float = 0.0
    """Between the end of a request and the next; see `start`."""
    response_s: float | None = None
    """Moving average of the time to the whole answer."""
    failures: int = 0
    """In a row."""
    deferred_until: float | None = None
    """No contact before this instant, because of failures."""
    put_off: bool = False
    """The failures are so many that the host's waiting URLs are to be given back."""

    @classmethod
    def start(
        cls,
        rules: DelayRules,
        known: "Known | None" = None,
        *,
        at: float = 0.0,
    ) -> "HostPoliteness":
        """Return the politeness of a host at an instant when this is known of it.

        The first delay is the last one, or follows from the response time where there was none, within the bounds that
        are in force now. A host whose time has not come yet stays put off.
        """
        if known is None:
            return cls(rules=rules, delay_s=rules.delay_min_s)
        crawl_delay_s, response_s, last_s = map(_usable, (known.crawl_delay_s, known.response_s, known.delay_s))
        wanted_s = _wanted_delay(rules, crawl_delay_s=crawl_delay_s, response_s=response_s if last_s is None else None)
        return cls(
            rules=rules,
            crawl_delay_s=crawl_delay_s,
            delay_s=max(wanted_s, min(last_s or 0.0, rules.delay_max_s)),
            response_s=response_s,
            failures=known.failures,
            deferred_until=known.deferred_until,
            put_off=known.deferred_until is not None and known.deferred_until > at,
        )

    @property
    def asks_too_much(self) -> bool:
        """The Crawl-delay is above the job's maximum: the host is to be deferred, not asked faster."""
        return self.crawl_delay_s is not None and self.crawl_delay_s > self.rules.delay_max_s

    def put_off_with_domain(self) -> "HostPoliteness":
        """Return the politeness of a host that has done nothing itself; until when, the domain's record says."""
        return replace(self, put_off=True)

    def next_contact(self, now: float) -> float:
        """Return the earliest instant of the next request when the last one ended now."""
        return max(now + self.delay_s, self.deferred_until or 0.0)

    def with_crawl_delay(self, crawl_delay_s: float | None, *, now: float) -> "HostPoliteness":
        """Return the politeness under the Crawl-delay of a new robots.txt; it is obeyed at once.

        A host that asks for more than the job's maximum is put off for a day, then looked at again.
        """
        usable = _usable(crawl_delay_s)
        wanted = _wanted_delay(self.rules, crawl_delay_s=usable, response_s=None)
        after = replace(self, crawl_delay_s=usable, delay_s=max(self.delay_s, wanted))
        return replace(after, put_off=True, deferred_until=now + WAIT_MAX_S) if after.asks_too_much else after

    def after(
        self,
        outcome: FetchOutcome,
        *,
        status: int | None = None,
        response_s: float | None = None,
        retry_after: str | None = None,
        now: float,
    ) -> "HostPoliteness":
        """Return the politeness after one request.

        `response_s` is the time to the whole answer, None when none came; `retry_after` the header
        field as sent. An outcome that needed no request, and has no status, changes nothing.
        """
        cause = _cause(outcome, status)
        if cause is None and status is None:
            return self
        response_s = _usable(response_s)
        after = self._with_delay(response_s, lower=status is not None and 200 <= status < 400)
        if response_s is not None and cause is None:
            average = response_s if after.response_s is None else (3 * after.response_s + response_s) / 4
            after = replace(after, response_s=average)
        if cause is None:
            return replace(after, failures=0, deferred_until=None, put_off=False)
        return after._failed(REACTIONS[cause], retry_after_s=parse_retry_after(retry_after, now), now=now)

    def _with_delay(self, response_s: float | None, *, lower: bool) -> "HostPoliteness":
        wanted = _wanted_delay(self.rules, crawl_delay_s=self.crawl_delay_s, response_s=response_s)
        if wanted < self.delay_s:
            wanted = (self.delay_s + wanted) / 2 if lower else self.delay_s
        return replace(self, delay_s=wanted)

    def _failed(self, reaction: Reaction, *, retry_after_s: float | None, now: float) -> "HostPoliteness":
        failures = self.failures + 1
        rules = self.rules
        wait_s = rules.backoff_s(reaction, failures)
        if retry_after_s is not None:
            # A host that refuses again although its own wait was kept is left alone for longer.
            wait_s = retry_after_s if failures == 1 else max(wait_s, retry_after_s)
        until = max(now + wait_s, self.deferred_until or 0.0)
        put_off = failures >= reaction.patience * rules.host_failures_max
        return replace(self, failures=failures, deferred_until=until, put_off=put_off)


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds to wait of a Retry-After field (RFC 9110, section 10.2.3), at most a day.

    None for no field, one that is neither seconds nor a date, and a date that is not ahead.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:20]), WAIT_MAX_S) or None
    try:
        date = parsedate_to_datetime(text)
        seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(seconds, WAIT_MAX_S) if seconds > 0 else None


def _cause(outcome: FetchOutcome, status: int | None) -> FetchOutcome | None:
    """Return which failure of the host it was; a 429 or 503 counts as such whatever the URL's outcome."""
    if status in (429, 503):
        return FetchOutcome.DEFERRED
    if outcome is FetchOutcome.DEFERRED:
        return None  # put off without a request
    return outcome if outcome in REACTIONS else None


def _wanted_delay(rules: DelayRules, *, crawl_delay_s: float | None, response_s: float | None) -> float:
    own = max(rules.delay_min_s, min(rules.response_factor * (response_s or 0.0), rules.delay_max_s))
    return max(own, crawl_delay_s or 0.0)


def _usable(seconds: float | None) -> float | None:
    return None if seconds is None or not math.isfinite(seconds) or seconds < 0 else seconds
