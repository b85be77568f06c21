"""What generate can be asked on the command line, on a crawl that fetches nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.model.status import Place
from batchcrawl.store.crawldb import CrawlDb

NOON = 1_790_000_000
SITES = ["a.one.test", "b.one.test", "c.one.test", "two.test"]


@pytest.fixture(autouse=True)
def _crawl_of_four_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten URLs on each of four hosts, three of them of one domain."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BATCHCRAWL_CLOCK", str(NOON))
    (tmp_path / "x.toml").write_text(
        'contact = "me@example.org"\n[crawl]\npartitions = 2\n[politeness]\ndelay_min = "0s"\n'
    )
    (tmp_path / "seeds").write_text("".join(f"http://{site}/{n}\n" for site in SITES for n in range(10)))
    assert run("inject", "x.toml", "seeds").exit_code == 0


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def generated(*options: str) -> list[str]:
    result = run("generate", "x.toml", "--quiet", *options)
    assert (result.exit_code, result.output) == (0, "")
    lines = run("segment", "x.toml", "newest", "--fetch-list").stdout.splitlines()
    return [json.loads(line)["url"] for line in lines]


def by_host(urls: list[str]) -> dict[str, int]:
    return {site: sum(url.startswith(f"http://{site}/") for url in urls) for site in SITES}


def test_a_host_gives_no_more_than_is_asked() -> None:
    assert set(by_host(generated("--max-per-host", "3")).values()) == {3}


def test_the_hosts_of_a_domain_share_its_limit() -> None:
    taken = by_host(generated("--max-per-domain", "7"))
    assert taken.pop("two.test") == 7
    assert sorted(taken.values()) == [2, 2, 3]


def test_of_a_domain_only_so_many_hosts_are_asked() -> None:
    taken = by_host(generated("--hosts-per-domain", "2"))
    assert sorted(taken.values()) == [0, 10, 10, 10]


def test_limits_go_together() -> None:
    assert len(generated("--top", "5", "--max-per-domain", "4", "--max-per-host", "2")) == 5


def test_several_segments_share_no_url() -> None:
    assert run("generate", "x.toml", "--quiet", "--top", "15", "--segments", "5").exit_code == 0
    rows = [json.loads(line) for line in run("segments", "x.toml", "--json").stdout.splitlines()]
    lists = [run("segment", "x.toml", row["id"], "--fetch-list").stdout.splitlines() for row in rows]
    assert [len(lines) for lines in lists] == [15, 15, 10]
    assert len({json.loads(line)["url"] for lines in lists for line in lines}) == 40


def test_a_dry_run_plans_one_segment() -> None:
    result = run("generate", "x.toml", "--dry-run", "--segments", "2")
    assert (result.exit_code, result.stderr) == (2, "batchcrawl: --dry-run plans one segment; leave out --segments\n")


@pytest.mark.parametrize(
    ("at", "taken"), [("+23h", 39), ("+25h", 40), ("2026-09-23", 40), ("2026-09-22T15:00+02:00", 39)]
)
def test_what_is_due_later_is_taken_when_that_is_asked(tmp_path: Path, at: str, taken: int) -> None:
    delay_one_url(tmp_path, due_at=NOON + 24 * 3600)  # NOON is 2026-09-21T14:13:20Z
    assert len(generated("--at", at)) == taken


def delay_one_url(crawl: Path, *, due_at: int) -> None:
    with CrawlDb(crawl / "data/x/crawldb/1") as db:
        fingerprint, _ = next(db.records())
        entry = db.load(fingerprint)
        assert entry is not None
        entry.record.place, entry.record.next_fetch_at = Place.TIMER, due_at
        batch = db.batch()
        batch.put(entry)
        batch.commit()


@pytest.mark.parametrize("text", ["never", "+1 day", "2026-13-01", "1900-01-01", "9999-01-01", "+", "+99999999d"])
def test_what_is_no_time_is_wrong_usage(text: str) -> None:
    result = run("generate", "x.toml", "--at", text)
    assert (result.exit_code, result.stderr) == (
        2,
        f"batchcrawl: {text!r} is no time; give one as 2026-12-24, 2026-12-24T18:00Z or +7d\n",
    )
