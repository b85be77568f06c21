"""What rounds teach of a host: how often its pages change, and whether it dates them rightly."""

from email.utils import formatdate
from pathlib import Path

import pytest

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.recrawl import observed_rate
from batchcrawl.policy.schedule import DAY_S, PRIOR
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.rates_mark import read_rates
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.stepping import BORN_AT, Stepping

STEADY, CHANGING, OTHER = "http://host1.test/steady", "http://host1.test/changing", "http://host2.test/"
RECRAWL = '[recrawl]\npolicy = "fixed"\ninterval = "1d"\n'


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)


def page(text: str, *, modified_at: float) -> Scripted:
    modified = formatdate(modified_at, usegmt=True)
    return Scripted(body=f"<title>x</title>{text}".encode(), headers={"Last-Modified": modified})


def learned(crawl: Stepping, url: str) -> HostRecord:
    with CrawlDb(crawl.crawl.layout.crawldb(0)) as db:
        found = db.host(crawl.crawl.fingerprinter().of(url)[:8])
    assert found is not None
    return found


def test_a_host_learns_from_refetches_of_its_pages_and_the_crawl_from_all_hosts(tmp_path: Path) -> None:
    pages = {url: page(url, modified_at=BORN_AT - 9 * DAY_S) for url in (STEADY, CHANGING, OTHER)}
    with scripted_web(pages) as web:
        crawl = Stepping.make(tmp_path, web.port, list(pages), fetch=RECRAWL)
        crawl.round()
        assert learned(crawl, STEADY).rates is None
        for turn in range(1, 3):
            crawl.clock.leap(2 * DAY_S)
            pages[CHANGING] = page(f"version {turn}", modified_at=crawl.clock.at - DAY_S)
            assert len(crawl.round()) == 3
    with CrawlDb(crawl.crawl.layout.crawldb(0)) as db:
        rates = {record.url: observed_rate(record) for _, record in db.records()}
        sums = {url: rate for url, rate in rates.items() if rate is not None}
        whole = read_rates(db)
    of_host = learned(crawl, STEADY).rates
    assert of_host is not None
    assert of_host.pages == 2
    assert of_host.rate_sum == pytest.approx(sums[STEADY] + sums[CHANGING], rel=1e-5)
    assert whole is not None
    assert whole.pages == 3
    assert whole.rate_sum == pytest.approx(sum(sums.values()), rel=1e-5)
    assert sums[STEADY] < PRIOR.rate < sums[CHANGING]
    counts = learned(crawl, STEADY).last_modified
    assert counts is not None
    assert (counts.told_changed, counts.silent_changed, counts.told_same, counts.silent_same) == (2, 0, 0, 2)
