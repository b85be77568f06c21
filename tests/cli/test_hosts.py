"""What `hosts` and `robots test` say of a crawl whose hosts are known in every way."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.job.crawl import open_crawl
from batchcrawl.job.load import load_job
from batchcrawl.model.host import HostRecord, RobotsCopy
from batchcrawl.model.status import Place
from batchcrawl.store.crawldb import Batch, CrawlDb

NOW = 1_796_040_000
HOUR_S = 3600
RULES = "User-agent: *\nAllow: /\nDisallow: /*utm_\nDisallow: /private/\n"
URL = "http://localhost:9/a?utm_source=x"


@pytest.fixture(autouse=True)
def _born_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CLOCK_VARIABLE, str(NOW))
    seeds = json.dumps([URL, "http://localhost:9/b", "http://localhost:9/c"])
    (tmp_path / "x.toml").write_text(f"seeds = {seeds}\n[crawl]\npartitions = 1\n")
    run("inject", "x.toml")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def change(tmp_path: Path, **facts: object) -> None:
    """Let the crawldb know something of the host."""
    with CrawlDb(open_crawl(load_job("x.toml", cwd=tmp_path)).layout.crawldb(0)) as db:
        batch = db.batch()
        _, host = _only_host(db, batch)
        for name, value in facts.items():
            setattr(host, name, value)
        batch.commit()


def _only_host(db: CrawlDb, batch: Batch) -> tuple[bytes, HostRecord]:
    [(part, _)] = db.hosts()
    host = batch.host(part)
    assert host is not None
    return part, host


def robots(**facts: object) -> RobotsCopy:
    """Return a copy of a robots.txt that was got an hour ago and is good for another."""
    return RobotsCopy(**{"fetched_at": NOW - HOUR_S, "expires_at": NOW + HOUR_S, "status": 200, "text": RULES, **facts})  # type: ignore[arg-type]  # passed on


def test_a_host_is_listed_with_what_is_due_and_what_waits_for_its_time(tmp_path: Path) -> None:
    with CrawlDb(open_crawl(load_job("x.toml", cwd=tmp_path)).layout.crawldb(0)) as db:
        batch = db.batch()
        for (fingerprint, _), at in zip(list(db.records()), (NOW - 60, NOW + 60), strict=False):
            entry = db.load(fingerprint)
            assert entry is not None
            entry.record.place, entry.record.next_fetch_at = Place.TIMER, at
            batch.put(entry)
        batch.commit()
    row = json.loads(run("hosts", "x.toml", "--json").stdout)
    assert (row["known"], row["due"], row["waiting"]) == (3, 2, 1)
    head, line = run("hosts", "x.toml").stdout.splitlines()
    assert head.split()[:4] == ["known", "fetched", "due", "waiting"]
    assert line.split()[:4] == ["3", "0", "2", "1"]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"failures": 2}, "put off: it refused or failed 2 times in a row"),
        (
            {"delay_s": 99.0, "crawl_delay_s": 99.0},
            "put off: its Crawl-delay of 99 s is above the job's delay_max",
        ),
        (
            {"robots": robots(status=500, text=None, unreachable_since=NOW - HOUR_S, detail="it answered 500")},
            "put off: robots.txt cannot be had: it answered 500",
        ),
    ],
)
def test_a_host_that_is_put_off_is_listed_with_the_reason_and_the_instant(
    tmp_path: Path, facts: dict[str, object], why: str
) -> None:
    change(tmp_path, deferred_until=NOW + 600.0, **facts)
    assert run("hosts", "x.toml").stdout.endswith(f"http://localhost:9  {why}, until 2026-11-30T12:10:00Z, in 10 min\n")
    assert json.loads(run("hosts", "x.toml", "--json").stdout)["put_off_until"] == NOW + 600


def test_a_host_that_is_put_off_with_its_domain_is_listed_so(tmp_path: Path) -> None:
    with CrawlDb(open_crawl(load_job("x.toml", cwd=tmp_path)).layout.crawldb(0)) as db:
        batch = db.batch()
        domain = batch.domain(*_only_host(db, batch))
        domain.refusals, domain.deferred_until = 3, NOW + 600.0
        batch.commit()
    line = run("hosts", "x.toml").stdout.splitlines()[-1]
    assert "put off: hosts of localhost answered 429 or 503 3 times in a row, until 2026-11-30T12:10:00Z" in line
    assert "  hosts put off                       1\n" in run("status", "x.toml").stdout


def test_status_states_the_version_of_the_public_suffix_list(tmp_path: Path) -> None:
    assert json.loads(run("status", "x.toml", "--json").stdout)["suffix_list"] >= "2024"
    (tmp_path / "data/x/public_suffix_list.dat").write_text("// VERSION: 2026-01-02_03-04-05_UTC\norg\n")
    assert "public suffix list     2026-01-02_03-04-05_UTC, fixed at birth" in run("status", "x.toml").stdout


def test_robots_test_judges_a_known_url_as_it_was_linked(tmp_path: Path) -> None:
    change(tmp_path, robots=robots())
    for url in (URL, "http://localhost:9/a"):
        result = run("robots", "test", "x.toml", url)
        assert result.exit_code == 1
        assert result.stdout.splitlines() == [
            "not allowed for batchcrawl: line 3: Disallow: /*utm_",
            URL,
            "http://localhost:9/robots.txt, fetched 60 min ago, status 200, good until 2026-11-30T13:00:00Z",
        ]


def test_robots_test_judges_an_unknown_url_as_it_is_given(tmp_path: Path) -> None:
    change(tmp_path, robots=robots())
    assert run("robots", "test", "x.toml", "localhost:9/new#utm_x").stdout.splitlines()[:2] == [
        "allowed for batchcrawl: line 2: Allow: /",
        "http://localhost:9/new",
    ]
    assert "line 4: Disallow: /private/" in run("robots", "test", "x.toml", "localhost:9/private/").stdout


def test_robots_test_says_where_a_redirect_has_led_and_that_the_copy_is_old(tmp_path: Path) -> None:
    copy = robots(url="http://localhost:8/moved.txt", status=404, text=None, expires_at=NOW - 1)
    change(tmp_path, robots=copy)
    result = run("robots", "test", "x.toml", "localhost:9/private/")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "allowed for batchcrawl: there is no robots.txt",
        "http://localhost:9/private/",
        "http://localhost:8/moved.txt, fetched 60 min ago, status 404, to be asked for anew before the next page",
    ]


@pytest.mark.parametrize(("days", "allowed"), [(29, False), (31, True)])
def test_robots_test_knows_for_how_long_a_file_could_not_be_had(tmp_path: Path, days: int, *, allowed: bool) -> None:
    change(
        tmp_path,
        robots=robots(text=None, status=500, unreachable_since=NOW - days * 86_400.0, detail="it answered 500"),
    )
    result = run("robots", "test", "x.toml", "localhost:9/private/")
    assert (result.exit_code == 0) == allowed
    assert "it answered 500" in result.stdout


def test_robots_test_knows_nothing_of_a_host_that_was_not_asked() -> None:
    assert "not known" in run("robots", "test", "x.toml", "http://localhost:8/").stdout
