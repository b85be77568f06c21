"""What the hosts of one domain owe it together: a pause after one of them has refused (429, 503).

The domain is the registered one, or one that the private section of the public suffix list makes within it: a
refusal of a.github.io says nothing of b.github.io. The first pause is at most that of the host that refused, which may
have asked for less (Retry-After); each further refusal doubles it. Requests that were under way when a pause began say
nothing new; a success of one that was sent after it ends the row.
"""

from threading import Lock

from batchcrawl.model.entries import HostSheet
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.outcomes import PUT_OFF
from batchcrawl.policy.politeness import REACTIONS, DelayRules


class DomainState:
    """What is known of a domain now; used by all threads that visit its hosts."""

    def __init__(self, name: str, rules: DelayRules) -> None:
        self.name = name
        self.refusals = 0
        """In a row."""
        self.until: float | None = None
        """No host of the domain is to be contacted before this instant."""
        self.changed = False
        self._rules = rules
        self._refused_at = 0.0
        self._lock = Lock()

    @classmethod
    def of(cls, sheet: HostSheet, rules: DelayRules) -> "DomainState":
        """Return the domain of a host as its sheet tells of it."""
        state = cls(sheet.budget_domain or sheet.domain, rules)
        state.refusals, state.until = sheet.domain_refusals, sheet.domain_deferred_until
        return state

    @property
    def is_put_off(self) -> bool:
        """The refusals are so many that in a pause the waiting URLs of all its hosts are given back."""
        return self.refusals >= self._rules.host_failures_max

    def learn(self, status: int | None, *, started_at: float, ended_at: float, host_until: float | None = None) -> None:
        """Take over what one request to a host of the domain says; no answer says nothing.

        `host_until` is the instant until which the host itself is left alone after it.
        """
        if status is None or (status not in PUT_OFF and not self.refusals):
            return
        with self._lock:
            if status in PUT_OFF:
                if started_at >= self._refused_at:
                    self._pause(ended_at, host_until)
            elif status < 500 and started_at >= (self.until or 0.0):
                self.refusals, self.until = 0, None
                self.changed = True

    def _pause(self, now: float, host_until: float | None) -> None:
        self.refusals += 1
        self._refused_at = now
        until = now + self._rules.backoff_s(REACTIONS[FetchOutcome.DEFERRED], self.refusals)
        self.until = min(until, host_until) if self.refusals == 1 and host_until is not None else until
        self.changed = True


def put_off_until(host: HostRecord, domain: DomainRecord | None) -> float:
    """Return the instant until which a host is put off, by itself or with its domain; 0 for one that is not."""
    return max(host.deferred_until or 0.0, (domain.deferred_until or 0.0) if domain is not None else 0.0)
