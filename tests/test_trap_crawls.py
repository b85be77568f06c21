"""Crawls into every trap of the synthetic web: each ends within its budget, and the report names the trap."""

import re
from pathlib import Path

import msgspec
import pytest

from batchcrawl.fakeweb.spec import TRAPS, WebSpec
from tests.support.commands import crawl, rows, run, urls, write_job
from tests.support.webserver import serving

AT = 1_796_040_000.0
SEED = "http://h0000.d000.test/"
PAGES = 30
BUDGET = 60
LIMITS = f"""
[traps]
costly_urls_max = {BUDGET}
costly_share = 0
duplicates_min = 10
"""
FOLLOW = """
[parse]
duplicates = "follow"
"""
"""Else a crawl does not go into a trap of copies at all."""
NAMES = {
    "calendar": "calendar",
    "session_paths": "duplicates",
    "repeating_paths": "repeating_path",
    "growing_parameters": "growing_parameter",
    "facets": "facets",
}


def web_of(trap: str) -> WebSpec:
    return WebSpec(hosts=1, pages=PAGES, seed=3, page_bytes=1200, links=8, faults=frozenset({trap}))


@pytest.mark.parametrize("trap", TRAPS)
def test_a_crawl_into_a_trap_ends_within_its_budget_and_names_it(tmp_path: Path, trap: str) -> None:
    with serving(web_of(trap), at=AT) as server:
        write_job(tmp_path, port=server.port, seeds=[SEED], sections=LIMITS + FOLLOW)
        crawl(tmp_path)
    records = urls(tmp_path)
    plain = [record for record in records.values() if not record["costly"]]
    assert sum(record["costly"] for record in records.values()) <= BUDGET
    assert PAGES <= len(plain) <= PAGES + 100
    waiting = [record for record in records.values() if record["costly"] and record["status"] == "unfetched"]
    assert all(record["level"] == 0 for record in waiting)
    told = run(tmp_path, "status").stdout
    assert re.search(rf"^  trap {NAMES[trap]} .* links not taken, on {SEED[:-1]}$", told, re.MULTILINE), told
    assert msgspec.json.decode(run(tmp_path, "status", "--json").stdout)["traps"][NAMES[trap]]["rejected"] > 0
    assert "no fault" in run(tmp_path, "check").stdout


def test_a_job_that_skips_the_links_of_duplicates_leaves_a_trap_of_copies_at_once(tmp_path: Path) -> None:
    with serving(web_of("session_paths"), at=AT) as server:
        write_job(tmp_path, port=server.port, seeds=[SEED], sections="")
        crawl(tmp_path)
    records = urls(tmp_path).values()
    assert 1 <= sum(record["status"] == "duplicate" for record in records) <= 5
    assert PAGES <= len(records) <= PAGES + 5


def test_a_domain_takes_no_more_urls_than_its_budget_and_no_more_hosts(tmp_path: Path) -> None:
    spec = WebSpec(hosts=8, pages=200, seed=3, page_bytes=1200, links=8, faults=frozenset())
    with serving(spec, at=AT) as server:
        sections = '[scope]\nwithin = "any"\ndomain_urls_max = 40\nhost_urls_max = 25\n'
        write_job(tmp_path, port=server.port, seeds=[SEED], sections=sections)
        crawl(tmp_path)
    found = rows(tmp_path)
    domains = {row["domain"]: row for row in found if "domain_part" in row}
    assert {name: row["urls"] for name, row in domains.items()} == {"d000.test": 40, "d001.test": 40}
    assert all(sum(row["urls"].values()) <= 25 for row in found if "host_part" in row)
    assert all(row["rejected"]["domain_budget"] > 0 for row in domains.values())
    assert re.search(r"^  trap domain_budget .* links not taken, on 2 hosts, ", run(tmp_path, "status").stdout, re.M)
