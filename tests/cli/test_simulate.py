"""What `simulate` says of a crawl whose pages change at known rates."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.store.crawldb import CrawlDb

NOON, DAY = 1_790_000_000, 86_400
PAGES = 60


@pytest.fixture(autouse=True)
def _crawl_of_some_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BATCHCRAWL_CLOCK", str(NOON))
    write_job(tmp_path)
    (tmp_path / "seeds").write_text("".join(f"http://host{i % 7}.test/{i}\n" for i in range(PAGES)))
    assert run("inject", "x.toml", "seeds").exit_code == 0


def write_job(folder: Path, recrawl: str = "") -> None:
    text = f'contact = "me@example.org"\n[crawl]\npartitions = 2\n[recrawl]\n{recrawl}'
    (folder / "x.toml").write_text(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def fetch_all(crawl: Path) -> None:
    """Let every page be one that was fetched ten days ago, and changes more often than the one before."""
    for partition in range(2):
        with CrawlDb(crawl / f"data/x/crawldb/{partition}") as db:
            batch = db.batch()
            for number, (fingerprint, _) in enumerate(list(db.records())):
                entry = db.load(fingerprint)
                assert entry is not None
                entry.record.status, entry.record.place = PageStatus.FETCHED, Place.TIMER
                entry.record.last_fetch_at, entry.record.next_fetch_at = NOON - 10 * DAY, NOON
                entry.record.rate_a, entry.record.rate_b = 0.5 + 0.1 * number, 20.0
                batch.put(entry)
            batch.commit()


def simulated(*options: str) -> list[dict[str, Any]]:
    result = run("simulate", "x.toml", "--json", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_more_refetches_a_day_buy_fresher_copies_at_a_lower_price(tmp_path: Path) -> None:
    fetch_all(tmp_path)
    found = simulated("--budget", "4")
    assert [(one["factor"], one["fetches_a_day"]) for one in found] == [(0.5, 2), (1, 4), (2, 8), (4, 16)]
    assert [one["fresh"] for one in found] == sorted(one["fresh"] for one in found)
    assert [one["price"] for one in found] == sorted((one["price"] for one in found), reverse=True)
    assert all(0 < one["fresh_alike"] < one["fresh"] < 1 for one in found)


def test_the_present_budget_is_that_of_the_job(tmp_path: Path) -> None:
    write_job(tmp_path, "budget = 12")
    fetch_all(tmp_path)
    assert [one["fetches_a_day"] for one in simulated()] == [6, 12, 24, 48]


def test_without_a_budget_the_present_one_is_what_the_fixed_price_asks_for(tmp_path: Path) -> None:
    fetch_all(tmp_path)
    rarely = simulated()[1]["fetches_a_day"]
    write_job(tmp_path, 'interval = "3d"')
    assert simulated()[1]["fetches_a_day"] > 2 * rarely > 0


def test_people_get_a_table(tmp_path: Path) -> None:
    fetch_all(tmp_path)
    lines = run("simulate", "x.toml", "--budget", "4").stdout.splitlines()
    assert lines[0] == f"x: {PAGES} pages stored, {PAGES} of them looked at"
    assert [line.split()[:2] for line in lines[2:6]] == [["x0.5", "2.0"], ["x1", "4.0"], ["x2", "8.0"], ["x4", "16.0"]]


def test_a_crawl_without_stored_pages_has_nothing_to_simulate() -> None:
    result = run("simulate", "x.toml")
    assert result.exit_code == 4
    assert result.stderr == "batchcrawl: no page is stored yet, so none can grow old; run a round first\n"


@pytest.mark.parametrize("budget", ["0", "-1", "much"])
def test_a_budget_that_is_no_number_of_refetches_is_refused(budget: str) -> None:
    assert run("simulate", "x.toml", "--budget", budget).exit_code == 2


def test_a_synthetic_population_is_taken_instead_of_pages_that_are_not_there() -> None:
    found = simulated("--synthetic", "web")
    assert [one["fetches_a_day"] for one in found] == [200, 400, 800, 1600]
    assert [one["fresh"] for one in found] == sorted(one["fresh"] for one in found)
    told = run("simulate", "x.toml", "--synthetic", "web").stdout.splitlines()
    assert told[0] == "web: 4,000 pages stored, 4,000 of them looked at"
    assert told[-1] == f"     x4 |{'#' * round(found[-1]['fresh'] * 50):<50}| {found[-1]['fresh']:.1%}"


def test_days_are_played_under_each_policy(tmp_path: Path) -> None:
    fetch_all(tmp_path)
    found = simulated("--budget", "4", "--play", "20")
    assert [(one["factor"], one["fetches_a_day"]) for one in found] == [(0.5, 2), (1, 4), (2, 8), (4, 16)]
    assert found[-1]["fresh"]["value"] > found[0]["fresh"]["value"]
    assert simulated("--budget", "4", "--play", "20") == found
    assert simulated("--budget", "4", "--play", "20", "--seed", "7") != found
    told = run("simulate", "x.toml", "--budget", "4", "--play", "20").stdout.splitlines()
    assert told[0] == "x: 20 days played, 4 rounds a day; fresh by weight under each policy"
    assert told[1].split() == ["budget", "refetches/day", "value", "fixed", "adaptive", "known"]
    assert len(told) == 2 + 4 + 1 + 4
