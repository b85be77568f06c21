"""What is believed of a page before its first refetch: what its host has shown, and before that the whole crawl.

Empirical Bayes over running sums (the idea: Efron and Morris, "Stein's estimation rule and its competitors", 1973): the
mean of the rates that are believed of refetched pages, drawn towards the one above it as long as there are few of them.
Only the mean is learned; the shape stays that of the prior, which is very wide.
"""

from batchcrawl.model.host import HostRecord, RateCounts
from batchcrawl.policy.schedule import PRIOR_A, PRIOR_RATE, Belief

CRAWL_PAGES = 50.0
"""The mean before any page was refetched counts as so many pages of the crawl."""
HOST_PAGES = 15.0
"""The mean of the crawl counts as so many pages of a host."""
PAGE_RATE_MAX = 10.0
"""Pages that change more often, in changes a day, count as this: one counter must not speak for a host."""
MEAN_MIN, MEAN_MAX = 1e-3, 10.0


class Priors:
    """The priors of a partition's hosts, which learn as refetches are applied."""

    def __init__(self, crawl: RateCounts | None = None) -> None:
        self.crawl = crawl or RateCounts()
        """Over all hosts of the partition; domains lie there by their hash, so it stands for the whole crawl."""

    @property
    def crawl_rate(self) -> float:
        """The mean that stands for the whole crawl, in changes a day."""
        return _drawn_mean(self.crawl, PRIOR_RATE, CRAWL_PAGES)

    def of(self, host: HostRecord | None) -> Belief:
        """Return what is believed of a host's pages that were never refetched."""
        rate = self.crawl_rate
        if host is not None and host.rates is not None:
            rate = _drawn_mean(host.rates, rate, HOST_PAGES)
        return Belief(PRIOR_A, PRIOR_A / rate)

    def note(self, host: HostRecord, before: float | None, after: float | None) -> None:
        """Let a host and the crawl learn that the rate believed of a page went from `before` to `after`, changes a day.

        None stands for a page that was not refetched yet, or starts anew.
        """
        if before == after:
            return
        if host.rates is None:
            host.rates = RateCounts()
        pages, rates = (after is not None) - (before is not None), _counted(after) - _counted(before)
        add(host.rates, pages, rates)
        add(self.crawl, pages, rates)


def add(counts: RateCounts, pages: int, rates: float) -> None:
    """Add so many pages to counts, and what their rates come to.

    A page that was never counted may go on to change its rate, as after a repair; it cannot make the mean absurd.
    """
    counts.pages = max(0, counts.pages + pages)
    counts.rate_sum = min(max(0.0, counts.rate_sum + rates), PAGE_RATE_MAX * counts.pages)


def _drawn_mean(counts: RateCounts, above: float, pages: float) -> float:
    mean = (counts.rate_sum + above * pages) / (counts.pages + pages)
    return min(max(mean, MEAN_MIN), MEAN_MAX)


def _counted(rate: float | None) -> float:
    return 0.0 if rate is None else min(rate, PAGE_RATE_MAX)
