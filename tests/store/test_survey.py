from pathlib import Path

import pytest

from batchcrawl.policy.mix import Mix
from batchcrawl.policy.selection import REACH_MIN, Limits, available
from batchcrawl.store.survey import Survey, survey
from tests.support.crawldbs import filled

LIMITS = Limits(duration_s=1800, delay_min_s=0)


def surveyed(path: Path, sizes: list[int], *, urls_max: int, limits: Limits = LIMITS) -> Survey:
    """Survey hosts that have so many URLs ready each."""
    with filled(
        path / "db", *((host, url, {"level": 3}) for host, size in enumerate(sizes) for url in range(size))
    ) as db:
        return survey(db, limits, Mix(), urls_max=urls_max, now=2e9, turn=0)


def test_of_hosts_with_much_only_what_a_segment_can_use_is_looked_at(tmp_path: Path) -> None:
    found = surveyed(tmp_path, [400] * 5, urls_max=10)
    assert (found.urls, found.longest, found.limits.host_urls_max) == (5 * REACH_MIN, REACH_MIN, REACH_MIN)


def test_the_host_that_has_nearly_all_is_looked_at_deeper(tmp_path: Path) -> None:
    found = surveyed(tmp_path, [700, *[1] * 9], urls_max=600)
    assert available([found.offers]) == {3: 709}


@pytest.mark.parametrize("urls_max", [1, 300, 10_000])
def test_few_urls_are_all_offered(tmp_path: Path, urls_max: int) -> None:
    assert surveyed(tmp_path, [90, 5, 1], urls_max=urls_max).urls == 96


def test_the_limit_of_a_host_holds_besides(tmp_path: Path) -> None:
    limits = Limits(duration_s=1800, delay_min_s=0, host_urls_max=7)
    found = surveyed(tmp_path, [90, 5, 1], urls_max=1000, limits=limits)
    assert (found.urls, found.limits.host_urls_max) == (13, 7)
