from collections import Counter

from batchcrawl.model.entries import RejectionLine
from batchcrawl.store.page_links import HOSTS_MAX, RejectionCounts


def test_hosts_with_the_most_links_come_first() -> None:
    counts = RejectionCounts()
    counts.add(Counter({("off_host", "http://a.test"): 1, ("self", "http://b.test"): 2}))
    counts.add(Counter({("off_host", "http://c.test"): 1, ("off_host", "http://a.test"): 1}))
    assert counts.lines() == [
        RejectionLine(reason="off_host", host="http://a.test", links=2),
        RejectionLine(reason="self", host="http://b.test", links=2),
        RejectionLine(reason="off_host", host="http://c.test", links=1),
    ]


def test_hosts_without_end_are_summed_and_no_link_is_lost() -> None:
    counts = RejectionCounts()
    for page in range(100):
        pairs = {("off_host", f"http://{page}-{number}.test"): 1 for number in range(1000)}
        counts.add(Counter({**pairs, ("self", "http://a.test"): 5}))
    lines = counts.lines()
    assert len(lines) == HOSTS_MAX + 1
    assert lines[0] == RejectionLine(reason="self", host="http://a.test", links=500)
    assert lines[-1] == RejectionLine(reason="off_host", links=100 * 1000 - (HOSTS_MAX - 1))
