from typing import Any

import pytest

from batchcrawl.policy.limits import Load, limit_of

FREE = 10**12
PLENTY: dict[str, Any] = {
    **{"due": 5000, "due_hosts": 900, "due_hosts_put_off": 0, "later": 10, "next_due_s": 7200.0},
    **{"threads": 64, "delay_s": 1.0, "free_bytes": FREE, "steps_s": {"fetch": 100.0, "parse": 10.0}},
}


@pytest.mark.parametrize(
    ("facts", "limit"),
    [
        ({}, "The requests under way at once: 64 of [fetch] threads, with 900 hosts that have URLs due."),
        ({"due_hosts": 3}, "The politeness delay: 3 hosts have URLs due, and one request in 1 s"),
        ({"due_hosts": 1, "delay_s": 5.0}, "makes at most 0.2 a second"),
        ({"due_hosts": 9, "due_hosts_put_off": 9}, "The hosts: all 9 that have URLs due are put off"),
        ({"due": 0, "due_hosts": 0}, "Nothing is due: the first URL comes in 2.0 h"),
        ({"due": 0, "due_hosts": 0, "later": 0, "next_due_s": None}, "Nothing is left: inject more seeds"),
        ({"steps_s": {"fetch": 100.0, "parse": 900.0}}, "The step parse: 15.0 min of the last round, fetch 1.7 min"),
        ({"free_bytes": 10**9}, "The disk: 1.0 GB are free"),
        ({"free_bytes": 10**10, "round_bytes": 10**10}, "The disk: 10.0 GB are free"),
        ({"free_bytes": 10**10, "floor_bytes": 10**10, "round_bytes": 1}, "and fetch ends at 10.0 ("),
        ({"budget": 100.0, "refetches_today": 100}, "The budget of refetches: 100 of 100 a day are used"),
        ({"budget": 100.0, "refetches_today": 100, "unfetched": 1}, "The requests under way at once"),
        ({"budget": 100.0, "refetches_today": 99}, "The requests under way at once"),
        ({"bytes_day_max": 10**7, "bytes_today": 10**7}, "The bytes of the day: 10.0 of 10.0 MB are used"),
        ({"bytes_day_max": 10**7, "bytes_today": 10**6}, "The requests under way at once"),
        ({"unfinished": "batchcrawl parse x"}, "A segment that nobody works on: run 'batchcrawl parse x'."),
    ],
)
def test_what_limits_a_crawl_is_told_with_what_to_change(facts: dict[str, Any], limit: str) -> None:
    assert limit in limit_of(Load(**{**PLENTY, **facts}))
