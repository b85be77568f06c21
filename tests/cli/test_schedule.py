"""What `schedule` and `status` tell of refetches, on a crawl that fetches nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.model.budget import BudgetState
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.store.budget_mark import set_budget
from batchcrawl.store.crawldb import CrawlDb

NOON, DAY = 1_790_000_000, 86_400
URL = "http://one.test/"


@pytest.fixture(autouse=True)
def _crawl_of_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BATCHCRAWL_CLOCK", str(NOON))
    write_job(tmp_path)
    (tmp_path / "seeds").write_text(f"{URL}\n")
    assert run("inject", "x.toml", "seeds").exit_code == 0


def write_job(folder: Path, recrawl: str = "") -> None:
    text = f'contact = "me@example.org"\n[crawl]\npartitions = 1\n[recrawl]\n{recrawl}'
    (folder / "x.toml").write_text(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def fetched(crawl: Path, *, budget: BudgetState | None = None, **facts: Any) -> None:
    """Let the page be one that was fetched ten days ago."""
    with CrawlDb(crawl / "data/x/crawldb/0") as db:
        fingerprint, _ = next(db.records())
        entry = db.load(fingerprint)
        assert entry is not None
        facts = {"status": PageStatus.FETCHED, "place": Place.TIMER, "last_fetch_at": NOON - 10 * DAY} | facts
        for name, fact in facts.items():
            setattr(entry.record, name, fact)
        batch = db.batch()
        batch.put(entry)
        if budget is not None:
            set_budget(batch, budget)
        batch.commit()


def scheduled() -> Any:
    result = run("schedule", "x.toml", URL, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def lines() -> dict[str, str]:
    result = run("schedule", "x.toml", URL)
    assert result.exit_code == 0
    return {line[:12].strip(): line[13:] for line in result.stdout.splitlines()}


def test_a_page_that_goes_by_value_is_told_with_belief_weight_and_levels(tmp_path: Path) -> None:
    fetched(tmp_path, rate_a=1.0, rate_b=30.0, fetches=4, changes=1)
    found = scheduled()
    assert (found["a"], found["b"], found["weight"]["weight"], found["weight"]["depth"]) == (1.0, 30.0, 2.0, 2.0)
    ahead = found["value"]["rises"]
    assert [rise["level"] for rise in ahead] == list(range(ahead[0]["level"], ahead[0]["level"] + 4))
    assert [rise["at"] for rise in ahead] == sorted(rise["at"] for rise in ahead)
    assert found["value"]["still_right"] == pytest.approx(0.75)
    told = lines()
    assert told["last fetch"] == "10 days ago; 4 answers, 1 changes"
    assert told["weight"] == "2 = depth 2 x score 1 x inlinks 1 x costly 1 x kind 1 x rule 1"
    assert told["still right"] == "75.0%"


@pytest.mark.parametrize(
    ("facts", "clipped"),
    [({"rate_a": 20.0, "rate_b": 0.01}, "interval_max"), ({"rate_a": 0.5, "rate_b": 5000.0, "score": 64.0}, None)],
)
def test_the_setting_that_clips_an_interval_is_told(tmp_path: Path, facts: Any, clipped: str | None) -> None:
    fetched(tmp_path, **facts)
    assert scheduled()["value"]["clipped"] == clipped


def test_a_page_with_an_interval_of_its_own_goes_by_that(tmp_path: Path) -> None:
    fetched(tmp_path, seed_interval_s=12 * DAY, interval_s=12 * DAY, next_fetch_at=NOON + 2 * DAY)
    assert "value" not in scheduled()
    assert lines()["interval"].startswith("12 days, by instant and not by value")
    assert lines()["due"].startswith("in 2 days")


def test_a_page_that_was_never_fetched_has_no_value() -> None:
    assert "value" not in scheduled()
    assert lines()["due"] == "since 0 s: it has never been fetched"


def test_a_url_that_is_not_known_is_wrong_usage() -> None:
    result = run("schedule", "x.toml", "http://other.test/")
    assert result.exit_code == 2
    assert result.stderr == "batchcrawl: http://other.test/ is not known; 'batchcrawl explain' tells why\n"


BUDGET = BudgetState(budget=500.0, price=2.5, floor=0.625, at=NOON, saved=20.0, day=NOON // DAY, used=40)


def test_status_tells_price_floor_and_what_is_used_of_the_budget(tmp_path: Path) -> None:
    write_job(tmp_path, "budget = 500\n")
    fetched(tmp_path, budget=BUDGET)
    told = run("status", "x.toml").stdout
    assert "price of a refetch                2.5   weighted days; pages worth 0.625 are ready\n" in told
    assert "refetches today                    40   of 500 a day\n" in told
    assert scheduled()["price"] == 2.5


def test_status_estimates_how_fresh_the_copies_are_only_where_that_is_asked(tmp_path: Path) -> None:
    fetched(tmp_path, rate_a=1.0, rate_b=30.0)
    assert "still right" not in run("status", "x.toml").stdout
    told = run("status", "x.toml", "--full").stdout
    assert "still right                     75.0%   of 1 copies; by weight 75.0%\n" in told
    assert json.loads(run("status", "x.toml", "--full", "--json").stdout)["freshness"]["copies"] == 1


def test_status_names_the_hosts_whose_copies_are_stale_with_the_most_weight(tmp_path: Path) -> None:
    fetched(tmp_path, rate_a=1.0, rate_b=30.0)
    (tmp_path / "more").write_text("".join(f"http://h{n}.test/{page}\n" for n in range(12) for page in range(n + 1)))
    assert run("inject", "x.toml", "more").exit_code == 0
    with CrawlDb(tmp_path / "data/x/crawldb/0") as db:
        batch = db.batch()
        for fingerprint, record in list(db.records()):
            entry = db.load(fingerprint)
            if entry is not None and record.url != URL:
                entry.record.status, entry.record.place = PageStatus.FETCHED, Place.TIMER
                entry.record.last_fetch_at = entry.record.next_fetch_at = NOON - DAY
                entry.record.rate_a, entry.record.rate_b = 1.0, 1.0
                batch.put(entry)
        batch.commit()
    worst = json.loads(run("status", "x.toml", "--full", "--json").stdout)["freshness"]["worst"]
    assert [host["host"] for host in worst] == [f"http://h{n}.test" for n in range(11, 1, -1)]
    assert (worst[0]["copies"], worst[0]["weighted"], worst[0]["stale_weight"]) == (12, 0.5, 12.0)
    told = run("status", "x.toml", "--full").stdout
    assert "never fetched                       0\n" in told
    assert "http://h11.test                                 12   50.0%     50.0%         12.0\n" in told


def test_a_page_that_rises_is_ready_and_not_waiting(tmp_path: Path) -> None:
    fetched(tmp_path, place=Place.RISING, level=130, next_fetch_at=NOON + DAY)
    found = json.loads(run("status", "x.toml", "--json").stdout)
    assert (found["ready"], found["timers"], found["out"]) == (1, 0, 0)


def test_generate_takes_no_refetch_once_the_budget_is_used_up_and_says_when_it_does(tmp_path: Path) -> None:
    write_job(tmp_path, "budget = 24\n")
    spent = BudgetState(budget=24.0, price=1e-6, floor=1e-6, at=NOON, saved=0.0, day=NOON // DAY, used=9)
    fetched(tmp_path, budget=spent, next_fetch_at=NOON)
    result = run("generate", "x.toml")
    assert result.exit_code == 4
    assert result.stderr == (
        "batchcrawl: nothing is due; URLs are ready, but the budget of refetches is used up for now: "
        "the next may be taken in 60 min\n"
    )


def test_generate_takes_a_refetch_of_the_budget_and_counts_it(tmp_path: Path) -> None:
    write_job(tmp_path, "budget = 24\n")
    fetched(tmp_path, next_fetch_at=NOON)
    result = run("generate", "x.toml")
    assert result.exit_code == 0
    assert "  refetches              1, worth " in result.stdout
    (manifest,) = (tmp_path / "data/x/segments").glob("*/segment.json")
    budget = json.loads(manifest.read_bytes())["budget"]
    assert (budget["used"], budget["saved"], budget["budget"]) == (1, 23.0, 24.0)


RULES = 'rules = [\n  "weight 4 host other.test",\n  "interval_max 12d weight 0.5 domain one.test",\n]\n'


def test_the_rules_of_the_job_that_decide_for_a_url_are_told(tmp_path: Path) -> None:
    write_job(tmp_path, RULES)
    fetched(tmp_path, rate_a=0.5, rate_b=5000.0)
    found = scheduled()
    assert (found["weight"]["weight"], found["weight"]["rule"]) == (1.0, 0.5)
    assert (found["rules"][0]["number"], found["rules"][0]["decides"]) == (2, ["interval_max", "weight"])
    told = lines()
    assert told["rule 2"] == "interval_max 12d weight 0.5 domain one.test (x.toml:7); decides interval_max, weight"
    assert told["due"] == "in 2 days, by interval_max of rule 2"
