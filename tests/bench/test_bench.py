import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.bench.parse_speed import DOCUMENTATION
from tests.bench.spent import run_program
from tests.bench.table import Row, table
from tests.support.nginx import find_nginx

NEEDS_NGINX = pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed")
NEEDS_SCRAPY = pytest.mark.skipif(find_spec("scrapy") is None, reason="Scrapy is not installed")

NEEDS_DOCUMENTATION = pytest.mark.skipif(
    not any(folder.exists() for folder in DOCUMENTATION), reason="no documentation is installed"
)


def _quick(name: str, directory: Path) -> str:
    return run_program([sys.executable, "-m", "tests.bench", "--quick", name], directory=directory).output


@pytest.mark.slow
@NEEDS_NGINX
def test_the_fetch_bench_measures_the_step_beside_a_bare_loop(tmp_path: Path) -> None:
    assert "fetch step, of 2 processes that write the same records" in _quick("fetch", tmp_path)


@pytest.mark.slow
def test_the_latency_bench_measures_rate_and_memory(tmp_path: Path) -> None:
    assert "one process, answers after 100 ms" in _quick("latency", tmp_path)


@pytest.mark.slow
def test_the_polite_bench_measures_the_rate_by_delays_and_beside_silent_hosts(tmp_path: Path) -> None:
    output = _quick("polite", tmp_path)
    assert all(what in output for what in ("40 hosts, a delay of 1 s", "beside a silent tenth"))


@pytest.mark.slow
def test_the_memory_bench_measures_bodies_that_come_at_once(tmp_path: Path) -> None:
    assert "128 bodies of 1 MB at once" in _quick("memory", tmp_path)


@pytest.mark.slow
@NEEDS_DOCUMENTATION
def test_the_parse_bench_measures_pages_and_links(tmp_path: Path) -> None:
    output = _quick("parse", tmp_path)
    assert all(what in output for what in ("lxml and hrefs", "links/s", "two processes"))


@pytest.mark.slow
def test_the_crawldb_bench_compares_filter_and_caches(tmp_path: Path) -> None:
    output = _quick("crawldb", tmp_path)
    assert all(f"{what} in key order" in output for what in ("known URLs", "new URLs"))


@pytest.mark.slow
@NEEDS_SCRAPY
def test_the_round_bench_finds_as_many_pages_as_scrapy(tmp_path: Path) -> None:
    assert "whole rounds, 60 pages on 4 hosts" in _quick("round", tmp_path)


@pytest.mark.slow
def test_the_scale_bench_measures_steps_beside_more_known_urls(tmp_path: Path) -> None:
    output = _quick("scale", tmp_path)
    assert all(f"{step} of 500 at 10,000 known, CPU" in output for step in ("generate", "update"))


@pytest.mark.slow
def test_the_steps_bench_measures_each_step(tmp_path: Path) -> None:
    output = _quick("steps", tmp_path)
    assert all(f"CPU of {step}" in output for step in ("generate", "fetch", "parse", "update"))


@pytest.mark.slow
def test_the_soak_survives_its_kills_and_accounts_for_every_url(tmp_path: Path) -> None:
    output = _quick("soak", tmp_path)
    assert all(what in output for what in ("memory of all processes", "kills in it", "3 kills"))


def test_a_row_that_is_below_what_is_wanted_says_so() -> None:
    row = Row(what="speed", ours=590, unit="pages/s", other=1000, other_name="bare", wanted=0.6)
    assert row.cells() == ("speed", "590 pages/s", "1,000 bare", "0.59", ">= 0.6", "no")


@pytest.mark.parametrize(("ours", "reached"), [(0.7, "yes"), (0.9, "no")])
def test_a_row_of_what_is_spent_is_reached_where_it_is_not_above_what_is_wanted(ours: float, reached: str) -> None:
    row = Row(what="CPU", ours=ours, unit="ms", other=0.8, wanted_most=1.0)
    assert row.cells()[-2:] == ("<= 1", reached)


def test_a_row_without_another_figure_only_informs() -> None:
    assert table([Row(what="memory", ours=61.5, unit="MB")]).splitlines()[2].split() == ["memory", "61.5", "MB"]
